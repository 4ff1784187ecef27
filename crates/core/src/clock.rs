//! Time and randomness come from outside, so that tests decide what "now" is and what an id is.

use std::sync::Mutex;

use jiff::Timestamp;
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
    fn ids_grow_within_one_instant_and_over_time() {
        let ids = IdSource::default();
        let now = SystemClock.now();
        let made: Vec<_> = (0..1000).map(|_| ids.next(now)).collect();
        assert!(made.is_sorted());
        assert!(made.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
