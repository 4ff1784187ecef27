//! The inner loop over the pieces of texts: in how many bits each of a query's differs from the most
//! similar of a text's.
//!
//! Few processors count the bits of bytes, but most look sixteen bytes up at once in a table of
//! sixteen. So there is a table for each half byte of a query's pieces, of how many bits it differs in
//! from any other half byte, and a text's pieces, which stand side by side, are looked up there column
//! by column. No count is above four and leaves half of a byte free: two of a query's pieces share
//! their tables, one in the lower half of each entry and one in the upper half, and one look tells of
//! both. AVX-512 looks up four columns at once, AVX2 two; elsewhere the compiler vectorises plain
//! counting, for which NEON has an instruction.

use crate::side::{Column, SIDE};

/// A query's pieces, laid out to be compared with those of many texts.
pub(crate) struct Asked {
    row_bytes: usize,
    /// One row behind the other.
    bytes: Box<[u8]>,
    #[cfg(target_arch = "x86_64")]
    tables: Vec<Vec<tables::Tables>>,
}

impl Asked {
    /// Takes rows of so many bytes that stand one behind the other.
    pub(crate) fn new(bytes: &[u8], row_bytes: usize) -> Self {
        let whole = bytes.len().checked_div(row_bytes).unwrap_or(0) * row_bytes;
        let bytes = &bytes[..whole];
        Self {
            row_bytes,
            bytes: bytes.into(),
            #[cfg(target_arch = "x86_64")]
            tables: tables::of(bytes, row_bytes),
        }
    }

    /// Of each row, in how many bits it differs from the most similar of a text's, which stand side by
    /// side and are as long. More than 65,535 count as so many.
    pub(crate) fn fewest_differences(&self, text: &[Column]) -> Vec<u32> {
        let mut fewest = self.nothing_found();
        #[cfg(target_arch = "x86_64")]
        {
            if super::has_avx512() {
                // SAFETY: the function needs AVX2, AVX512F and AVX512BW, all just detected.
                unsafe { avx512::lower(self, text, &mut fewest) };
                return fewest;
            }
            if super::has_avx2() {
                // SAFETY: the function needs AVX2, which was just detected.
                unsafe { avx2::lower(self, text, &mut fewest) };
                return fewest;
            }
        }
        lower_portable(self, text, &mut fewest);
        fewest
    }

    fn nothing_found(&self) -> Vec<u32> {
        vec![u32::MAX; self.bytes.len().checked_div(self.row_bytes).unwrap_or(0)]
    }
}

