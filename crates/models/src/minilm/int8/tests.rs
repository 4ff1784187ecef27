//! Every kernel that runs here against plain sums, for any shape and the worst numbers.

use proptest::prelude::*;

use super::*;

/// Numbers from −1 to 1, of which a share are one of the ends.
fn numbers(count: usize, seed: u32, extreme_of_16: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = f32::from(u16::try_from(state >> 16).unwrap()) / 32_768.0 - 1.0;
        if (state >> 8) % 16 < extreme_of_16 { number.signum() } else { number }
    };
    (0..count).map(|_| next()).collect()
}

struct Case {
    rows: usize,
    columns: usize,
    left: Vec<f32>,
    weight: Vec<f32>,
    bias: Vec<f32>,
    right: Weight,
    codes: Codes,
}

impl Case {
    fn new(rows: usize, depth: usize, columns: usize, seed: u32, extreme: u32) -> Self {
        let left = numbers(rows * depth, seed, extreme);
        let weight = numbers(columns * depth, !seed, extreme);
        let bias = numbers(columns, seed ^ 5, 0);
        let right = Weight::from_transposed(&weight, depth, &bias);
        let mut codes = Codes::default();
        codes.fill(Arch::new(), &left, &right);
        Self { rows, columns, left, weight, bias, right, codes }
    }

    fn out(&self, run: impl FnOnce(Product<'_>)) -> Vec<f32> {
        let out_stride = self.right.padded_columns();
        let mut out = vec![f32::NAN; self.rows * out_stride];
        run(Product { left: &self.codes, right: &self.right, out: &mut out, out_stride });
        out
    }
}

proptest! {
    #[test]
    fn every_kernel_gives_the_bits_of_plain_sums(
        rows in 1_usize..14,
        depth in 1_usize..200,
        columns in 1_usize..80,
        seed: u32,
        extreme in 0_u32..=16,
    ) {
        let case = Case::new(rows, depth, columns, seed, extreme);
        let expected = case.out(|product| reference::run(product.task()));
        for kernel in Kernel::all() {
            let got = case.out(|product| product.run(kernel));
            prop_assert!(got == expected, "{kernel:?}");
        }
    }

    #[test]
    fn the_product_is_near_that_of_the_numbers(
        rows in 1_usize..5,
        depth in 1_usize..400,
        columns in 1_usize..40,
        seed: u32,
    ) {
        let case = Case::new(rows, depth, columns, seed, 0);
        let out = case.out(|product| reference::run(product.task()));
        let stride = case.right.padded_columns();
        // Rounding errors are of either sign, so their sum grows with the root of the depth.
        let tolerance = 0.05 * (depth as f32).sqrt();
        for (row, left) in case.left.chunks_exact(depth).enumerate() {
            for (column, weights) in case.weight.chunks_exact(depth).enumerate() {
                let sum: f32 = left.iter().zip(weights).map(|(a, b)| a * b).sum();
                let (got, expected) = (out[row * stride + column], case.bias[column] + sum);
                prop_assert!((got - expected).abs() < tolerance, "{got} {expected}");
            }
        }
        prop_assert!(case.bias.len() == case.columns);
    }

    #[test]
    fn no_group_of_weights_can_overflow(depth in 1_usize..100, seed: u32, extreme in 0_u32..=16) {
        let weights = numbers(depth, seed, extreme);
        let (codes, scale) = quantise_column(&weights);
        prop_assert!(largest_sum(&codes) * i32::from(CODE_MAX) <= i32::from(i16::MAX));
        for (code, weight) in codes.iter().zip(&weights) {
            prop_assert!((f32::from(*code) * scale - weight).abs() <= 0.501 * scale);
        }
    }
}

#[test]
fn rows_and_columns_without_a_spread_stay_what_they_are() {
    let right = Weight::from_transposed(&[0.0; 8], 4, &[3.0, -2.0]);
    let mut codes = Codes::default();
    codes.fill(Arch::new(), &[7.0; 4], &right);
    let mut out = vec![f32::NAN; right.padded_columns()];
    let out_stride = out.len();
    let product = Product { left: &codes, right: &right, out: &mut out, out_stride };
    reference::run(product.task());
    assert_eq!(out[..2], [3.0, -2.0]);
    let right = Weight::from_transposed(&[1.0; 4], 4, &[0.5]);
    let product = Product { left: &codes, right: &right, out: &mut out, out_stride };
    reference::run(product.task());
    // The four ones are rounded like any weight.
    assert!((out[0] - 28.5).abs() < 0.2, "{}", out[0]);
}

#[test]
fn what_does_not_agree_does_not_serve() {
    let all = Kernel::all();
    assert_eq!(Kernel::first(all.clone(), |_| false), None);
    assert_eq!(Kernel::first(Vec::new(), |_| true), None);
    assert_eq!(Kernel::detect(), all.first().copied(), "the best one agrees");
    if let [best, next, ..] = all[..] {
        assert_eq!(Kernel::first(all, |kernel| kernel != best), Some(next));
    }
}
