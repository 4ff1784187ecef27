//! Lets go every night of patterns of which too little is left, and then writes down what each
//! active metric comes to. Measured again on the same day, it takes the place of what was there;
//! where nothing has changed, nothing is written.

use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;
use crate::store::Change;
use crate::workspace::Settings;

/// Patterns that are looked at together.
const PORTION: usize = 500;

pub(super) struct Benchmarks;

#[async_trait]
impl Job for Benchmarks {
    fn name(&self) -> &'static str {
        "benchmarks"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    fn is_nightly(&self) -> bool {
        true
    }

    /// Nothing is captured while memory is off, so there is nothing to measure by itself.
    fn is_scheduled(&self, settings: &Settings) -> bool {
        settings.memory.enabled
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let outstanding = mnemic.outstanding_benchmarks(scope).await?.len() as u64;
        Ok(count_lost(mnemic, scope).await? + outstanding)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let lost = mnemic.decay_patterns(claim).await?;
        let outstanding = mnemic.outstanding_benchmarks(claim.scope()).await?;
        let changed = lost + outstanding.len() as u64;
        let changes: Vec<_> = outstanding.into_iter().map(Change::PutBenchmark).collect();
        claim.commit(mnemic, changes).await?;
        Ok(Done::changed(changed))
    }
}

/// How many patterns would go.
async fn count_lost(mnemic: &Mnemic, scope: Scope) -> Result<u64> {
    let (now, mut after, mut lost) = (mnemic.clock.now(), None, 0);
    loop {
        let found = mnemic.store.list_fading_patterns(scope, now, after, PORTION).await?;
        let Some(last) = found.last() else { return Ok(lost) };
        after = Some(last.id);
        lost += found.iter().filter(|pattern| pattern.is_lost(now)).count() as u64;
    }
}
