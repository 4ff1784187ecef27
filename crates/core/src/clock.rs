//! Time and randomness come from outside, so that tests decide what "now" is and what an id is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use uuid::{ContextV7, Uuid};

use crate::error::{Error, Result};

pub trait Clock: Send + Sync + 'static {
    /// The present, cut to microseconds: the finest unit that every engine keeps.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        micros(Timestamp::now())
    }
}

/// Cuts a time to the precision that is stored, so that what was written equals what is read.
pub fn micros(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// Times for what happens here, one thing after the other, though the clock be set back meanwhile.
///
/// Where it is set back by little, time stands still until the clock has caught up, so that what came
/// later is never told first. Where it is set back by more than `still_max`, it was wrong before, and
/// is believed at once.
#[derive(Debug)]
pub(crate) struct Chronicle {
    latest_micros: AtomicI64,
    still_max: SignedDuration,
}

impl Chronicle {
    pub(crate) fn new(still_max: SignedDuration) -> Self {
        Self { latest_micros: AtomicI64::new(i64::MIN), still_max }
    }

    /// The time of what happens now.
    pub(crate) fn time(&self, now: Timestamp) -> Timestamp {
        let clock = now.as_microsecond();
        let still_max = i64::try_from(self.still_max.as_micros()).unwrap_or(i64::MAX);
        let later = |latest: i64| {
            let ahead = latest.saturating_sub(clock);
            if (0..=still_max).contains(&ahead) { latest } else { clock }
        };
        let turn = self
            .latest_micros
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |latest| Some(later(latest)));
        Timestamp::from_microsecond(later(turn.unwrap_or(clock))).unwrap_or(now)
    }
}

/// Makes time-ordered ids (UUID v7) that never go back within a process.
#[derive(Debug)]
pub struct IdSource {
    context: Mutex<ContextV7>,
}

impl Default for IdSource {
    fn default() -> Self {
        Self { context: Mutex::new(ContextV7::new()) }
    }
}

impl IdSource {
    pub fn next(&self, now: Timestamp) -> Uuid {
        let context = self.context.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seconds = u64::try_from(now.as_second()).unwrap_or(0);
        let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
        Uuid::new_v7(uuid::Timestamp::from_unix(&*context, seconds, nanos))
    }
}

/// Bytes that nobody can guess, for secrets.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|e| Error::internal("the system gave no randomness").caused_by(e.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_while_the_clock_is_behind_by_little() {
        let chronicle = Chronicle::new(SignedDuration::from_secs(5));
        let at = |second| Timestamp::from_second(second).unwrap();
        for (clock, expected) in [
            (100, 100),
            (98, 100),
            (95, 100),
            (101, 101),
            // Wrong for a moment, and set right again.
            (500, 500),
            (102, 102),
            (101, 102),
            (96, 96),
        ] {
            assert_eq!(chronicle.time(at(clock)), at(expected), "the clock shows {clock}");
        }
    }

    #[test]
    fn ids_grow_though_the_clock_is_set_back() {
        let ids = IdSource::default();
        let now = SystemClock.now();
        let made =
            [0, -1, -3_600, 1, -86_400].map(|by| ids.next(now + SignedDuration::from_secs(by)));
        assert!(made.is_sorted());
    }

    #[test]
    fn ids_grow_within_one_instant_and_over_time() {
        let ids = IdSource::default();
        let now = SystemClock.now();
        let made: Vec<_> = (0..1000).map(|_| ids.next(now)).collect();
        assert!(made.is_sorted());
        assert!(made.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
