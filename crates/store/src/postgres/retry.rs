//! When the same is tried again: only after failures that certainly wrote nothing.

use std::time::{Duration, Instant};

use mnemic_core::Result;

use super::error::Failure;

/// A connection from the pool may have died unnoticed; so may the one after it, when the
/// database was restarted. Further ones are made anew.
const RECONNECTIONS_MAX: u32 = 2;
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_DOUBLINGS_MAX: u32 = 6;

/// How much more one operation puts up with.
pub(super) struct Patience {
    started: Instant,
    contention_timeout: Duration,
    contentions: u32,
    reconnections: u32,
}

impl Patience {
    pub(super) fn new(contention_timeout: Duration) -> Self {
        Self { started: Instant::now(), contention_timeout, contentions: 0, reconnections: 0 }
    }

    /// Waits until it is worth trying again, or gives the error back.
    pub(super) async fn endure(&mut self, failure: Failure) -> Result<()> {
        match failure {
            Failure::Contended(_) if self.started.elapsed() < self.contention_timeout => {
                let doublings = self.contentions.min(PAUSE_DOUBLINGS_MAX);
                self.contentions += 1;
                let longest = PAUSE_MIN * 2_u32.pow(doublings);
                // Whoever met once would meet again without an element of chance.
                let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
                tokio::time::sleep(longest.mul_f64(f64::from(chance) / f64::from(u32::MAX))).await;
                Ok(())
            }
            Failure::Disconnected(error) if self.reconnections < RECONNECTIONS_MAX => {
                self.reconnections += 1;
                tracing::info!(error = %error, "trying another connection to the database");
                Ok(())
            }
            failure => Err(failure.into_error()),
        }
    }
}
