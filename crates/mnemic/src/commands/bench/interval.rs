//! How sure a mean over questions is: an interval by drawing the questions anew.
//!
//! Two rankings of the same questions are compared question by question, since most of what
//! makes one question harder than another is the same for both.

use mnemic_recall::synthetic::Noise;

use super::report::quantile;

const RESAMPLES: usize = 2_000;
/// The same draws in every run, so that figures can be repeated.
const SEED: u64 = 7;
/// What lies below and above an interval of 95 %.
const TAIL: f64 = 0.025;

/// A mean, and where it would lie in 95 of 100 draws of as many questions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Of nothing, it is not a number.
    pub fn of(values: &[f64]) -> Self {
        let mut noise = Noise(SEED);
        let means: Vec<_> = (0..RESAMPLES).map(|_| drawn_mean(values, &mut noise)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self { mean, low: quantile(&means, TAIL), high: quantile(&means, 1.0 - TAIL) }
    }

    /// Of what one ranking is better by, with its questions in the same order as the other's.
    pub fn of_difference(one: &[f64], other: &[f64]) -> Self {
        let differences: Vec<_> = one.iter().zip(other).map(|(one, other)| one - other).collect();
        Self::of(&differences)
    }
}

fn drawn_mean(values: &[f64], noise: &mut Noise) -> f64 {
    let count = values.len();
    let draw = |_| {
        let place = noise.below(count as u64);
        usize::try_from(place).ok().and_then(|place| values.get(place)).copied().unwrap_or(0.0)
    };
    (0..count).map(draw).sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_hundred_is_known_within_a_tenth() {
        let values: Vec<_> = (0..100).map(|n| f64::from(n % 2)).collect();
        let interval = Interval::of(&values);
        assert!((interval.mean - 0.5).abs() < 1e-9);
        // 1.96 standard errors of 0.05.
        assert!((interval.low - 0.402).abs() < 0.025, "{interval:?}");
        assert!((interval.high - 0.598).abs() < 0.025, "{interval:?}");
        assert_eq!(interval, Interval::of(&values), "every run draws the same");
    }

    #[test]
    fn what_is_always_a_little_better_is_surely_better() {
        let one: Vec<_> = (0..50).map(|n| f64::from(n % 10)).collect();
        let other: Vec<_> = one.iter().map(|value| value - 0.25).collect();
        let difference = Interval::of_difference(&one, &other);
        assert!((difference.low - 0.25).abs() < 1e-9 && (difference.high - 0.25).abs() < 1e-9);
        assert!(Interval::of(&one).low < Interval::of(&other).high, "by themselves they overlap");
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        let nothing = Interval::of(&[]);
        assert!(nothing.mean.is_nan() && nothing.low.is_nan() && nothing.high.is_nan());
    }
}
