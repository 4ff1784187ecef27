//! How far rows of signs lean towards a query, 64 rows at a time.
//!
//! Where a row has the sign that the query has, the query's magnitude counts for it. What four signs
//! together count is looked up in a table of 16 small numbers, which fits a register: one instruction
//! looks up as many rows as the register has bytes. So rows stand side by side, and no sum is ever taken
//! across a register.
//!
//! Only the first columns are looked at: most rows are out of question by these.

use crate::bits;

/// Rows in a block.
pub(crate) const BLOCK: usize = 64;
/// Bits in a column, which is a byte of each row of a block.
const BITS: usize = 8;
/// The most that both tables of a column may add, so that a byte holds it.
const COLUMN_MAX: usize = 254;
/// The most that all columns may add, so that two bytes hold it.
const SUM_MAX: usize = u16::MAX as usize;

/// What four signs count for a row, for each of their 16 combinations.
type Table = [u8; 16];

/// How many columns are kept of rows of so many signs: two thirds, by which a row that is near is among a
/// few times as many as are wanted.
pub(crate) fn columns_for(signs: usize) -> usize {
    (2 * signs.div_ceil(BITS)).div_ceil(3)
}

/// Where the byte of a row stands in a column. A sum takes two bytes, so of two neighbours one is summed
/// up apart; that way those of the first half of the rows end up together, in order, and the others.
fn place(row: usize) -> usize {
    2 * (row % (BLOCK / 2)) + row / (BLOCK / 2)
}

/// Writes a row's bytes into its block.
pub(crate) fn put(block: &mut [u8], row: usize, bytes: &[u8]) {
    for (column, byte) in block.as_chunks_mut::<BLOCK>().0.iter_mut().zip(bytes) {
        column[place(row)] = *byte;
    }
}

/// A query as rows of signs are compared with it.
pub(crate) struct Leaning {
    /// Of each column, those of its lower four bits and of its upper four.
    tables: Vec<[Table; 2]>,
}

