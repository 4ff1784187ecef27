//! How often a key occurs where it could, and what follows from that.
//!
//! A share is kept as two whole numbers and every threshold is decided in whole numbers, so that
//! exactly 60 % is 60 %: floating point serves for showing alone.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A pattern whose share has moved by so many points is replaced by a new one.
const SHIFT_POINTS: i128 = 15;
/// A pattern that was not seen for so long begins to fade …
const REST_DAYS: i64 = 30;
/// … by a tenth at once, and by a tenth of the rest so often.
const FADING_DAYS: i64 = 7;
const KEPT_TENTHS: u128 = 9;
/// What has faded below this is no pattern any more.
const KEPT_PERCENT: u32 = 20;
/// After so many weeks an eighth of anything is left, which is below every threshold.
const WEEKS_MAX: u32 = 20;

/// In so many sequences of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub samples: i64,
    pub total: i64,
}

impl Share {
    pub fn new(samples: i64, total: i64) -> Self {
        Self { samples, total }
    }

    /// 0 to 1; of nothing it is nothing.
    pub fn value(self) -> f64 {
        if self.total <= 0 { 0.0 } else { self.samples as f64 / self.total as f64 }
    }

    /// In whole percent, half up.
    pub fn percent(self) -> i64 {
        if self.total <= 0 { 0 } else { (200 * self.samples + self.total) / (2 * self.total) }
    }

    /// Whether it has moved so far from another that what was said of it is no longer true.
    pub fn has_shifted_from(self, before: Self) -> bool {
        let (one, other) = (i128::from(self.total), i128::from(before.total));
        let apart = (i128::from(self.samples) * other - i128::from(before.samples) * one).abs();
        100 * apart >= SHIFT_POINTS * one * other
    }

    /// Whether at least so many percent are left of it after so many weeks of fading.
    pub fn is_left(self, percent: u32, weeks: u32) -> bool {
        let (Ok(samples), Ok(total)) = (u128::try_from(self.samples), u128::try_from(self.total))
        else {
            return false;
        };
        if total == 0 || weeks > WEEKS_MAX {
            return false;
        }
        let left = 100 * samples * KEPT_TENTHS.pow(weeks);
        left >= u128::from(percent) * total * 10_u128.pow(weeks)
    }

    /// Whether a pattern with this share goes, after so many weeks of fading.
    pub fn is_lost(self, weeks: u32) -> bool {
        !self.is_left(KEPT_PERCENT, weeks)
    }

    /// What is left of it after so many weeks of fading, for showing.
    pub fn faded(self, weeks: u32) -> f64 {
        let kept = KEPT_TENTHS as f64 / 10.0;
        self.value() * kept.powi(i32::try_from(weeks).unwrap_or(i32::MAX))
    }
}

/// How often something has faded that was last seen then.
pub fn weeks_faded(last_seen: Timestamp, now: Timestamp) -> u32 {
    let day = SignedDuration::from_hours(24).as_secs();
    let rested = now.duration_since(last_seen).as_secs().div_euclid(day) - REST_DAYS;
    if rested < 0 {
        return 0;
    }
    u32::try_from(1 + rested / FADING_DAYS).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sixty_percent_is_reached_exactly() {
        for (samples, total, reached) in [
            (6, 10, true),
            (59, 100, false),
            (60, 100, true),
            (3, 5, true),
            (599_999, 1_000_000, false),
            (600_000, 1_000_000, true),
            (0, 0, false),
        ] {
            assert_eq!(Share::new(samples, total).is_left(60, 0), reached, "{samples}/{total}");
        }
    }

    #[test]
    fn fifteen_points_are_a_shift_and_fourteen_are_not() {
        for (before, after, shifted) in [
            ((80, 100), (66, 100), false),
            ((80, 100), (65, 100), true),
            ((60, 100), (74, 100), false),
            ((60, 100), (75, 100), true),
            ((3, 5), (3, 4), true),
            ((7, 10), (11, 20), true),
            ((7, 10), (5501, 10_000), false),
            ((1, 1), (1, 1), false),
        ] {
            let share = |(samples, total)| Share::new(samples, total);
            let (before, after) = (share(before), share(after));
            assert_eq!(after.has_shifted_from(before), shifted, "{before:?} {after:?}");
        }
    }

    #[test]
    fn fading_begins_on_the_thirtieth_day() {
        let seen: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let after = |hours: i64| weeks_faded(seen, seen + SignedDuration::from_hours(hours));
        for (days, weeks) in [(0, 0), (29, 0), (30, 1), (36, 1), (37, 2), (44, 3), (90, 9)] {
            assert_eq!(after(24 * days), weeks, "day {days}");
        }
        assert_eq!(after(24 * 30 - 1), 0, "an hour before it");
        assert_eq!(after(-24 * 400), 0, "seen in the future, by a clock that was wrong");
        let share = Share::new(5, 5);
        assert!((share.faded(0) - 1.0).abs() < 1e-12);
        assert!((share.faded(1) - 0.9).abs() < 1e-12);
        assert!((share.faded(2) - 0.81).abs() < 1e-12);
    }

    #[test]
    fn what_is_below_a_fifth_is_lost_and_a_fifth_is_not() {
        for (samples, total, weeks, lost) in [
            (1, 5, 0, false),
            (19, 100, 0, true),
            (20, 100, 0, false),
            // Nine tenths of two ninths are exactly a fifth, which floating point misses.
            (2, 9, 1, false),
            (2, 9, 2, true),
            (1, 1, 15, false),
            (1, 1, 16, true),
            (1, 1, 21, true),
            (1, 1, u32::MAX, true),
            (0, 7, 0, true),
        ] {
            let share = Share::new(samples, total);
            assert_eq!(share.is_lost(weeks), lost, "{samples}/{total} after {weeks}");
        }
    }

    #[test]
    fn percents_are_rounded_half_up() {
        for (samples, total, percent) in [(5, 6, 83), (51, 58, 88), (1, 8, 13), (5, 5, 100)] {
            assert_eq!(Share::new(samples, total).percent(), percent);
        }
        assert_eq!(Share::new(0, 0).percent(), 0);
    }

    proptest! {
        #[test]
        fn whole_numbers_decide_as_exact_fractions_do(
            samples in 0..2_000_000_000_i64, more in 1..2_000_000_000_i64, weeks in 0..40_u32,
        ) {
            let share = Share::new(samples, samples + more);
            let left = share.faded(weeks);
            prop_assume!((left - 0.6).abs() > 1e-9 && (left - 0.2).abs() > 1e-9);
            prop_assert_eq!(share.is_left(60, weeks), left >= 0.6);
            prop_assert_eq!(share.is_lost(weeks), left < 0.2);
        }

        #[test]
        fn a_shift_is_one_from_either_side(
            a in 0..1_000_000_i64, b in 1..1_000_000_i64, c in 0..1_000_000_i64, d in 1..1_000_000_i64,
        ) {
            let (one, other) = (Share::new(a.min(b), b), Share::new(c.min(d), d));
            prop_assert_eq!(one.has_shifted_from(other), other.has_shifted_from(one));
        }
    }
}
