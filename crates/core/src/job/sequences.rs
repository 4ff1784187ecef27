//! Groups what agents did into sequences, and closes and counts those that have come to rest.

use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::error::{Code, Result};
use crate::principal::Scope;

/// How long grouping waits behind a capture, so that it is done once for many.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Sequences;

#[async_trait]
impl Job for Sequences {
    fn name(&self) -> &'static str {
        "sequences"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_mins(1))
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        mnemic.count_unsettled(scope).await
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let grouped = mnemic.group_actions(claim).await?;
        let closed = mnemic.close_sequences(claim).await?;
        Ok(Done::changed(grouped + closed))
    }
}

impl Mnemic {
    /// Groups actions a moment after they were captured, for as long as it is polled.
    pub async fn follow_actions(&self) {
        loop {
            self.kick.wait().await;
            tokio::time::sleep(PAUSE).await;
            for scope in self.kick.take() {
                self.group_soon(scope).await;
            }
        }
    }

    /// If another server is at it, or it fails, the schedule comes back to it.
    async fn group_soon(&self, scope: Scope) {
        let done = match self.claim(scope, Sequences.name(), None).await {
            Ok(Some(claim)) => self.run_claimed(&Sequences, claim).await.map(drop),
            Ok(None) => Ok(()),
            Err(e) => Err(e),
        };
        match done {
            // The workspace was deleted a moment ago.
            Err(e) if e.code() == Code::Conflict => {}
            Err(e) => tracing::warn!(error = %e, "actions could not be grouped; trying again"),
            Ok(()) => {}
        }
    }
}