/// Has a text's pieces brought from memory while others are compared.
pub(crate) fn fetch(text: &[Column]) {
    #[cfg(target_arch = "x86_64")]
    for line in text.chunks(LINE / SIDE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it needs SSE, which every such processor has, and but hints at memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = text;
}

/// Bytes that memory is fetched in.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Of one of a query's pieces, in how many bits it differs from each of those side by side. In no
/// order: only the least of them counts.
type Sums = [u16; SIDE];

fn lower_to_least(fewest: &mut u32, sums: &Sums) {
    let least = sums.iter().fold(u16::MAX, |least, sum| least.min(*sum));
    *fewest = (*fewest).min(least.into());
}

/// Lowers each of `fewest` to the number of bits in which its row differs from the most similar of
/// the text's.
fn lower_portable(asked: &Asked, text: &[Column], fewest: &mut [u32]) {
    for (row, fewest) in asked.bytes.chunks_exact(asked.row_bytes.max(1)).zip(fewest) {
        for group in text.chunks_exact(asked.row_bytes) {
            let mut sums = [0_u16; SIDE];
            for (own, others) in row.iter().zip(group) {
                for lane in 0..SIDE {
                    let differing = (own ^ others[lane]).count_ones().to_le_bytes()[0];
                    sums[lane] = sums[lane].saturating_add(differing.into());
                }
            }
            lower_to_least(fewest, &sums);
        }
    }
}

/// What all forms that look counts up have in common.
#[cfg(target_arch = "x86_64")]
mod tables {
    use super::{Asked, Sums, lower_to_least};
    use crate::side::{Column, SIDE};

    /// How many columns are summed up in bytes. At most 24 of them come into one sum, of up to eight
    /// bits each. It is the length of the built-in model's pieces.
    pub(super) const COLUMNS: usize = 48;

    /// How many counts are added before the halves of a byte are parted: they are at most four each,
    /// and no sum may be above fifteen.
    pub(super) const TOGETHER: usize = 3;

    /// How many pairs of a query's pieces are compared before the next: the built-in model cuts few
    /// questions into more pieces.
    const BATCH: usize = 10;

    /// For each half byte, in how many bits two others differ from it: what the lower half of an entry
    /// tells belongs to one piece of a query and what the upper half tells to another.
    type Table = [u8; 16];

    /// The tables of some columns of two pieces. Aligned, for a load takes twice as long if it needs
    /// two lines of the cache.
    #[repr(align(64))]
    pub(super) struct Tables {
        pub(super) lower: [Table; COLUMNS],
        pub(super) upper: [Table; COLUMNS],
    }

    impl Tables {
        /// Takes as many columns of both. What is not there differs from nothing.
        fn new(one: &[u8], other: Option<&[u8]>) -> Self {
            let mut tables = Self { lower: [[0; 16]; COLUMNS], upper: [[0; 16]; COLUMNS] };
            for (column, own) in one.iter().enumerate().take(COLUMNS) {
                let other = other.and_then(|other| other.get(column));
                tables.lower[column] = table(own & 15, other.map(|other| other & 15));
                tables.upper[column] = table(own >> 4, other.map(|other| other >> 4));
            }
            tables
        }
    }

    fn table(one: u8, other: Option<u8>) -> Table {
        let other = other.map_or(0, |other| COUNTS[usize::from(other)]);
        (COUNTS[usize::from(one)] | other << 4).to_le_bytes()
    }

    /// In how many bits two half bytes differ, with a byte of the number for each of the second.
    const COUNTS: [u128; 16] = {
        let mut counts = [0; 16];
        let mut pair = 0;
        while pair < 256_usize {
            let (one, other) = (pair / 16, pair % 16);
            counts[one] |= ((one ^ other).count_ones() as u128) << (8 * other);
            pair += 1;
        }
        counts
    };

    /// First those of all rows' first columns, then those of their next columns, and so on.
    pub(super) fn of(bytes: &[u8], row_bytes: usize) -> Vec<Vec<Tables>> {
        let part = |from: usize| {
            let columns = from..row_bytes.min(from + COLUMNS);
            let pairs = bytes.chunks(2 * row_bytes).map(|pair| pair.split_at(row_bytes));
            pairs
                .map(|(one, other)| Tables::new(&one[columns.clone()], other.get(columns.clone())))
                .collect()
        };
        (0..row_bytes).step_by(COLUMNS).map(part).collect()
    }

    /// Lowers each of `fewest` as `add` tells, which adds what the pairs differ in from a text's
    /// columns to their sums.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it must be compiled into its callers' target features"
    )]
    pub(super) fn lower_by(
        asked: &Asked,
        text: &[Column],
        fewest: &mut [u32],
        add: impl Fn(&[Column; COLUMNS], &[Tables], &mut [[Sums; 2]]),
    ) {
        for (batch, fewest) in fewest.chunks_mut(2 * BATCH).enumerate() {
            for group in text.chunks_exact(asked.row_bytes) {
                let mut sums = [[[0; SIDE]; 2]; BATCH];
                for (columns, tables) in group.chunks(COLUMNS).zip(&asked.tables) {
                    let tables = tables.chunks(BATCH).nth(batch).unwrap_or_default();
                    if let Some(columns) = columns.as_array() {
                        add(columns, tables, &mut sums);
                    } else {
                        let mut filled = [[0; SIDE]; COLUMNS];
                        filled[..columns.len()].copy_from_slice(columns);
                        add(&filled, tables, &mut sums);
                    }
                }
                for (fewest, sums) in fewest.iter_mut().zip(sums.as_flattened()) {
                    lower_to_least(fewest, sums);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::tables::{COLUMNS, TOGETHER, Tables, lower_by};
    use super::{Asked, Sums};
    use crate::side::Column;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi8, _mm512_add_epi16, _mm512_adds_epu16, _mm512_and_si512,
        _mm512_loadu_si512, _mm512_permutex2var_epi64, _mm512_set1_epi8, _mm512_set1_epi16,
        _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_shuffle_i64x2,
        _mm512_slli_epi16, _mm512_srli_epi16, _mm512_storeu_si512, _mm512_sub_epi8,
    };

    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    pub(super) fn lower(asked: &Asked, text: &[Column], fewest: &mut [u32]) {
        lower_by(asked, text, fewest, |columns, tables, sums| add(columns, tables, sums));
    }

    /// The text's columns are the same for all pairs: the compiler keeps them in registers.
    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    fn add(columns: &[Column; COLUMNS], pairs: &[Tables], sums: &mut [[Sums; 2]]) {
        for (tables, sums) in pairs.iter().zip(sums) {
            let differing = differing(columns, tables);
            // SAFETY: there are two times sixteen values of 2 bytes, which is what is loaded and what
            // is stored; neither needs alignment.
            unsafe {
                let before = _mm512_loadu_si512(sums.as_ptr().cast());
                let after = _mm512_adds_epu16(before, differing);
                _mm512_storeu_si512(sums.as_mut_ptr().cast(), after);
            }
        }
    }

    /// First what one piece of the pair differs in from each of the text's, then the other one.
    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    fn differing(columns: &[Column; COLUMNS], tables: &Tables) -> __m512i {
        let half = _mm512_set1_epi8(15);
        let (mut all, mut other) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        let columns = columns.as_chunks::<4>().0.as_chunks::<TOGETHER>().0;
        let lower = tables.lower.as_chunks::<4>().0.as_chunks::<TOGETHER>().0;
        let upper = tables.upper.as_chunks::<4>().0.as_chunks::<TOGETHER>().0;
        for (columns, (lower, upper)) in columns.iter().zip(lower.iter().zip(upper)) {
            let (mut in_lower, mut in_upper) = (_mm512_setzero_si512(), _mm512_setzero_si512());
            for (columns, (lower, upper)) in columns.iter().zip(lower.iter().zip(upper)) {
                let columns = load(columns);
                let (low, high) = (columns, _mm512_srli_epi16::<4>(columns));
                let low = _mm512_shuffle_epi8(load(lower), _mm512_and_si512(low, half));
                let high = _mm512_shuffle_epi8(load(upper), _mm512_and_si512(high, half));
                in_lower = _mm512_add_epi8(in_lower, low);
                in_upper = _mm512_add_epi8(in_upper, high);
            }
            for both in [in_lower, in_upper] {
                let others = _mm512_and_si512(_mm512_srli_epi16::<4>(both), half);
                other = _mm512_add_epi8(other, others);
                all = _mm512_add_epi8(all, both);
            }
        }
        // The sums of both overflow, but what is left without the other's is below 256 and thus right.
        let others = _mm512_and_si512(_mm512_slli_epi16::<4>(other), _mm512_set1_epi8(-16));
        across(_mm512_sub_epi8(all, others), other)
    }

    /// Adds the four quarters of `one` and of `other`, whose bytes become words: first those of even
    /// places, then those of odd ones.
    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    fn across(one: __m512i, other: __m512i) -> __m512i {
        let low = _mm512_shuffle_i64x2::<0b01_00_01_00>(one, other);
        let high = _mm512_shuffle_i64x2::<0b11_10_11_10>(one, other);
        let bytes = _mm512_add_epi8(low, high);
        let even = _mm512_and_si512(bytes, _mm512_set1_epi16(255));
        let odd = _mm512_srli_epi16::<8>(bytes);
        let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        _mm512_add_epi16(
            _mm512_permutex2var_epi64(even, first, odd),
            _mm512_permutex2var_epi64(even, second, odd),
        )
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw")]
    fn load(four: &[[u8; 16]; 4]) -> __m512i {
        // SAFETY: there are four times sixteen bytes, which is what is loaded; it needs no alignment.
        unsafe { _mm512_loadu_si512(four.as_ptr().cast()) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::tables::{COLUMNS, TOGETHER, Tables, lower_by};
    use super::{Asked, Sums};
    use crate::side::Column;
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_add_epi16, _mm256_adds_epu16, _mm256_and_si256,
        _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_srli_epi16,
        _mm256_storeu_si256, _mm256_sub_epi8,
    };

    #[target_feature(enable = "avx2")]
    pub(super) fn lower(asked: &Asked, text: &[Column], fewest: &mut [u32]) {
        lower_by(asked, text, fewest, |columns, tables, sums| add(columns, tables, sums));
    }

    #[target_feature(enable = "avx2")]
    fn add(columns: &[Column; COLUMNS], pairs: &[Tables], sums: &mut [[Sums; 2]]) {
        for (tables, sums) in pairs.iter().zip(sums) {
            for (sums, differing) in sums.iter_mut().zip(differing(columns, tables)) {
                // SAFETY: there are sixteen values of 2 bytes, which is what is loaded and what is
                // stored; neither needs alignment.
                unsafe {
                    let before = _mm256_loadu_si256(sums.as_ptr().cast());
                    let after = _mm256_adds_epu16(before, differing);
                    _mm256_storeu_si256(sums.as_mut_ptr().cast(), after);
                }
            }
        }
    }

    /// What each piece of the pair differs in from each of the text's.
    #[target_feature(enable = "avx2")]
    fn differing(columns: &[Column; COLUMNS], tables: &Tables) -> [__m256i; 2] {
        let half = _mm256_set1_epi8(15);
        let (mut all, mut other) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let columns = columns.as_chunks::<2>().0.as_chunks::<TOGETHER>().0;
        let lower = tables.lower.as_chunks::<2>().0.as_chunks::<TOGETHER>().0;
        let upper = tables.upper.as_chunks::<2>().0.as_chunks::<TOGETHER>().0;
        for (columns, (lower, upper)) in columns.iter().zip(lower.iter().zip(upper)) {
            let (mut in_lower, mut in_upper) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            for (columns, (lower, upper)) in columns.iter().zip(lower.iter().zip(upper)) {
                let columns = load(columns);
                let (low, high) = (columns, _mm256_srli_epi16::<4>(columns));
                let low = _mm256_shuffle_epi8(load(lower), _mm256_and_si256(low, half));
                let high = _mm256_shuffle_epi8(load(upper), _mm256_and_si256(high, half));
                in_lower = _mm256_add_epi8(in_lower, low);
                in_upper = _mm256_add_epi8(in_upper, high);
            }
            for both in [in_lower, in_upper] {
                let others = _mm256_and_si256(_mm256_srli_epi16::<4>(both), half);
                other = _mm256_add_epi8(other, others);
                all = _mm256_add_epi8(all, both);
            }
        }
        // The sums of both overflow, but what is left without the other's is below 256 and thus right.
        let others = _mm256_and_si256(_mm256_slli_epi16::<4>(other), _mm256_set1_epi8(-16));
        [across(_mm256_sub_epi8(all, others)), across(other)]
    }

    /// Adds the two halves, whose bytes become words: first those of even places, then those of odd
    /// ones.
    #[target_feature(enable = "avx2")]
    fn across(bytes: __m256i) -> __m256i {
        let even = _mm256_and_si256(bytes, _mm256_set1_epi16(255));
        let odd = _mm256_srli_epi16::<8>(bytes);
        _mm256_add_epi16(
            _mm256_permute2x128_si256::<0x20>(even, odd),
            _mm256_permute2x128_si256::<0x31>(even, odd),
        )
    }

    #[target_feature(enable = "avx2")]
    fn load(two: &[[u8; 16]; 2]) -> __m256i {
        // SAFETY: there are two times sixteen bytes, which is what is loaded; it needs no alignment.
        unsafe { _mm256_loadu_si256(two.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side;
    use crate::synthetic::Noise;
    use proptest::prelude::*;

    /// What each form finds that this processor has.
    fn found_by_all(asked: &Asked, text: &[Column]) -> Vec<Vec<u32>> {
        let mut found = vec![asked.fewest_differences(text), asked.nothing_found()];
        lower_portable(asked, text, &mut found[1]);
        #[cfg(target_arch = "x86_64")]
        {
            if super::super::has_avx512() {
                let mut fewest = asked.nothing_found();
                // SAFETY: what it needs was just detected.
                unsafe { avx512::lower(asked, text, &mut fewest) };
                found.push(fewest);
            }
            if super::super::has_avx2() {
                let mut fewest = asked.nothing_found();
                // SAFETY: what it needs was just detected.
                unsafe { avx2::lower(asked, text, &mut fewest) };
                found.push(fewest);
            }
        }
        found
    }

    fn counted(query: &[u8], text: &[u8], row_bytes: usize) -> Vec<u32> {
        let differing = |one: &[u8], other: &[u8]| -> u32 {
            one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
        };
        let rows = query.chunks(row_bytes);
        rows.map(|row| text.chunks(row_bytes).map(|other| differing(row, other)).min().unwrap())
            .collect()
    }

    fn check(query: &[u8], text: &[u8], row_bytes: usize) {
        let (plain, beside) = (counted(query, text, row_bytes), side::from_rows(text, row_bytes));
        for found in found_by_all(&Asked::new(query, row_bytes), &beside) {
            assert_eq!(found, plain, "{row_bytes} bytes");
        }
    }

    proptest! {
        #[test]
        fn all_forms_equal_counting(
            words in 1_usize..14,
            asked in 0_usize..48,
            rows in 1_usize..50,
            seed: u64,
        ) {
            let mut noise = Noise(seed);
            let mut bytes = |len| -> Vec<u8> {
                std::iter::repeat_with(|| noise.next().to_le_bytes()).flatten().take(len).collect()
            };
            let row_bytes = words * 8;
            check(&bytes(asked * row_bytes), &bytes(rows * row_bytes), row_bytes);
        }
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        for bits in [64, 384, 448, 768, 4_096, 65_536, 131_072] {
            let row_bytes = bits / 8;
            let beside = side::from_rows(&vec![0; 3 * row_bytes], row_bytes);
            let query = [vec![255; row_bytes], vec![0; row_bytes], vec![255; row_bytes]].concat();
            let most = u32::try_from(bits.min(65_535)).unwrap();
            for found in found_by_all(&Asked::new(&query, row_bytes), &beside) {
                assert_eq!(found, [most, 0, most], "{bits} bits");
            }
        }
    }

    #[test]
    fn what_is_no_whole_row_is_not_asked_for() {
        let beside = side::from_rows(&[0; 16], 16);
        assert_eq!(Asked::new(&[255; 33], 16).fewest_differences(&beside), [128, 128]);
        assert!(Asked::new(&[255; 3], 16).fewest_differences(&beside).is_empty());
        assert!(Asked::new(&[255; 3], 0).fewest_differences(&beside).is_empty());
        assert_eq!(Asked::new(&[255; 16], 16).fewest_differences(&[]), [u32::MAX]);
    }
}
