//! Linear layers in small integers: a quarter of the memory, and several times as many products
//! per instruction.
//!
//! The weights become integers of eight bits once, at loading, with a scale for each column; the
//! activations become integers of eight bits on the way, with a range for each row. Sums are
//! exact, and the result is floating point again, with its bias. What is not a linear layer
//! (attention, softmax, norms) stays in floating point and is not to be found here.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for its instructions"
)]

mod kernel;
mod reference;
#[cfg(test)]
mod tests;

use pulp::{Arch, Simd, WithSimd};

pub(crate) use self::kernel::Kernel;
use self::kernel::{PANELS, Task};

/// The largest activation.
const CODE_MAX: u8 = u8::MAX;

/// The largest weight.
const WEIGHT_MAX: f32 = 127.0;

/// The columns of a packed panel.
const PANEL: usize = 16;

/// So many steps are added up in 16 bits before they are widened, where there is no instruction
/// that does both. The more, the faster, and the coarser the weights have to be.
const GROUP: usize = 2;

/// What positive weights, or negative ones, of one sum in 16 bits may add up to.
const SUM_MAX: i32 = i16::MAX as i32 / CODE_MAX as i32;

/// Four activations of a row, which one instruction multiplies with four weights of each column.
type Step = [u8; 4];

/// The activations of one row are `low + code × width`.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: f32,
    width: f32,
}

/// What turns the sums of one panel into numbers.
#[derive(Debug, Clone, Copy, Default)]
struct Constants {
    scales: [f32; PANEL],
    /// The sum of each column's weights, for the lower end of a row's range.
    totals: [f32; PANEL],
    bias: [f32; PANEL],
}

/// A weight of `depth` × `columns` with its bias. Panels of 16 columns follow each other; within
/// a panel, steps of four depths, and within a step the columns. What fills up the last is zero.
///
/// No scale is so fine that the weights of one group could overflow 16 bits with the
/// largest activations: this is what makes all kernels equal.
pub(crate) struct Weight {
    panels: Vec<[i8; PANEL * 4]>,
    constants: Vec<Constants>,
    steps: usize,
    depth: usize,
}

impl Weight {
    /// Takes a weight as linear layers have it: a row of `depth` numbers for each column.
    pub(crate) fn from_transposed(weight: &[f32], depth: usize, bias: &[f32]) -> Self {
        let steps = depth.div_ceil(4).next_multiple_of(GROUP);
        let panels_total = bias.len().div_ceil(PANEL).next_multiple_of(PANELS);
        let mut panels = vec![[0; PANEL * 4]; panels_total * steps];
        let mut constants = vec![Constants::default(); panels_total];
        for (column, (weights, &bias)) in weight.chunks_exact(depth).zip(bias).enumerate() {
            let (codes, scale) = quantise_column(weights);
            let (panel, lane) = (column / PANEL, column % PANEL);
            let constants = &mut constants[panel];
            let total: i32 = codes.iter().copied().map(i32::from).sum();
            constants.scales[lane] = scale;
            constants.totals[lane] = scale * total as f32;
            constants.bias[lane] = bias;
            for (slots, four) in panels[panel * steps..].iter_mut().zip(codes.chunks(4)) {
                slots[lane * 4..][..four.len()].copy_from_slice(four);
            }
        }
        Self { panels, constants, steps, depth }
    }

    /// The number of columns including those that fill up the last panels.
    fn padded_columns(&self) -> usize {
        self.constants.len() * PANEL
    }
}

/// The finest scale at which the column can be written and no group of it overflows.
fn quantise_column(weights: &[f32]) -> (Vec<i8>, f32) {
    let largest = weights.iter().fold(0.0_f32, |largest, w| largest.max(w.abs()));
    let mut scale = largest / WEIGHT_MAX;
    if !scale.is_normal() {
        return (vec![0; weights.len()], 0.0);
    }
    loop {
        let per_scale = scale.recip();
        let codes: Vec<_> = weights.iter().map(|w| nearest(w * per_scale).cast_signed()).collect();
        let sum = largest_sum(&codes);
        if sum <= SUM_MAX {
            return (codes, scale);
        }
        // One more, since rounding may keep the sum where it was.
        scale *= (sum + 1) as f32 / SUM_MAX as f32;
    }
}

