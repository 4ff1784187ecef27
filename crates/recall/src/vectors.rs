//! The vectors of all documents, quantised: int8 codes, and one-bit codes once there are many.
//!
//! A row lies at its document's slot. Only directions are compared, so of a code's scale nothing
//! is kept; each row has the factor that brings its values to length one.

use crate::bits;
use crate::code::Code;
use crate::signs::Signs;

#[derive(Debug)]
pub(crate) struct Vectors {
    dimensions: usize,
    codes: Vec<i8>,
    /// 1 / length of the row's code; 0 for a row that is absent or has no direction.
    factors: Vec<f32>,
    present: Vec<u64>,
    count: usize,
    signs: Option<Signs>,
}

/// One-bit codes pay off when more rows than this pass a filter; below they are not kept.
pub(crate) const SIGNS_FROM: usize = 4_000;

/// A mean needs no more rows than this.
const SAMPLE: usize = 65_536;

impl Vectors {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            codes: Vec::new(),
            factors: Vec::new(),
            present: Vec::new(),
            count: 0,
            signs: None,
        }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn codes(&self) -> &[i8] {
        &self.codes
    }

    pub(crate) fn factors(&self) -> &[f32] {
        &self.factors
    }

    pub(crate) fn present(&self) -> &[u64] {
        &self.present
    }

    /// Writes a row. The code must have this index's dimensions.
    pub(crate) fn put(&mut self, slot: u32, code: Code<'_>) {
        let row = slot as usize;
        self.reach(row + 1);
        let target = &mut self.codes[row * self.dimensions..(row + 1) * self.dimensions];
        target.iter_mut().zip(code.values()).for_each(|(target, value)| *target = value);
        let square: i32 = target.iter().map(|&v| i32::from(v) * i32::from(v)).sum();
        self.factors[row] = inverse_length(square);
        self.count += usize::from(bits::set(&mut self.present, slot));
        self.derive(row);
    }

    /// Forgets the row of a slot, if it has one.
    pub(crate) fn clear(&mut self, slot: u32) {
        if bits::clear(&mut self.present, slot) {
            self.count -= 1;
            self.factors[slot as usize] = 0.0;
        }
    }

    /// Moves a row from the last slot to one that is vacant, and drops the last slot.
    pub(crate) fn move_last(&mut self, last: u32, to: u32) {
        if bits::get(&self.present, last) && last != to {
            self.reach(to as usize + 1);
            let (from, dims) = (last as usize, self.dimensions);
            self.codes.copy_within(from * dims..(from + 1) * dims, to as usize * dims);
            self.factors[to as usize] = self.factors[from];
            self.count += usize::from(bits::set(&mut self.present, to));
            self.derive(to as usize);
        }
        self.clear(last);
        let len = last as usize;
        if self.factors.len() > len {
            self.codes.truncate(len * self.dimensions);
            self.factors.truncate(len);
            bits::truncate(&mut self.present, len);
            if let Some(signs) = &mut self.signs {
                signs.truncate(len);
            }
        }
    }

    /// The one-bit codes, where they are kept.
    pub(crate) fn signs(&self) -> Option<&Signs> {
        self.signs.as_ref()
    }

    /// Takes the mean anew if the set has doubled or been rewritten since it was taken, or if it
    /// has only now become worth having.
    pub(crate) fn refresh(&mut self) {
        let due = match &self.signs {
            Some(signs) => signs.is_stale(),
            None => self.count > SIGNS_FROM,
        };
        if due {
            self.rebuild_signs();
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let signs = self.signs.as_ref().map_or(0, Signs::bytes);
        self.codes.capacity() + self.factors.capacity() * 4 + self.present.capacity() * 8 + signs
    }

    /// Makes room for rows; those skipped are absent.
    fn reach(&mut self, rows: usize) {
        if rows <= self.factors.len() {
            return;
        }
        // Growing by an eighth: doubling would hold as much again in reserve.
        if rows > self.factors.capacity() {
            let more = rows - self.factors.len() + rows / 8 + 8;
            self.factors.reserve_exact(more);
            self.codes.reserve_exact(more * self.dimensions);
        }
        self.factors.resize(rows, 0.0);
        self.codes.resize(rows * self.dimensions, 0);
    }

    fn derive(&mut self, row: usize) {
        let Some(signs) = &mut self.signs else { return };
        let code = &self.codes[row * self.dimensions..(row + 1) * self.dimensions];
        signs.put(row, code, self.factors[row]);
    }

    fn rebuild_signs(&mut self) {
        self.signs = Some(Signs::new(self.mean(), self.count));
        for row in 0..self.factors.len() {
            self.derive(row);
        }
        if let Some(signs) = &mut self.signs {
            signs.settle();
        }
    }

    /// The mean of evenly spaced rows, each at length one.
    fn mean(&self) -> Vec<f32> {
        let mut sums = vec![0.0_f64; self.dimensions];
        let mut taken = 0.0;
        let step = self.factors.len().div_ceil(SAMPLE).max(1);
        let rows = self.codes.chunks_exact(self.dimensions).zip(&self.factors);
        for (row, &factor) in rows.step_by(step).filter(|(_, factor)| **factor > 0.0) {
            taken += 1.0;
            for (sum, &value) in sums.iter_mut().zip(row) {
                *sum += f64::from(value) * f64::from(factor);
            }
        }
        sums.into_iter().map(|sum| narrow(sum / f64::max(taken, 1.0))).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a factor needs no more than an f32 holds")]
fn inverse_length(square: i32) -> f32 {
    if square > 0 { 1.0 / (square as f32).sqrt() } else { 0.0 }
}

#[expect(clippy::cast_possible_truncation, reason = "a mean needs no more than an f32 holds")]
fn narrow(value: f64) -> f32 {
    value as f32
}
