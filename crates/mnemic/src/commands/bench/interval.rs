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

/// How often, 0 to 1, a value of the one kind is greater than one of the other (the area under the
/// curve of hits and false alarms), drawing the questions of both anew.
pub fn separation(ones: &[f64], others: &[f64]) -> Interval {
    let all: Vec<_> = ones.iter().map(|it| (*it, true)).collect();
    let all: Vec<_> = all.into_iter().chain(others.iter().map(|it| (*it, false))).collect();
    let mut noise = Noise(SEED);
    let draw = |noise: &mut Noise| {
        let place = usize::try_from(noise.below(all.len().max(1) as u64)).unwrap_or(0);
        all.get(place).copied()
    };
    let drawn: Vec<_> = (0..RESAMPLES)
        .map(|_| area((0..all.len()).filter_map(|_| draw(&mut noise)).collect()))
        .filter(|area| !area.is_nan())
        .collect();
    Interval { mean: area(all), low: quantile(&drawn, TAIL), high: quantile(&drawn, 1.0 - TAIL) }
}

/// Equal values count half. Without both kinds, it is not a number.
fn area(mut values: Vec<(f64, bool)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut won, mut below, mut ones) = (0.0, 0.0, 0.0);
    for equal in values.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let of_one = equal.iter().filter(|(_, one)| *one).count() as f64;
        let of_other = equal.len() as f64 - of_one;
        won += of_one * (below + of_other / 2.0);
        below += of_other;
        ones += of_one;
    }
    won / (ones * below)
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
    fn kinds_are_told_apart_as_often_as_one_is_greater() {
        let apart = separation(&[0.8, 0.9], &[0.1, 0.2, 0.3]);
        assert_eq!(apart, Interval { mean: 1.0, low: 1.0, high: 1.0 });
        assert!((separation(&[0.5, 0.5], &[0.5]).mean - 0.5).abs() < 1e-9, "all are equal");
        // Of four pairs, three are the right way round.
        let mostly = separation(&[0.2, 0.9], &[0.1, 0.5]);
        assert!((mostly.mean - 0.75).abs() < 1e-9 && mostly.low < 0.75 && mostly.high >= 0.75);
        assert!(separation(&[0.5], &[]).mean.is_nan());
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        let nothing = Interval::of(&[]);
        assert!(nothing.mean.is_nan() && nothing.low.is_nan() && nothing.high.is_nan());
    }
}
