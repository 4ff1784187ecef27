use super::*;
use proptest::prelude::*;

/// Values that are neither all alike nor all small, for any length.
pub(super) fn noise(len: usize, seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(len)
}

fn bytes(len: usize, seed: u64) -> Vec<i8> {
    noise(len, seed).map(|v| v.to_le_bytes()[3].cast_signed()).collect()
}

pub(super) fn floats(len: usize, seed: u64) -> Vec<f32> {
    noise(len, seed).map(|v| f32::from(v.to_le_bytes()[2]) / 64.0 - 2.0).collect()
}

proptest! {
    #[test]
    fn dots_equal_the_portable_form(dims in 1_usize..300, seed: u64) {
        let query: Vec<i16> =
            noise(dims, seed).map(|v| i16::try_from(v % 8191).unwrap() - 4095).collect();
        let codes = bytes(dims * 5, seed ^ 5);
        let slots = [4, 0, 2, 9];
        let (mut fast, mut plain) = (Vec::new(), Vec::new());
        dots(&query, &codes, &slots, &mut fast);
        dots_portable(&query, &codes, &slots, &mut plain);
        prop_assert_eq!(fast, plain);
    }

    #[test]
    fn signs_equal_the_portable_form(dims in 1_usize..300, seed: u64) {
        let (row, mean) = (bytes(dims, seed), floats(dims, seed ^ 9));
        let mut fast = vec![0; dims.div_ceil(64)];
        let mut plain = fast.clone();
        signs(&row, 0.02, &mean, &mut fast);
        signs_body(&row, 0.02, &mean, &mut plain, 0);
        prop_assert_eq!(fast, plain);
    }

    #[test]
    fn cosines_equal_the_portable_form(dims in 1_usize..600, seed: u64) {
        let (a, b) = (floats(dims, seed), floats(dims, seed ^ 1));
        prop_assert_eq!(
            products(&a, &b).map(f32::to_bits),
            products_body(&a, &b).map(f32::to_bits)
        );
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let norm = |v: &[f32]| v.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
        let exact = dot / (norm(&a) * norm(&b));
        if exact.is_finite() {
            prop_assert!((f64::from(cosine(&a, &b)) - exact).abs() < 1e-5);
        }
    }
}

#[test]
fn the_largest_values_do_not_overflow() {
    let query = vec![-4095; 4096];
    let codes = vec![-128; 4096];
    let mut out = Vec::new();
    dots(&query, &codes, &[0], &mut out);
    assert_eq!(out, [4096 * 128 * 4095]);
}

#[test]
fn cosine_of_odd_input_is_zero() {
    let zero = |a: &[f32], b: &[f32]| assert!(cosine(a, b).abs() < f32::EPSILON);
    zero(&[], &[]);
    zero(&[1.0], &[1.0, 2.0]);
    zero(&[0.0, 0.0], &[1.0, 2.0]);
    zero(&[f32::NAN, 0.0], &[1.0, 2.0]);
    zero(&[f32::MAX; 9], &[f32::MAX; 9]);
    assert!((cosine(&[3.0, 4.0], &[6.0, 8.0]) - 1.0).abs() < 1e-6);
}
