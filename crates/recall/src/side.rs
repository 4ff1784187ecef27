//! Rows of bytes that stand side by side: of sixteen rows first the first byte of each, then the
//! second byte of each, and so on. Sixteen bytes are what a processor looks up in a table at once, so
//! that the rows are compared with another one all at once and sums are taken across a register only
//! at the end.

/// How many rows stand side by side.
pub(crate) const SIDE: usize = 16;

/// A byte of each of the rows that stand side by side.
pub(crate) type Column = [u8; SIDE];

/// Bytes of a row that are put in place at once. Rows consist of whole words.
const WORD: usize = 8;

/// Puts rows of so many bytes that stand one behind the other side by side. The last one fills the
/// last group up: who looks for the nearest finds no other for that.
pub(crate) fn from_rows(rows: &[u8], row_bytes: usize) -> Box<[Column]> {
    let row_words = row_bytes / WORD;
    let rows: &[[u8; WORD]] = rows.as_chunks().0;
    let Some(last) = rows.len().checked_div(row_words).and_then(|count| count.checked_sub(1))
    else {
        return Box::default();
    };
    let mut columns = vec![[0; SIDE]; (last / SIDE + 1) * row_words * WORD];
    for (group, columns) in columns.chunks_exact_mut(row_words * WORD).enumerate() {
        for (word, columns) in columns.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
            for half in 0..SIDE / WORD {
                let first = group * SIDE + half * WORD;
                let eight: [u64; WORD] = std::array::from_fn(|row| {
                    u64::from_le_bytes(rows[(first + row).min(last) * row_words + word])
                });
                for (column, bytes) in columns.iter_mut().zip(transposed(eight)) {
                    column.as_chunks_mut().0[half] = bytes.to_le_bytes();
                }
            }
        }
    }
    columns.into()
}

/// Of eight words of eight bytes the first bytes, the second bytes, and so on: what stands on the
/// wrong side of the diagonal changes places, first bytes, then pairs and fours of them.
fn transposed(mut words: [u64; WORD]) -> [u64; WORD] {
    change_places::<1>(&mut words, 0x00ff_00ff_00ff_00ff);
    change_places::<2>(&mut words, 0x0000_ffff_0000_ffff);
    change_places::<4>(&mut words, 0x0000_0000_ffff_ffff);
    words
}

/// Of words that stand so far apart, what is in the mask of the second with as many bytes behind that
/// of the first.
#[inline]
fn change_places<const APART: usize>(words: &mut [u64; WORD], mask: u64) {
    for one in 0..WORD {
        if one & APART == 0 {
            let changing = (words[one] >> (8 * APART) ^ words[one + APART]) & mask;
            words[one + APART] ^= changing;
            words[one] ^= changing << (8 * APART);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_side_by_side_and_the_last_fills_up() {
        for (rows, words) in [(1, 1), (8, 1), (16, 2), (17, 6), (40, 3)] {
            let row_bytes = words * WORD;
            let mut noise = crate::synthetic::Noise(9);
            let bytes: Vec<[u8; WORD]> =
                (0..rows * words).map(|_| noise.next().to_le_bytes()).collect();
            let bytes = bytes.as_flattened();
            let columns = from_rows(bytes, row_bytes);
            assert_eq!(columns.len(), rows.div_ceil(SIDE) * row_bytes);
            for (place, column) in columns.iter().enumerate() {
                for (lane, byte) in column.iter().enumerate() {
                    let row = (place / row_bytes * SIDE + lane).min(rows - 1);
                    assert_eq!(*byte, bytes[row * row_bytes + place % row_bytes]);
                }
            }
        }
        assert!(from_rows(&[], 8).is_empty() && from_rows(&[1; 8], 0).is_empty());
    }
}
