//! Learns from conversations that have come to rest, or in which much was said.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{Claim, Done, Job, settings};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;
use crate::workspace::Settings;

/// Conversations in one run; the next one takes the next ones.
const CONVERSATIONS_MAX: usize = 200;

pub(super) struct Consolidate;

#[async_trait]
impl Job for Consolidate {
    fn name(&self) -> &'static str {
        "consolidate"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_mins(15))
    }

    fn is_scheduled(&self, settings: &Settings) -> bool {
        settings.learns()
    }

    /// Counts turns: what they will say is not known beforehand.
    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let waiting = waiting(mnemic, scope).await?;
        Ok(waiting.iter().map(|(_, turns)| turns).sum())
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let settings = settings(mnemic, claim.scope()).await?;
        let mut changed = 0;
        for (id, _) in waiting(mnemic, claim.scope()).await? {
            let found = mnemic.store.lookup_conversation(claim.scope(), &id).await?;
            // It was erased a moment ago.
            let Some(conversation) = found else { continue };
            let learned = mnemic.learn_claimed(claim, &conversation, &settings.extraction).await?;
            changed += learned.turns;
        }
        Ok(Done::changed(changed))
    }
}

async fn waiting(mnemic: &Mnemic, scope: Scope) -> Result<Vec<(String, u64)>> {
    let settings = settings(mnemic, scope).await?;
    if !settings.learns() {
        return Ok(vec![]);
    }
    let quiet = SignedDuration::from_mins(i64::from(settings.extraction.quiet_minutes));
    let since = mnemic.clock.now().checked_sub(quiet).unwrap_or(Timestamp::MIN);
    let turns = usize::try_from(settings.extraction.turns).unwrap_or(usize::MAX);
    mnemic.store.list_unlearned_conversations(scope, since, turns, CONVERSATIONS_MAX).await
}
