//! An endpoint that fails again and again is left alone for a while: those who wait for it are
//! told at once, and one of them is let through now and then to see whether it is back.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::error::{Code, Error, Result};

/// So many failures in a row open it.
const FAILURES_MAX: u32 = 5;
/// How long it stays open before one request is let through.
const REST: Duration = Duration::from_secs(30);
/// A probe that has not come back by then was dropped on its way.
const PROBE_MAX: Duration = Duration::from_mins(10);

#[derive(Debug, Default)]
pub struct Breaker {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    failures: u32,
    /// Since when nothing is let through.
    opened_at: Option<Timestamp>,
    probing_since: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    Closed,
    Open {
        /// Until a request is let through again.
        wait: Duration,
    },
    /// One request is on its way to see.
    HalfOpen,
}

impl BreakerState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

impl Breaker {
    /// Lets a request through, or says why not. Who is let through reports how it went.
    pub fn enter(&self, now: Timestamp) -> Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.state(now) {
            BreakerState::Closed => Ok(()),
            BreakerState::Open { wait } if wait.is_zero() => {
                inner.probing_since = Some(now);
                Ok(())
            }
            BreakerState::Open { wait } => Err(resting(wait)),
            BreakerState::HalfOpen => Err(resting(Duration::from_secs(1))),
        }
    }

    pub fn report(&self, succeeded: bool, now: Timestamp) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if succeeded {
            *inner = Inner::default();
            return;
        }
        inner.failures = inner.failures.saturating_add(1);
        if inner.failures >= FAILURES_MAX {
            inner.opened_at = Some(now);
            inner.probing_since = None;
        }
    }

    pub fn state(&self, now: Timestamp) -> BreakerState {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).state(now)
    }
}

impl Inner {
    fn state(&self, now: Timestamp) -> BreakerState {
        let Some(opened_at) = self.opened_at else { return BreakerState::Closed };
        if self.probing_since.is_some_and(|since| left(since, PROBE_MAX, now) > Duration::ZERO) {
            return BreakerState::HalfOpen;
        }
        BreakerState::Open { wait: left(opened_at, REST, now) }
    }
}

fn left(since: Timestamp, span: Duration, now: Timestamp) -> Duration {
    let gone = now.duration_since(since).max(SignedDuration::ZERO);
    span.saturating_sub(gone.unsigned_abs())
}

fn resting(wait: Duration) -> Error {
    let seconds = wait.as_secs().max(1);
    let detail = format!(
        "the model's endpoint failed {FAILURES_MAX} times in a row and is left alone; it is asked \
         again in {seconds} seconds"
    );
    Error::new(Code::ModelUnavailable, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn opened() -> Breaker {
        let breaker = Breaker::default();
        for _ in 0..FAILURES_MAX {
            breaker.enter(at(0)).unwrap();
            breaker.report(false, at(0));
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_between_them_does_not() {
        let breaker = Breaker::default();
        for _ in 0..3 {
            for _ in 0..FAILURES_MAX - 1 {
                breaker.report(false, at(0));
            }
            breaker.report(true, at(0));
        }
        assert_eq!(breaker.state(at(0)), BreakerState::Closed);
        let breaker = opened();
        let refused = breaker.enter(at(10)).unwrap_err();
        assert!(refused.to_string().contains("20 seconds"), "{refused}");
    }

    #[test]
    fn one_probe_decides() {
        let breaker = opened();
        breaker.enter(at(29)).unwrap_err();
        breaker.enter(at(30)).unwrap();
        assert_eq!(breaker.state(at(30)), BreakerState::HalfOpen);
        breaker.enter(at(31)).unwrap_err();
        breaker.report(false, at(31));
        breaker.enter(at(60)).unwrap_err();
        breaker.enter(at(61)).unwrap();
        breaker.report(true, at(62));
        assert_eq!(breaker.state(at(62)), BreakerState::Closed);
        breaker.enter(at(62)).unwrap();
    }

    #[test]
    fn a_probe_that_never_came_back_does_not_block_for_ever() {
        let breaker = opened();
        breaker.enter(at(30)).unwrap();
        breaker.enter(at(30 + 599)).unwrap_err();
        breaker.enter(at(30 + 600)).unwrap();
    }
}