impl Leaning {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "numbers are scaled to what a byte holds"
    )]
    pub(crate) fn new(query: &[f32]) -> Self {
        let columns = columns_for(query.len());
        let query = &query[..query.len().min(columns * BITS)];
        let of_four = |four: &[f32]| four.iter().map(|value| value.abs()).sum::<f32>();
        let greatest = query.chunks(BITS / 2).map(of_four).fold(f32::MIN_POSITIVE, f32::max);
        let table_max = (SUM_MAX / columns.max(1)).min(COLUMN_MAX) / 2;
        let scale = table_max as f32 / greatest;
        let table = |four: &[f32]| {
            std::array::from_fn(|signs| {
                let agrees = |place: usize, value: f32| (signs >> place & 1 == 1) == (value > 0.0);
                let four = four.iter().enumerate();
                let agreeing = four.filter(|(place, value)| agrees(*place, **value));
                (agreeing.map(|(_, value)| value.abs()).sum::<f32>() * scale) as u8
            })
        };
        let halves = |eight: &[f32]| {
            let (lower, upper) = eight.split_at(eight.len().min(BITS / 2));
            [table(lower), table(upper)]
        };
        Self { tables: query.chunks(BITS).map(halves).collect() }
    }

    /// Adds (sum, slot) of the rows whose bit is set in the mask and whose sum is at least so great.
    /// `blocks` starts at slot `first`, and each has a word of the mask.
    pub(crate) fn scan(
        &self,
        at_least: u16,
        blocks: &[u8],
        mask: &[u64],
        first: u32,
        out: &mut Vec<(u16, u32)>,
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            if super::has_avx512() {
                // SAFETY: the function needs AVX512F and AVX512BW, and both were just detected.
                return unsafe { avx512::scan(self, at_least, blocks, mask, first, out) };
            }
            if super::has_avx2() {
                // SAFETY: the function needs AVX2, which was just detected.
                return unsafe { avx2::scan(self, at_least, blocks, mask, first, out) };
            }
        }
        self.scan_portable(at_least, blocks, mask, first, out);
    }

    fn scan_portable(
        &self,
        at_least: u16,
        blocks: &[u8],
        mask: &[u64],
        first: u32,
        out: &mut Vec<(u16, u32)>,
    ) {
        self.each_block(blocks, mask, first, out, |block, sums| {
            *sums = [0; BLOCK];
            for ([lower, upper], column) in self.tables.iter().zip(block) {
                for (row, sum) in sums.iter_mut().enumerate() {
                    let byte = usize::from(column[place(row)]);
                    *sum += u16::from(lower[byte & 15]) + u16::from(upper[byte >> 4]);
                }
            }
            sums.iter().rev().fold(0, |near, sum| near << 1 | u64::from(*sum >= at_least))
        });
    }

    /// `sum_up` writes the sums of a block's rows, and tells by a bit each which are great enough.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it must be compiled into its callers' target features"
    )]
    fn each_block(
        &self,
        blocks: &[u8],
        mask: &[u64],
        first: u32,
        out: &mut Vec<(u16, u32)>,
        sum_up: impl Fn(&[[u8; BLOCK]], &mut [u16; BLOCK]) -> u64,
    ) {
        let columns = blocks.as_chunks::<BLOCK>().0;
        let blocks = columns.chunks_exact(self.tables.len().max(1));
        let mut sums = [0; BLOCK];
        for ((block, &mask), first) in blocks.zip(mask).zip((first..).step_by(BLOCK)) {
            if mask != 0 {
                let near = sum_up(block, &mut sums) & mask;
                out.extend(bits::positions(near).map(|row| (sums[row as usize], first + row)));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Leaning};
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_cmpeq_epi16, _mm256_loadu_si256, _mm256_max_epu16,
        _mm256_movemask_epi8, _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi8,
        _mm256_set1_epi16, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16,
        _mm256_srli_epi16, _mm256_storeu_si256, _mm256_sub_epi16,
    };

    #[target_feature(enable = "avx2")]
    pub(super) fn scan(
        leaning: &Leaning,
        at_least: u16,
        blocks: &[u8],
        mask: &[u64],
        first: u32,
        out: &mut Vec<(u16, u32)>,
    ) {
        leaning.each_block(blocks, mask, first, out, |block, sums| {
            sum_up(leaning, at_least, block, sums)
        });
    }

    #[target_feature(enable = "avx2")]
    fn sum_up(
        leaning: &Leaning,
        at_least: u16,
        block: &[[u8; BLOCK]],
        sums: &mut [u16; BLOCK],
    ) -> u64 {
        let [one, two] = [half(leaning, block, 0), half(leaning, block, 1)];
        // Of the first half of the rows, then of the second.
        let places = sums.as_chunks_mut::<16>().0.iter_mut();
        for (place, sums) in places.zip([one[0], two[0], one[1], two[1]]) {
            // SAFETY: there is room for 16 values of 2 bytes; the store needs no alignment.
            unsafe { _mm256_storeu_si256(place.as_mut_ptr().cast(), sums) };
        }
        let limit = _mm256_set1_epi16(at_least.cast_signed());
        let near = |sums| _mm256_cmpeq_epi16(_mm256_max_epu16(sums, limit), sums);
        let both = |one, two| {
            // Packing goes by halves of a register, so the quarters are put in order behind it.
            let packed = _mm256_packs_epi16(near(one), near(two));
            _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed)).cast_unsigned()
        };
        u64::from(both(one[0], two[0])) | u64::from(both(one[1], two[1])) << 32
    }

    /// Sums of the rows in one half of each column: of the bytes at even places, and at odd ones.
    #[target_feature(enable = "avx2")]
    fn half(leaning: &Leaning, block: &[[u8; BLOCK]], half: usize) -> [__m256i; 2] {
        let four_bits = _mm256_set1_epi8(15);
        let (mut all, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for ([lower, upper], column) in leaning.tables.iter().zip(block) {
            let rows = &column.as_chunks::<32>().0[half];
            // SAFETY: 32 bytes of the rows and 16 of each table are loaded, which is what there is; the
            // loads need no alignment.
            let (rows, lower, upper) = unsafe {
                (
                    _mm256_loadu_si256(rows.as_ptr().cast()),
                    _mm_loadu_si128(lower.as_ptr().cast()),
                    _mm_loadu_si128(upper.as_ptr().cast()),
                )
            };
            let low = _mm256_and_si256(rows, four_bits);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(rows), four_bits);
            let low = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(lower), low);
            let high = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(upper), high);
            let sums = _mm256_add_epi8(low, high);
            all = _mm256_add_epi16(all, sums);
            odd = _mm256_add_epi16(odd, _mm256_srli_epi16::<8>(sums));
        }
        // In `all` stand 256 times those at odd places besides, whatever overflowed.
        [_mm256_sub_epi16(all, _mm256_slli_epi16::<8>(odd)), odd]
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BLOCK, Leaning};
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm512_add_epi8, _mm512_add_epi16, _mm512_and_si512,
        _mm512_broadcast_i32x4, _mm512_cmpge_epu16_mask, _mm512_loadu_si512, _mm512_set1_epi8,
        _mm512_set1_epi16, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_slli_epi16,
        _mm512_srli_epi16, _mm512_storeu_si512, _mm512_sub_epi16,
    };

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn scan(
        leaning: &Leaning,
        at_least: u16,
        blocks: &[u8],
        mask: &[u64],
        first: u32,
        out: &mut Vec<(u16, u32)>,
    ) {
        leaning.each_block(blocks, mask, first, out, |block, sums| {
            sum_up(leaning, at_least, block, sums)
        });
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn sum_up(
        leaning: &Leaning,
        at_least: u16,
        block: &[[u8; BLOCK]],
        sums: &mut [u16; BLOCK],
    ) -> u64 {
        let four_bits = _mm512_set1_epi8(15);
        let (mut all, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for ([lower, upper], column) in leaning.tables.iter().zip(block) {
            // SAFETY: 64 bytes of the column and 16 of each table are loaded, which is what there is; the
            // loads need no alignment.
            let (rows, lower, upper) = unsafe {
                (
                    _mm512_loadu_si512(column.as_ptr().cast()),
                    _mm_loadu_si128(lower.as_ptr().cast()),
                    _mm_loadu_si128(upper.as_ptr().cast()),
                )
            };
            let low = _mm512_and_si512(rows, four_bits);
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(rows), four_bits);
            let low = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(lower), low);
            let high = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(upper), high);
            let sums = _mm512_add_epi8(low, high);
            all = _mm512_add_epi16(all, sums);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(sums));
        }
        // In `all` stand 256 times those at odd places besides, whatever overflowed.
        let even = _mm512_sub_epi16(all, _mm512_slli_epi16::<8>(odd));
        for (place, sums) in sums.as_chunks_mut::<32>().0.iter_mut().zip([even, odd]) {
            // SAFETY: there is room for 32 values of 2 bytes; the store needs no alignment.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), sums) };
        }
        let limit = _mm512_set1_epi16(at_least.cast_signed());
        let near = |sums| u64::from(_mm512_cmpge_epu16_mask(sums, limit));
        near(even) | near(odd) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{floats, noise};
    use super::*;
    use proptest::prelude::*;

    type Scan = unsafe fn(&Leaning, u16, &[u8], &[u64], u32, &mut Vec<(u16, u32)>);

    /// What the bytes of a row count.
    fn counted(tables: &[[Table; 2]], row: &[u8]) -> u16 {
        let both = |([lower, upper], byte): (&[Table; 2], &u8)| {
            let byte = usize::from(*byte);
            u16::from(lower[byte & 15]) + u16::from(upper[byte >> 4])
        };
        tables.iter().zip(row).map(both).sum()
    }

    /// Every form that this processor can run.
    fn forms() -> Vec<Scan> {
        let mut forms: Vec<Scan> = vec![Leaning::scan, Leaning::scan_portable];
        #[cfg(target_arch = "x86_64")]
        {
            if super::super::has_avx2() {
                forms.push(avx2::scan);
            }
            if super::super::has_avx512() {
                forms.push(avx512::scan);
            }
        }
        forms
    }

    proptest! {
        #[test]
        fn all_forms_equal_adding_up(dims in 1_usize..1_000, place in 0..2 * BLOCK, seed: u64) {
            let (query, columns) = (floats(dims, seed), columns_for(dims));
            let leaning = Leaning::new(&query);
            let rows: Vec<Vec<u8>> = (0..2 * BLOCK as u64)
                .map(|row| noise(columns, seed ^ row).map(|it| it.to_le_bytes()[4]).collect())
                .collect();
            let mut blocks = vec![0; 2 * columns * BLOCK];
            for (row, bytes) in rows.iter().enumerate() {
                let block = &mut blocks[row / BLOCK * columns * BLOCK..][..columns * BLOCK];
                put(block, row % BLOCK, bytes);
            }
            let mask: Vec<u64> = noise(2, seed ^ 4).collect();
            let sums: Vec<u16> = rows.iter().map(|row| counted(&leaning.tables, row)).collect();
            let at_least = sums[place];
            let plain: Vec<_> = sums.into_iter().zip(640..)
                .filter(|(sum, slot)| *sum >= at_least && bits::get(&mask, slot - 640))
                .collect();
            for scan in forms() {
                let mut found = Vec::new();
                // SAFETY: only forms that the processor can run are listed.
                unsafe { scan(&leaning, at_least, &blocks, &mask, 640, &mut found) };
                prop_assert_eq!(&found, &plain);
            }
        }

        #[test]
        fn sums_tell_how_far_rows_lean(seed: u64) {
            let query = floats(384, seed);
            let leaning = Leaning::new(&query);
            let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, is| byte << 1 | u8::from(*is));
            let sum = |signs: &[bool]| {
                let bytes: Vec<u8> = signs.chunks(8).map(byte).collect();
                f32::from(counted(&leaning.tables, &bytes))
            };
            let query = &query[..8 * leaning.tables.len()];
            let signs: Vec<bool> = noise(query.len(), seed ^ 8).map(|it| it % 2 == 0).collect();
            let own: Vec<bool> = query.iter().map(|value| *value > 0.0).collect();
            let agreeing = query.iter().zip(own.iter().zip(&signs)).filter(|(_, (own, it))| own == it);
            let agreeing: f32 = agreeing.map(|(value, _)| value.abs()).sum();
            let share = agreeing / query.iter().map(|value| value.abs()).sum::<f32>();
            prop_assert!((sum(&signs) / sum(&own) - share).abs() < 0.02);
        }
    }

    #[test]
    fn the_most_dimensions_do_not_overflow() {
        let leaning = Leaning::new(&[1.0; crate::code::DIMENSIONS_MAX]);
        let columns = columns_for(crate::code::DIMENSIONS_MAX);
        for scan in forms() {
            let mut found = Vec::new();
            // SAFETY: only forms that the processor can run are listed.
            unsafe { scan(&leaning, 0, &vec![u8::MAX; columns * BLOCK], &[1], 0, &mut found) };
            let most: u32 = leaning.tables.iter().flatten().map(|table| u32::from(table[15])).sum();
            assert_eq!((u32::from(found[0].0), found.len()), (most, 1));
        }
        assert!(Leaning::new(&[]).tables.is_empty());
    }
}
