//! What a metric comes to, from counts of like sequences. Pure: no clock, no store.

use super::{Aggregation, Condition};
use crate::action::Outcome;

/// So many sequences ended the same way after the same number of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) outcome: Outcome,
    pub(super) action_count: u64,
    pub(super) sequences: u64,
}

impl From<(Outcome, i64, i64)> for Tally {
    fn from((outcome, action_count, sequences): (Outcome, i64, i64)) -> Self {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Self { outcome, action_count: count(action_count), sequences: count(sequences) }
    }
}

/// A value and how many sequences it is of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sample {
    /// None where there is no sequence that it could be of.
    pub(super) value: Option<f64>,
    /// For a rate, those that were looked at; for an average or a percentile, those that met the
    /// condition.
    pub(super) count: u64,
}

impl Sample {
    /// The share of `part` in `whole`.
    pub(super) fn share(part: u64, whole: u64) -> Self {
        let value = (whole > 0).then(|| part as f64 / whole as f64);
        Self { value, count: whole }
    }
}

/// A metric's value against that of its beginnings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evaluation {
    pub value: Option<f64>,
    pub baseline_value: Option<f64>,
    /// The value minus the baseline's; none if either is absent.
    pub delta_vs_baseline: Option<f64>,
    pub sample_count: u64,
}

impl Evaluation {
    pub(super) fn of(current: Sample, baseline: Sample) -> Self {
        Self {
            value: current.value,
            baseline_value: baseline.value,
            delta_vs_baseline: difference(baseline.value, current.value),
            sample_count: current.count,
        }
    }

    /// How far it is from the baseline, where that is the value itself: the beginnings are no
    /// distance from themselves.
    pub(super) fn of_distance(current: Sample, baseline: Sample) -> Self {
        let distance = Sample { value: difference(baseline.value, current.value), ..current };
        let nothing = Sample { value: baseline.value.map(|_| 0.0), ..baseline };
        Self::of(distance, nothing)
    }
}

/// How much is added on the way from one to the other.
pub(super) fn difference(from: Option<f64>, to: Option<f64>) -> Option<f64> {
    from.zip(to).map(|(from, to)| to - from)
}

/// Without a condition every sequence meets it.
pub(super) fn aggregate(
    aggregation: Aggregation,
    condition: Option<&Condition>,
    tallies: &[Tally],
) -> Sample {
    let meets = |tally: &&Tally| {
        condition.is_none_or(|condition| condition.holds(tally.outcome, tally.action_count))
    };
    let count: u64 = tallies.iter().filter(meets).map(|tally| tally.sequences).sum();
    match aggregation {
        Aggregation::Rate => {
            Sample::share(count, tallies.iter().map(|tally| tally.sequences).sum())
        }
        Aggregation::Average => {
            let of_all =
                |tally: &Tally| u128::from(tally.action_count) * u128::from(tally.sequences);
            let actions: u128 = tallies.iter().filter(meets).map(of_all).sum();
            let value = (count > 0).then(|| actions as f64 / count as f64);
            Sample { value, count }
        }
        Aggregation::P95 => {
            let mut met: Vec<_> = tallies.iter().filter(meets).collect();
            met.sort_by_key(|tally| tally.action_count);
            Sample { value: nearest_rank(&met, count), count }
        }
    }
}

