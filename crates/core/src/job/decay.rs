//! Lets fade what nobody looks at: the salience of entities day by day, the confidence in what was
//! only inferred week by week.
//!
//! What is left of a value depends on when it was looked at and on how often, not on when the job
//! ran: to fade day by day comes to the same as to fade at once, so a run that was killed is simply
//! done again.

use async_trait::async_trait;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use uuid::Uuid;

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::error::{Code, Result};
use crate::principal::Scope;
use crate::store::{Change, Faded};

/// What a day leaves of a value.
const KEPT_PER_DAY: f64 = 0.95;
/// Days behind an access that count but half.
const RECENT_DAYS: f64 = 7.0;
/// The more often something was looked at, the slower it fades; by no more than this factor.
const FREQUENCY_MAX: f64 = 3.0;
const FREQUENCY_STEP: f64 = 0.25;
/// What was looked at more recently does not fade.
const REST: SignedDuration = SignedDuration::from_hours(24);
/// What is at most so sure was inferred.
const INFERRED_MAX: f64 = 0.70;
/// Records that fade in one commit.
const PORTION: usize = 200;
/// How often a portion is read anew because somebody changed one of its records.
const ATTEMPTS_MAX: usize = 8;

/// A value that fades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    pub id: Uuid,
    pub value: f64,
    pub accesses: i64,
    /// When it was looked at last, or else came to be.
    pub accessed: Timestamp,
    /// Until when it has faded already.
    pub decayed_at: Option<Timestamp>,
    pub revision: i64,
}

impl Fading {
    /// What is left of it at a time.
    fn until(&self, until: Timestamp) -> Faded {
        let days = |time: Timestamp| time.duration_since(self.accessed).as_secs_f64() / 86_400.0;
        let from = self.decayed_at.map_or(0.0, days);
        let value = faded(self.value, from, days(until), self.accesses);
        Faded { id: self.id, value, until, revision: self.revision }
    }
}

/// What is left of a value from so many days behind its last access to so many.
fn faded(value: f64, from_days: f64, to_days: f64, accesses: i64) -> f64 {
    let aged = age(to_days) - age(from_days);
    value * KEPT_PER_DAY.powf(aged.max(0.0) / frequency(accesses))
}

/// Days as they count: those behind an access but half.
fn age(days: f64) -> f64 {
    let days = days.max(0.0);
    days - days.min(RECENT_DAYS) / 2.0
}

/// By how much often looking at something slows its fading.
fn frequency(accesses: i64) -> f64 {
    (1.0 + FREQUENCY_STEP * (1.0 + accesses.max(0) as f64).ln()).min(FREQUENCY_MAX)
}

#[derive(Clone, Copy)]
enum What {
    Nodes,
    Memories,
}

pub(super) struct Decay;

#[async_trait]
impl Job for Decay {
    fn name(&self) -> &'static str {
        "decay"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let mut count = 0;
        for what in [What::Nodes, What::Memories] {
            let mut after = None;
            loop {
                let fading = list(mnemic, scope, what, after).await?;
                let Some(last) = fading.last() else { break };
                after = Some(last.id);
                count += fading.len() as u64;
            }
        }
        Ok(count)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let mut changed = 0;
        for what in [What::Nodes, What::Memories] {
            let (mut after, mut attempts) = (None, 0);
            loop {
                let fading = list(mnemic, claim.scope(), what, after).await?;
                let Some(last) = fading.last() else { break };
                let until = until(mnemic, what);
                let changes = fading.iter().map(|fading| match what {
                    What::Nodes => Change::FadeNode(fading.until(until)),
                    What::Memories => Change::FadeMemory(fading.until(until)),
                });
                match claim.commit(mnemic, changes.collect()).await {
                    Err(e) if e.code() == Code::Stale && attempts < ATTEMPTS_MAX => attempts += 1,
                    done => {
                        done?;
                        (after, attempts) = (Some(last.id), 0);
                        changed += fading.len() as u64;
                    }
                }
            }
        }
        Ok(Done::changed(changed))
    }
}

async fn list(
    mnemic: &Mnemic,
    scope: Scope,
    what: What,
    after: Option<Uuid>,
) -> Result<Vec<Fading>> {
    let until = until(mnemic, what);
    let rested = until.checked_sub(REST).unwrap_or(Timestamp::MIN);
    match what {
        What::Nodes => mnemic.store.list_fading_nodes(scope, rested, until, after, PORTION).await,
        What::Memories => {
            let sure = INFERRED_MAX;
            mnemic.store.list_fading_memories(scope, rested, until, sure, after, PORTION).await
        }
    }
}

/// The beginning of the day, or of the week: a second run on the same one finds nothing to do.
fn until(mnemic: &Mnemic, what: What) -> Timestamp {
    let now = mnemic.clock.now();
    let today = now.to_zoned(TimeZone::UTC).date();
    let first = match what {
        What::Nodes => today,
        What::Memories => monday(today),
    };
    first.to_zoned(TimeZone::UTC).map_or(now, |zoned| zoned.timestamp())
}

fn monday(date: Date) -> Date {
    let days = i64::from(date.weekday().to_monday_zero_offset());
    date.checked_sub(days.days()).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn more_days_leave_less_and_never_less_than_nothing(
            value in 0.0..10.0_f64, days in 0.0..1e5_f64, more in 0.0..1e5_f64, n in 0..1_000_000_i64,
        ) {
            let (sooner, later) = (faded(value, 0.0, days, n), faded(value, 0.0, days + more, n));
            prop_assert!(later <= sooner && sooner <= value && later >= 0.0);
        }

        #[test]
        fn frequency_helps_within_bounds(days in 0.0..1e4_f64, n in 0..i64::MAX / 2) {
            let (never, often) = (faded(1.0, 0.0, days, 0), faded(1.0, 0.0, days, n));
            prop_assert!(often >= never);
            let most = KEPT_PER_DAY.powf(age(days) / FREQUENCY_MAX);
            prop_assert!(often <= most + 1e-12 && frequency(n) <= FREQUENCY_MAX);
        }

        #[test]
        fn day_by_day_comes_to_the_same_as_at_once(value in 0.0..1.0_f64, days in 1..400_u32, n in 0..1000_i64) {
            let by_day = (0..days).fold(value, |value, day| {
                faded(value, f64::from(day), f64::from(day + 1), n)
            });
            let at_once = faded(value, 0.0, f64::from(days), n);
            prop_assert!((by_day - at_once).abs() < 1e-9, "{by_day} {at_once}");
        }
    }

    #[test]
    fn a_day_without_an_access_leaves_95_of_100_once_it_is_not_recent() {
        assert!((faded(1.0, 10.0, 11.0, 0) - 0.95).abs() < 1e-9);
        assert!((faded(1.0, 1.0, 3.0, 0) - 0.95).abs() < 1e-9, "recent days count half");
        assert!((faded(0.5, 5.0, 5.0, 3) - 0.5).abs() < 1e-9);
    }
}
