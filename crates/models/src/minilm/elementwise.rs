//! What the forward pass does number by number: GELU, softmax, layer norm, unit length.
//!
//! The loops are plain Rust that LLVM turns into vectors of whatever width the processor has,
//! because they are inlined into a `pulp` dispatch. Sums go through explicit vectors: floating
//! point addition may not be reordered, so LLVM leaves a plain sum scalar.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for its instructions"
)]

use pulp::{Arch, Simd, WithSimd};

use super::HIDDEN;

/// The model's own constant.
const EPSILON: f32 = 1e-12;

/// GELU in its exact form, x · Φ(x).
pub(crate) struct Gelu<'a>(pub(crate) &'a mut [f32]);

impl WithSimd for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.0 {
            let half = 0.5 * *x;
            *x = half + half * erf(*x * std::f32::consts::FRAC_1_SQRT_2);
        }
    }
}

/// Turns the first `len` numbers of each row into probabilities.
pub(crate) struct Softmax<'a> {
    pub(crate) rows: &'a mut [f32],
    pub(crate) stride: usize,
    pub(crate) len: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact_mut(self.stride) {
            let row = &mut row[..self.len];
            let (vectors, rest) = S::as_simd_f32s(row);
            let top = vectors
                .iter()
                .fold(simd.splat_f32s(f32::NEG_INFINITY), |top, &v| simd.max_f32s(top, v));
            let top = rest.iter().fold(simd.reduce_max_f32s(top), |top, &x| top.max(x));
            for x in row.iter_mut() {
                *x = exp(*x - top);
            }
            let scale = 1.0 / sum(simd, row);
            for x in row {
                *x *= scale;
            }
        }
    }
}

/// `hidden = norm(hidden + added)`, row by row; `added` may be empty.
pub(crate) struct LayerNorm<'a> {
    pub(crate) hidden: &'a mut [f32],
    pub(crate) added: &'a [f32],
    pub(crate) weight: &'a [f32],
    pub(crate) bias: &'a [f32],
}

impl WithSimd for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        #[expect(clippy::cast_precision_loss, reason = "384 is exact in f32")]
        let share = 1.0 / HIDDEN as f32;
        let (weight, bias) = (&self.weight[..HIDDEN], &self.bias[..HIDDEN]);
        let mut added = self.added.chunks_exact(HIDDEN);
        for row in self.hidden.chunks_exact_mut(HIDDEN) {
            if let Some(added) = added.next() {
                for (x, a) in row.iter_mut().zip(added) {
                    *x += a;
                }
            }
            let mean = sum(simd, row) * share;
            for x in row.iter_mut() {
                *x -= mean;
            }
            let scale = 1.0 / (sum_of_squares(simd, row) * share + EPSILON).sqrt();
            for ((x, w), b) in row.iter_mut().zip(weight).zip(bias) {
                *x = *x * scale * w + b;
            }
        }
    }
}

/// Scales a vector to unit length; a zero vector stays zero.
pub(crate) fn normalise(arch: Arch, vector: &mut [f32]) {
    struct Squares<'a>(&'a [f32]);
    impl WithSimd for Squares<'_> {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            sum_of_squares(simd, self.0)
        }
    }
    let norm = arch.dispatch(Squares(vector)).sqrt();
    if norm > 0.0 {
        for x in vector {
            *x /= norm;
        }
    }
}

#[inline(always)]
fn sum<S: Simd>(simd: S, numbers: &[f32]) -> f32 {
    let (vectors, rest) = S::as_simd_f32s(numbers);
    let total = vectors.iter().fold(simd.splat_f32s(0.0), |total, &v| simd.add_f32s(total, v));
    simd.reduce_sum_f32s(total) + rest.iter().sum::<f32>()
}

#[inline(always)]
fn sum_of_squares<S: Simd>(simd: S, numbers: &[f32]) -> f32 {
    let (vectors, rest) = S::as_simd_f32s(numbers);
    let total =
        vectors.iter().fold(simd.splat_f32s(0.0), |total, &v| simd.mul_add_e_f32s(v, v, total));
    simd.reduce_sum_f32s(total) + rest.iter().map(|x| x * x).sum::<f32>()
}

/// e^x for x ≤ 0, to a few units in the last place: 2^n · e^r with |r| ≤ ln 2 / 2, the last by
/// a polynomial.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding this leaves the rounded integer in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_2e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 0.166_666_66;
    p = p * r + 0.5;
    p = p * r * r + r + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    p * power
}

/// The error function as a quotient of polynomials, to a few units in the last place.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let s = x * x;
    let mut p = -2.726_142_3e-10;
    p = p * s + 2.770_681_4e-8;
    p = p * s - 2.101_024e-6;
    p = p * s - 5.692_506_4e-5;
    p = p * s - 7.349_906e-4;
    p = p * s - 2.954_6e-3;
    p = p * s - 1.609_603_3e-2;
    let mut q = -1.456_607_2e-5;
    q = q * s - 2.133_740_6e-4;
    q = q * s - 1.682_827e-3;
    q = q * s - 7.373_329e-3;
    q = q * s - 1.426_473_9e-2;
    x * p / q
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "test ranges")]
mod tests {
    use super::*;

    /// By its series, in double precision.
    fn erf_slowly(x: f64) -> f64 {
        let (mut term, mut total) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            total += term / f64::from(2 * n + 1);
        }
        total * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn erf_and_exp_are_exact_enough() {
        for step in -500..=500 {
            let x = f64::from(step) / 100.0;
            let got = f64::from(erf(x as f32));
            assert!((got - erf_slowly(x)).abs() < 1e-6, "erf({x}) = {got}");
            let x = -(x + 5.0) * 8.0;
            let (got, expected) = (f64::from(exp(x as f32)), f64::from(x as f32).exp());
            assert!((got - expected).abs() <= 5e-7 * expected, "exp({x}) = {got}");
        }
    }

    #[test]
    fn softmax_ignores_what_fills_up_a_row() {
        let (len, stride) = (11, 16);
        let mut rows: Vec<f32> = (0..2 * stride).map(|i| (i % 5) as f32 * 30.0).collect();
        let before = rows.clone();
        Arch::new().dispatch(Softmax { rows: &mut rows, stride, len });
        for (after, before) in rows.chunks(stride).zip(before.chunks(stride)) {
            let top = before[..len].iter().fold(f32::MIN, |a, &b| a.max(b));
            let total: f32 = before[..len].iter().map(|x| (x - top).exp()).sum();
            for (a, b) in after[..len].iter().zip(before) {
                assert!((a - (b - top).exp() / total).abs() < 1e-6);
            }
            assert_eq!(after[len..], before[len..]);
        }
    }

    #[test]
    fn layer_norm_centres_and_scales() {
        let mut hidden: Vec<f32> = (0..HIDDEN).map(|i| i as f32).collect();
        let added = vec![3.0; HIDDEN];
        let (weight, bias) = (vec![2.0; HIDDEN], vec![1.0; HIDDEN]);
        Arch::new().dispatch(LayerNorm {
            hidden: &mut hidden,
            added: &added,
            weight: &weight,
            bias: &bias,
        });
        let mean = hidden.iter().sum::<f32>() / HIDDEN as f32;
        let variance = hidden.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / HIDDEN as f32;
        assert!((mean - 1.0).abs() < 1e-4 && (variance - 4.0).abs() < 1e-3, "{mean} {variance}");
    }
}