/// The most that the positive or the negative weights of one sum in 16 bits add up to. Such a
/// sum takes the first or the second half of each step of a group.
fn largest_sum(codes: &[i8]) -> i32 {
    let mut largest = 0;
    for group in codes.chunks(4 * GROUP) {
        let mut sums = [[0; 2]; 2];
        for (place, &code) in group.iter().enumerate() {
            let half = place % 4 / 2;
            sums[half][usize::from(code < 0)] += i32::from(code).abs();
        }
        largest = sums.into_iter().flatten().fold(largest, i32::max);
    }
    largest
}

/// The left side of a product: the rows as small integers, in memory that is kept.
#[derive(Default)]
pub(crate) struct Codes {
    codes: Vec<Step>,
    rows: Vec<Range>,
}

impl Codes {
    /// Takes rows that are to be multiplied with this weight.
    pub(crate) fn fill(&mut self, arch: Arch, left: &[f32], right: &Weight) {
        self.rows.clear();
        self.codes.resize(left.len() / right.depth.max(1) * right.steps, Step::default());
        arch.dispatch(Fill { left, right, into: self });
    }
}

struct Fill<'a> {
    left: &'a [f32],
    right: &'a Weight,
    into: &'a mut Codes,
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, right, into } = self;
        let codes = into.codes.chunks_exact_mut(right.steps);
        for (row, codes) in left.chunks_exact(right.depth).zip(codes) {
            let (low, high) = ends(simd, row);
            let width = (high - low) / f32::from(CODE_MAX);
            let per_width = if width > 0.0 { width.recip() } else { 0.0 };
            let codes = codes.as_flattened_mut();
            for (code, x) in codes.iter_mut().zip(row) {
                *code = nearest((x - low) * per_width);
            }
            codes[right.depth..].fill(0);
            into.rows.push(Range { low, width });
        }
    }
}

/// The least and the greatest number of a row.
#[inline(always)]
fn ends<S: Simd>(simd: S, row: &[f32]) -> (f32, f32) {
    let (vectors, rest) = S::as_simd_f32s(row);
    let first = (simd.splat_f32s(f32::INFINITY), simd.splat_f32s(f32::NEG_INFINITY));
    let (low, high) = vectors
        .iter()
        .fold(first, |(low, high), &v| (simd.min_f32s(low, v), simd.max_f32s(high, v)));
    let first = (simd.reduce_min_f32s(low), simd.reduce_max_f32s(high));
    rest.iter().fold(first, |(low, high), &x| (low.min(x), high.max(x)))
}

/// Rounds a number from 0 to 255, or from −127 to 127: then it is the two's complement.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low eight bits are the integer")]
fn nearest(x: f32) -> u8 {
    /// Adding this leaves the rounded integer in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    (x + ROUND).to_bits() as u8
}

/// `out = left · right + bias`, row by row.
pub(crate) struct Product<'a> {
    pub(crate) left: &'a Codes,
    pub(crate) right: &'a Weight,
    /// Rows that are `out_stride` apart, each with room for whole panels.
    pub(crate) out: &'a mut [f32],
    pub(crate) out_stride: usize,
}

impl<'a> Product<'a> {
    pub(crate) fn run(self, kernel: Kernel) {
        kernel.run(self.task());
    }

    fn task(self) -> Task<'a> {
        let (Codes { codes, rows }, right) = (self.left, self.right);
        assert_eq!(codes.len(), rows.len() * right.steps, "both sides have the same depth");
        Task {
            codes,
            steps: right.steps,
            rows,
            panels: &right.panels,
            constants: &right.constants,
            out: self.out,
            out_stride: self.out_stride,
        }
    }
}

/// One row of sums as numbers. No fused multiply-add, so that it is the same everywhere.
#[inline(always)]
fn dequantise(sums: &[i32; PANEL], range: &Range, constants: &Constants, out: &mut [f32]) {
    let Constants { scales, totals, bias } = constants;
    for (lane, out) in out[..PANEL].iter_mut().enumerate() {
        let product = sums[lane] as f32 * range.width * scales[lane];
        *out = product + (range.low * totals[lane] + bias[lane]);
    }
}
