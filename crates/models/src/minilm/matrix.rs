//! Matrix products for the forward pass, in safe Rust over `pulp`.
//!
//! A general product repacks its right side on every call. Here the right side is a weight
//! that never changes, so it is packed once, when the model is loaded, and a short query is
//! spared a second walk over 42 MB. That is why the product is our own: for the model's
//! shapes it keeps up with the `gemm` crate, and it needs no `unsafe`. `benches/embed.rs` compares the two.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for its instructions"
)]

use std::array;

use pulp::{Arch, Simd, WithSimd};

/// How many rows of the left side one block of registers covers: six rows of two vectors take
/// 12 of AVX2's 16 registers, the rest hold the operands.
const ROWS: usize = 6;

/// The depth of one pass over a panel, so that the panel (two vectors wide) stays in the L1 cache.
const DEPTH: usize = 192;

/// The rows that are multiplied with all panels before the next rows, so that they stay in the
/// L2 cache.
const ROWS_IN_CACHE: usize = 96;

/// The width of a packed panel for this processor: two vectors.
pub(crate) fn panel_width(arch: Arch) -> usize {
    struct Width;
    impl WithSimd for Width {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            2 * S::F32_LANES
        }
    }
    arch.dispatch(Width)
}

/// A right side of `depth` × `columns`, cut into panels of a few columns; within a panel the
/// rows follow each other. The last panel is filled up with zeros.
#[derive(Default)]
pub(crate) struct Packed {
    data: Vec<f32>,
    width: usize,
    depth: usize,
    columns: usize,
}

impl Packed {
    /// Packs the transpose of a weight stored as `columns` rows of `depth` numbers, as linear
    /// layers are.
    pub(crate) fn from_transposed(arch: Arch, weight: &[f32], depth: usize) -> Self {
        let mut packed = Self::default();
        let columns = weight.len() / depth;
        packed.repack_transposed(panel_width(arch), weight, depth, columns, depth);
        packed
    }

    /// Like [`Self::from_transposed`], for rows that are `stride` apart, into memory that is
    /// already there.
    pub(crate) fn repack_transposed(
        &mut self,
        width: usize,
        source: &[f32],
        stride: usize,
        columns: usize,
        depth: usize,
    ) {
        self.reshape(width, depth, columns);
        for (column, row) in source.chunks(stride).take(columns).enumerate() {
            let start = (column / width) * width * depth + column % width;
            let slots = self.data.iter_mut().skip(start).step_by(width);
            for (slot, &value) in slots.zip(&row[..depth]) {
                *slot = value;
            }
        }
    }

    /// Packs `depth` rows of `columns` numbers that are `stride` apart.
    pub(crate) fn repack(
        &mut self,
        width: usize,
        source: &[f32],
        stride: usize,
        columns: usize,
        depth: usize,
    ) {
        self.reshape(width, depth, columns);
        for (panel, slots) in self.data.chunks_exact_mut(width * depth).enumerate() {
            let first = panel * width;
            let used = width.min(columns - first);
            for (slot, row) in slots.chunks_exact_mut(width).zip(source.chunks(stride)) {
                slot[..used].copy_from_slice(&row[first..first + used]);
            }
        }
    }

    /// The number of columns including those that fill up the last panel.
    pub(crate) fn padded_columns(&self) -> usize {
        self.columns.next_multiple_of(self.width)
    }

    fn reshape(&mut self, width: usize, depth: usize, columns: usize) {
        self.width = width;
        self.depth = depth;
        self.columns = columns;
        let len = self.padded_columns() * depth;
        self.data.clear();
        self.data.resize(len, 0.0);
    }
}

/// `out = left · right + bias`, row by row.
pub(crate) struct Product<'a> {
    /// `rows` rows, `left_stride` apart, of which the first `right.depth` numbers count.
    pub(crate) left: &'a [f32],
    pub(crate) left_stride: usize,
    pub(crate) rows: usize,
    pub(crate) right: &'a Packed,
    /// One number for each column; nothing where it is empty.
    pub(crate) bias: &'a [f32],
    /// Rows that are `out_stride` apart, each with room for `right.padded_columns()`.
    pub(crate) out: &'a mut [f32],
    pub(crate) out_stride: usize,
}

impl Product<'_> {
    pub(crate) fn run(self, arch: Arch) {
        arch.dispatch(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, left_stride, rows, right, bias, out, out_stride } = self;
        let width = 2 * S::F32_LANES;
        assert_eq!(right.width, width, "packed for another processor");
        let blocks_total = rows.div_ceil(ROWS_IN_CACHE).max(1);
        let rows_at_once = rows.div_ceil(blocks_total).next_multiple_of(ROWS);
        for first in (0..rows).step_by(rows_at_once) {
            let rows = rows_at_once.min(rows - first);
            for start in (0..right.depth).step_by(DEPTH) {
                let depth = DEPTH.min(right.depth - start);
                for (panel, data) in right.data.chunks_exact(width * right.depth).enumerate() {
                    let column = panel * width;
                    let mut block = Block {
                        left: &left[first * left_stride + start..],
                        left_stride,
                        panel: &data[start * width..(start + depth) * width],
                        begin: if start > 0 {
                            Begin::Out
                        } else if bias.is_empty() {
                            Begin::Zero
                        } else {
                            Begin::Bias(&bias[column..column + width])
                        },
                        out: &mut out[first * out_stride + column..],
                        out_stride,
                    };
                    block.run(simd, rows);
                }
            }
        }
    }
}

