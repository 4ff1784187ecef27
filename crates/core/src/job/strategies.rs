//! Learns strategies from conversations in which tools were called and that have come to rest.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{Claim, Done, Job, settings};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;
use crate::workspace::Settings;

/// Conversations in one run; the next one takes the next ones.
const CONVERSATIONS_MAX: usize = 200;

pub(super) struct Strategies;

#[async_trait]
impl Job for Strategies {
    fn name(&self) -> &'static str {
        "strategies"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(1))
    }

    fn is_scheduled(&self, settings: &Settings) -> bool {
        settings.learns()
    }

    /// Counts conversations: whether they teach anything is not known beforehand.
    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        Ok(waiting(mnemic, scope).await?.len() as u64)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let mut changed = 0;
        for conversation in waiting(mnemic, claim.scope()).await? {
            mnemic.learn_from_calls(claim, &conversation).await?;
            changed += 1;
        }
        Ok(Done::changed(changed))
    }
}

async fn waiting(mnemic: &Mnemic, scope: Scope) -> Result<Vec<String>> {
    let settings = settings(mnemic, scope).await?;
    if !settings.learns() {
        return Ok(vec![]);
    }
    let quiet = SignedDuration::from_mins(i64::from(settings.extraction.quiet_minutes));
    let since = mnemic.clock.now().checked_sub(quiet).unwrap_or(Timestamp::MIN);
    mnemic.store.list_conversations_of_calls(scope, since, CONVERSATIONS_MAX).await
}
