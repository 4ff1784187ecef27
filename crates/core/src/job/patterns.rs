//! Settles what came of warnings, and mines patterns wherever counts have changed.

use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Claim, Done, Job, settings};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;

pub(super) struct Patterns;

#[async_trait]
impl Job for Patterns {
    fn name(&self) -> &'static str {
        "patterns"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_mins(15))
    }

    /// Counts the pairs of action and node type that would be looked at.
    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        mnemic.count_unmined(scope).await
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let settings = settings(mnemic, claim.scope()).await?.telemetry;
        let settled = mnemic.settle_showings(claim).await?;
        let mined = mnemic.mine_patterns(claim, &settings).await?;
        Ok(Done::changed(settled + mined))
    }
}