/// What the sums start from.
#[derive(Clone, Copy)]
enum Begin<'a> {
    Zero,
    Bias(&'a [f32]),
    /// The part over earlier depths, which is in the result already.
    Out,
}

/// One panel against the rows that are in the cache.
struct Block<'a> {
    left: &'a [f32],
    left_stride: usize,
    panel: &'a [f32],
    begin: Begin<'a>,
    out: &'a mut [f32],
    out_stride: usize,
}

impl Block<'_> {
    /// Cuts the rows into nearly equal groups, so that no group is left with one or two rows
    /// that would leave the processor waiting.
    #[inline(always)]
    fn run<S: Simd>(&mut self, simd: S, rows: usize) {
        let mut groups = rows.div_ceil(ROWS);
        let mut row = 0;
        while groups > 0 {
            let count = (rows - row).div_ceil(groups);
            match count {
                1 => self.group::<S, 1>(simd, row),
                2 => self.group::<S, 2>(simd, row),
                3 => self.group::<S, 3>(simd, row),
                4 => self.group::<S, 4>(simd, row),
                5 => self.group::<S, 5>(simd, row),
                _ => self.group::<S, ROWS>(simd, row),
            }
            row += count;
            groups -= 1;
        }
    }

    #[inline(always)]
    fn group<S: Simd, const N: usize>(&mut self, simd: S, row: usize) {
        let width = 2 * S::F32_LANES;
        let panel = pulp::as_arrays::<2, _>(S::as_simd_f32s(self.panel).0).0;
        let depth = panel.len();
        let left: [&[f32]; N] =
            array::from_fn(|i| &self.left[(row + i) * self.left_stride..][..depth]);

        let mut sums = [[simd.splat_f32s(0.0); 2]; N];
        match self.begin {
            Begin::Zero => {}
            Begin::Bias(bias) => sums = [pair::<S>(bias); N],
            Begin::Out => {
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = pair::<S>(&self.out[(row + i) * self.out_stride..][..width]);
                }
            }
        }
        for (p, &[b0, b1]) in panel.iter().enumerate() {
            for i in 0..N {
                let a = simd.splat_f32s(left[i][p]);
                sums[i][0] = simd.mul_add_e_f32s(a, b0, sums[i][0]);
                sums[i][1] = simd.mul_add_e_f32s(a, b1, sums[i][1]);
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            let out = &mut self.out[(row + i) * self.out_stride..][..width];
            S::as_mut_simd_f32s(out).0.copy_from_slice(sum);
        }
    }
}

#[inline(always)]
fn pair<S: Simd>(numbers: &[f32]) -> [S::f32s; 2] {
    let vectors = S::as_simd_f32s(numbers).0;
    [vectors[0], vectors[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(u16::try_from(state >> 16).unwrap()) / 65_536.0 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }

    /// Compares with plain sums, with vectors of one width.
    fn check<S: Simd>(simd: S) {
        let width = 2 * S::F32_LANES;
        for (rows, depth, columns) in
            [(1, 1, 1), (5, 32, 7), (7, 33, 40), (13, 500, 64), (200, 384, 96)]
        {
            let left = numbers(rows * depth, 1);
            let weight = numbers(columns * depth, 2);
            let mut right = Packed::default();
            right.repack_transposed(width, &weight, depth, columns, depth);
            let stride = right.padded_columns();
            let mut bias = numbers(columns, 3);
            bias.resize(stride, 0.0);
            let mut out = vec![f32::NAN; rows * stride];
            let product = Product {
                left: &left,
                left_stride: depth,
                rows,
                right: &right,
                bias: &bias,
                out: &mut out,
                out_stride: stride,
            };
            simd.vectorize(product);
            for row in 0..rows {
                for column in 0..columns {
                    let a = &left[row * depth..][..depth];
                    let b = &weight[column * depth..][..depth];
                    let sum: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    let (got, expected) = (out[row * stride + column], bias[column] + sum);
                    let shape = (rows, depth, columns, width);
                    assert!((got - expected).abs() < 1e-3, "{shape:?}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn equals_the_sum_of_products_for_awkward_shapes() {
        struct Here;
        impl WithSimd for Here {
            type Output = ();

            fn with_simd<S: Simd>(self, simd: S) {
                check(simd);
            }
        }
        Arch::new().dispatch(Here);
    }

    #[test]
    fn equals_it_with_vectors_of_any_width() {
        check(pulp::Scalar);
        check(pulp::Scalar128b);
        check(pulp::Scalar256b);
        check(pulp::Scalar512b);
    }

    #[test]
    fn packing_rows_equals_packing_their_transpose() {
        let width = panel_width(Arch::new());
        let (depth, columns, stride) = (9, width + 3, width + 8);
        let source = numbers(depth * stride, 5);
        let transposed: Vec<f32> = (0..columns)
            .flat_map(|c| (0..depth).map(move |d| (c, d)))
            .map(|(c, d)| source[d * stride + c])
            .collect();
        let (mut plain, mut flipped) = (Packed::default(), Packed::default());
        plain.repack(width, &source, stride, columns, depth);
        flipped.repack_transposed(width, &transposed, depth, columns, depth);
        assert_eq!(plain.data, flipped.data);
    }
}
