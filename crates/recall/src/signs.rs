//! One-bit codes of vectors: of each dimension, whether the vector exceeds the mean of all.
//!
//! They thin many rows to a shortlist in an eighth of the memory traffic of the int8 codes, and in
//! less: of every row only the first two thirds of the bits are read, and the others of those rows
//! alone that the first bring near. What that loses of the true neighbours is a few in a thousand,
//! where four times as many are brought near as are wanted (docs/adr/0010).

use crate::bits;
use crate::kernels::{self, Hamming};

/// How many times as many rows as are wanted the first bits leave for the others.
const NEAR: usize = 4;
/// About how many rows are looked at to guess how far away those are that are left.
const SAMPLE: usize = 4_096;
/// Rows per call of a kernel; a multiple of 64.
const BATCH: usize = 1_024;

/// Bits of different means cannot be compared, so whenever the mean is renewed all rows are derived
/// anew; there is only ever one version of it.
#[derive(Debug)]
pub(crate) struct Signs {
    mean: Vec<f32>,
    /// The first words of every row, and the others.
    first: Rows,
    rest: Rows,
    /// Rows written since the mean was taken, and how many there were then.
    changes: usize,
    base: usize,
}

/// A distance in bits, and a slot.
type Near = (u32, u32);

impl Signs {
    /// No rows yet, of so many as the mean was taken of.
    pub(crate) fn new(mean: Vec<f32>, base: usize) -> Self {
        let words = bits::words_for(mean.len());
        let first = (2 * words).div_ceil(3);
        Self { mean, first: Rows::new(first), rest: Rows::new(words - first), changes: 0, base }
    }

    /// Derives a row from its int8 code. Rows that are skipped have no bits.
    pub(crate) fn put(&mut self, row: usize, code: &[i8], factor: f32) {
        let mut words = vec![0; self.first.words + self.rest.words];
        kernels::signs(code, factor, &self.mean, &mut words);
        let (first, rest) = words.split_at(self.first.words);
        self.first.put(row, first);
        self.rest.put(row, rest);
        self.changes += 1;
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        self.first.truncate(rows);
        self.rest.truncate(rows);
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
        self.first.bytes() + self.rest.bytes()
    }

    /// About so many slots of the mask, those nearest to a query of length one, ascending.
    pub(crate) fn shortlist(&self, query: &[f32], mask: &[u64], wanted: usize) -> Vec<u32> {
        let mut code = vec![0; self.first.words + self.rest.words];
        for (index, (value, mean)) in query.iter().zip(&self.mean).enumerate() {
            code[index / 64] |= u64::from(value > mean) << (index % 64);
        }
        let (first, rest) = code.split_at(self.first.words);
        let near = wanted.saturating_mul(NEAR);
        let guess = self.guess(first, mask, near);
        let mut found = self.scan(Hamming { query: first, limit: guess }, mask, near);
        if found.len() < wanted && guess < u32::MAX {
            found = self.scan(Hamming { query: first, limit: u32::MAX }, mask, near);
        }
        kernels::add_distances(rest, &self.rest.all, &mut found);
        cut(&mut found, wanted);
        let mut slots: Vec<u32> = found.into_iter().map(|(_, slot)| slot).collect();
        // In the order of memory, which the processor can run ahead of.
        slots.sort_unstable();
        slots
    }

    /// Below which distance so many are to be expected, judging by some rows from everywhere.
    fn guess(&self, query: &[u64], mask: &[u64], near: usize) -> u32 {
        let step = (mask.len() * 64).div_ceil(SAMPLE).max(1);
        let search = Hamming { query, limit: u32::MAX };
        let mut sample: Vec<Near> = Vec::with_capacity(SAMPLE + 64);
        for (place, word) in mask.iter().enumerate().step_by(step) {
            search.scan(self.first.from(64 * place, 64), &[*word], 0, &mut sample);
        }
        let all = bits::count(mask);
        let share = near.saturating_mul(sample.len()).checked_div(all).unwrap_or(0);
        if share + 1 >= sample.len() {
            return u32::MAX;
        }
        let (_, (limit, _), _) = sample.select_nth_unstable(share);
        *limit + 1
    }

    /// Those of the mask that are nearer than the limit; where there are too many, about so many of
    /// the nearest.
    fn scan(&self, mut search: Hamming<'_>, mask: &[u64], near: usize) -> Vec<Near> {
        let mut found: Vec<Near> = Vec::with_capacity(2 * near + BATCH);
        for (first, mask) in (0..).step_by(BATCH).zip(mask.chunks(BATCH / 64)) {
            let rows = self.first.from(first as usize, BATCH);
            search.scan(rows, mask, first, &mut found);
            if found.len() >= near.saturating_mul(2) {
                // Equal distances later on lose: which of them stay is arbitrary but fixed.
                search.limit = cut(&mut found, near);
            }
        }
        found
    }
}

/// Leaves the nearest, and says how far away the last of them is.
fn cut(found: &mut Vec<Near>, wanted: usize) -> u32 {
    if wanted == 0 || found.len() <= wanted {
        return u32::MAX;
    }
    let (_, &mut (limit, _), _) = found.select_nth_unstable(wanted - 1);
    found.truncate(wanted);
    limit
}

/// Rows of so many words each, one behind the other.
#[derive(Debug)]
struct Rows {
    words: usize,
    all: Vec<u64>,
}

impl Rows {
    fn new(words: usize) -> Self {
        Self { words, all: Vec::new() }
    }

    fn put(&mut self, row: usize, values: &[u64]) {
        let end = (row + 1) * self.words;
        if self.all.len() < end {
            if self.all.capacity() < end {
                // Growing by an eighth: doubling would hold as much again in reserve.
                self.all.reserve_exact(end + end / 8 - self.all.len());
            }
            self.all.resize(end, 0);
        }
        self.all[end - self.words..end].copy_from_slice(values);
    }

    /// So many rows from one on, as far as there are any.
    fn from(&self, row: usize, count: usize) -> &[u64] {
        let end = ((row + count) * self.words).min(self.all.len());
        self.all.get(row * self.words..end).unwrap_or_default()
    }

    fn truncate(&mut self, rows: usize) {
        self.all.truncate(rows * self.words);
    }

    fn bytes(&self) -> usize {
        self.all.capacity() * 8
    }
}
