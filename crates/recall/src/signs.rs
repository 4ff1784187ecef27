//! One-bit codes of vectors: of each dimension, whether the vector exceeds the mean of all.
//!
//! They thin many rows to a shortlist in a twelfth of the memory traffic of the int8 codes. The query
//! keeps its magnitudes: a row leans towards it by those of the dimensions in which both have the same
//! sign, which tells more of the true neighbours than counting such dimensions. Of every row only the
//! first two thirds of the bits are kept: what the others would sort out costs less by its int8 code
//! (docs/adr/0010).

use crate::bits;
use crate::kernels::{self, BLOCK, Leaning};

/// About how many rows are looked at to guess how far those lean that are left.
const SAMPLE: usize = 2_048;

/// Bits of different means cannot be compared, so whenever the mean is renewed all rows are derived
/// anew; there is only ever one version of it.
#[derive(Debug)]
pub(crate) struct Signs {
    mean: Vec<f32>,
    /// How many bytes of a row are kept.
    columns: usize,
    /// In blocks of rows that stand side by side.
    blocks: Vec<u8>,
    /// Rows written since the mean was taken, and how many there were then.
    changes: usize,
    base: usize,
}

/// How far a row leans towards the query, and its slot.
type Near = (u16, u32);

impl Signs {
    /// No rows yet, of so many as the mean was taken of.
    pub(crate) fn new(mean: Vec<f32>, base: usize) -> Self {
        let columns = kernels::columns_for(mean.len());
        Self { mean, columns, blocks: Vec::new(), changes: 0, base }
    }

    /// Derives a row from its int8 code. Rows that are skipped have no bits.
    pub(crate) fn put(&mut self, row: usize, code: &[i8], factor: f32) {
        let mut words = vec![0; bits::words_for(self.mean.len())];
        kernels::signs(code, factor, &self.mean, &mut words);
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let (block, size) = (row / BLOCK, self.block_size());
        let place = room(&mut self.blocks, block * size, size);
        kernels::put_signs(place, row % BLOCK, &bytes[..self.columns]);
        self.changes += 1;
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        self.blocks.truncate(rows.div_ceil(BLOCK) * self.block_size());
    }

    /// Takes what is there by now for what the mean was taken of.
    pub(crate) fn settle(&mut self) {
        self.changes = 0;
    }

    /// Whether as much was written since the mean was taken as there was then.
    pub(crate) fn is_stale(&self) -> bool {
        self.changes >= self.base
    }

    pub(crate) fn bytes(&self) -> usize {
        self.blocks.capacity()
    }

    /// About so many slots of the mask, those nearest to a query, in the order of memory, which the
    /// processor can run ahead of.
    pub(crate) fn shortlist(&self, query: &[f32], mask: &[u64], wanted: usize) -> Vec<u32> {
        let leaning = Leaning::new(query);
        let guess = self.guess(&leaning, mask, wanted);
        let mut found = Vec::with_capacity(2 * wanted);
        leaning.scan(guess, &self.blocks, mask, 0, &mut found);
        if 2 * found.len() < wanted && guess > 0 {
            found.clear();
            leaning.scan(0, &self.blocks, mask, 0, &mut found);
        }
        if found.len() > 2 * wanted {
            found.select_nth_unstable_by(wanted, |a, b| b.cmp(a));
            found.truncate(wanted);
            found.sort_unstable_by_key(|(_, slot)| *slot);
        }
        found.into_iter().map(|(_, slot)| slot).collect()
    }

    /// How far about so many lean at least, judging by some rows from everywhere.
    fn guess(&self, leaning: &Leaning, mask: &[u64], wanted: usize) -> u16 {
        let step = (mask.len() * BLOCK).div_ceil(SAMPLE).max(1);
        let mut sample: Vec<Near> = Vec::with_capacity(SAMPLE + BLOCK);
        for (place, word) in mask.iter().enumerate().step_by(step) {
            let block = self.blocks.chunks(self.block_size()).nth(place).unwrap_or_default();
            leaning.scan(0, block, &[*word], 0, &mut sample);
        }
        let place = wanted.saturating_mul(sample.len()).checked_div(bits::count(mask)).unwrap_or(0);
        if place >= sample.len() {
            return 0;
        }
        let (_, (guess, _), _) = sample.select_nth_unstable_by(place, |a, b| b.cmp(a));
        *guess
    }

    fn block_size(&self) -> usize {
        self.columns * BLOCK
    }
}

/// So many bytes from one on, which are there afterwards.
fn room(bytes: &mut Vec<u8>, from: usize, count: usize) -> &mut [u8] {
    let end = from + count;
    if bytes.len() < end {
        if bytes.capacity() < end {
            // Growing by an eighth: doubling would hold as much again in reserve.
            bytes.reserve_exact(end + end / 8 - bytes.len());
        }
        bytes.resize(end, 0);
    }
    &mut bytes[from..end]
}