/// The smallest number of actions that 95 of 100 sequences do not exceed.
fn nearest_rank(sorted: &[&Tally], count: u64) -> Option<f64> {
    let rank = (u128::from(count) * 95).div_ceil(100);
    let mut passed = 0_u128;
    let at_rank = sorted.iter().find(|tally| {
        passed += u128::from(tally.sequences);
        passed >= rank && count > 0
    });
    at_rank.map(|tally| tally.action_count as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(success: bool, action_count: u64, sequences: u64) -> Tally {
        let outcome = if success { Outcome::Success } else { Outcome::Failure };
        Tally { outcome, action_count, sequences }
    }

    fn met(aggregation: Aggregation, condition: &str, tallies: &[Tally]) -> (Option<f64>, u64) {
        let condition: Condition = condition.parse().unwrap();
        let Sample { value, count } = aggregate(aggregation, Some(&condition), tallies);
        (value, count)
    }

    #[test]
    fn a_rate_is_of_all_and_an_average_of_those_that_count() {
        let tallies = [tally(true, 2, 3), tally(false, 8, 1), tally(true, 4, 1)];
        let success = "outcome == 'success'";
        assert_eq!(met(Aggregation::Rate, success, &tallies), (Some(0.8), 5));
        assert_eq!(met(Aggregation::Average, success, &tallies), (Some(2.5), 4));
        assert_eq!(met(Aggregation::P95, success, &tallies), (Some(4.0), 4));
        let none = "action_count > 9";
        assert_eq!(met(Aggregation::Rate, none, &tallies), (Some(0.0), 5));
        assert_eq!(met(Aggregation::Average, none, &tallies), (None, 0));
        assert_eq!(met(Aggregation::P95, none, &tallies), (None, 0));
        for aggregation in Aggregation::ALL {
            assert_eq!(aggregate(aggregation, None, &[]), Sample::default());
        }
    }

    #[test]
    fn the_percentile_turns_between_19_and_20_of_20() {
        let ninety_five = |common, rare| {
            let tallies = [tally(true, 7, rare), tally(true, 1, common)];
            met(Aggregation::P95, "action_count >= 0", &tallies).0
        };
        assert_eq!(ninety_five(19, 1), Some(1.0), "95 of 100 have one action");
        assert_eq!(ninety_five(18, 1), Some(7.0), "18 of 19 are 94.7 of 100");
        assert_eq!(ninety_five(95, 5), Some(1.0));
        assert_eq!(ninety_five(94, 6), Some(7.0));
        assert_eq!(ninety_five(1, 0), Some(1.0));
    }

    #[test]
    fn a_distance_has_no_distance_from_its_beginnings() {
        let sample = |value, count| Sample { value, count };
        let now = Evaluation::of_distance(sample(Some(3.0), 9), sample(Some(5.0), 50));
        assert_eq!((now.value, now.baseline_value), (Some(-2.0), Some(0.0)));
        assert_eq!((now.delta_vs_baseline, now.sample_count), (Some(-2.0), 9));
        let nothing = Evaluation::of_distance(sample(None, 0), sample(Some(5.0), 50));
        assert_eq!((nothing.value, nothing.delta_vs_baseline), (None, None));
        assert_eq!(Evaluation::of(sample(Some(1.0), 1), sample(None, 0)).delta_vs_baseline, None);
    }

    proptest! {
        /// A second way to the same numbers: one sequence after the other.
        #[test]
        fn counts_of_like_sequences_say_the_same_as_the_sequences(
            ends in proptest::collection::vec((any::<bool>(), 0..12_u64), 0..60), limit in 0..12_u32
        ) {
            let condition = format!("outcome == 'success' and action_count <= {limit}");
            let condition: Condition = condition.parse().unwrap();
            let met: Vec<_> = ends.iter().filter(|(ok, n)| *ok && *n <= u64::from(limit)).collect();
            let mut tallies: Vec<Tally> = Vec::new();
            for (success, n) in &ends {
                let one = tally(*success, *n, 1);
                let like = |t: &&mut Tally| (t.outcome, t.action_count) == (one.outcome, *n);
                match tallies.iter_mut().find(like) {
                    Some(known) => known.sequences += 1,
                    None => tallies.push(one),
                }
            }
            let of = |aggregation| aggregate(aggregation, Some(&condition), &tallies).value;
            let share = (!ends.is_empty()).then(|| met.len() as f64 / ends.len() as f64);
            prop_assert_eq!(of(Aggregation::Rate), share);
            let sum: u64 = met.iter().map(|(_, n)| n).sum();
            let mean = (!met.is_empty()).then(|| sum as f64 / met.len() as f64);
            prop_assert_eq!(of(Aggregation::Average), mean);
            let mut counts: Vec<_> = met.iter().map(|(_, n)| *n).collect();
            counts.sort_unstable();
            let enough = |n: &&u64| {
                counts.iter().filter(|it| it <= n).count() * 100 >= counts.len() * 95
            };
            let rank = counts.iter().find(enough).map(|n| *n as f64);
            prop_assert_eq!(of(Aggregation::P95), rank);
        }
    }
}
