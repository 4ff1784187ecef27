//! Rows of bits that stand side by side: of eight rows first the first word of each, then the second
//! word of each, and so on. Eight words are what a wide register holds, so that the rows are compared
//! with another one all at once and no sum has to be taken across a register.

use std::iter;

/// How many rows stand side by side.
pub(crate) const SIDE: usize = 8;

/// How many words so many rows take, of so many words each; the last block is as long as others.
fn words_for(rows: usize, row_words: usize) -> usize {
    rows.div_ceil(SIDE) * SIDE * row_words
}

/// Writes one row, for which there must be room.
fn put(words: &mut [u64], row: usize, values: &[u64]) {
    let first = row / SIDE * SIDE * values.len() + row % SIDE;
    for (place, value) in words[first..].iter_mut().step_by(SIDE).zip(values) {
        *place = *value;
    }
}

/// Puts rows of so many words that stand one behind the other side by side. The last one fills the
/// last block up: who looks for the nearest finds no other for that.
pub(crate) fn from_rows(rows: &[u64], row_words: usize) -> Box<[u64]> {
    let count = rows.len().checked_div(row_words).unwrap_or(0);
    let mut words = vec![0; words_for(count, row_words)];
    let last = rows.chunks_exact(row_words.max(1)).next_back().unwrap_or_default();
    let filled = rows.chunks_exact(row_words.max(1)).chain(iter::repeat(last));
    for (row, values) in filled.take(count.next_multiple_of(SIDE)).enumerate() {
        put(&mut words, row, values);
    }
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_side_by_side_and_the_last_fills_up() {
        let rows: Vec<u64> = (0..9).flat_map(|row| [10 * row, 10 * row + 1]).collect();
        let words = from_rows(&rows, 2);
        assert_eq!(words.len(), words_for(9, 2));
        assert_eq!(words[..8], [0, 10, 20, 30, 40, 50, 60, 70]);
        assert_eq!(words[8..16], [1, 11, 21, 31, 41, 51, 61, 71]);
        assert_eq!(words[16..], [[80; 8], [81; 8]].concat());
        assert!(from_rows(&[], 2).is_empty() && from_rows(&[1], 0).is_empty());
    }
}
