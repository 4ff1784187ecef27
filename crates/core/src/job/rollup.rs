//! Rolls old turns of every conversation up into episodes, where the workspace wants it done by
//! itself, or when it is called for.

use async_trait::async_trait;
use jiff::SignedDuration;

use super::{Claim, Done, Job, settings};
use crate::Mnemic;
use crate::conversation::RollUp;
use crate::error::Result;
use crate::principal::Scope;
use crate::workspace::{RollupSettings, Settings};

/// Conversations that are looked at together.
const PORTION: usize = 100;

pub(super) struct Rollup;

#[async_trait]
impl Job for Rollup {
    fn name(&self) -> &'static str {
        "rollup"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    fn is_scheduled(&self, settings: &Settings) -> bool {
        settings.rollup.enabled
    }

    /// Counts the turns that would go.
    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let wish = wish(&settings(mnemic, scope).await?.rollup);
        let (retain, mut after, mut turns) = (retained(wish), None, 0);
        loop {
            let found = mnemic.store.list_long_conversations(scope, retain, after, PORTION).await?;
            let Some(last) = found.last() else { return Ok(turns) };
            after = Some(last.key);
            for conversation in &found {
                turns += mnemic.count_old_turns(scope, conversation, wish).await?;
            }
        }
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let (settings, scope) = (settings(mnemic, claim.scope()).await?, claim.scope());
        let (wish, learns) = (wish(&settings.rollup), settings.learns());
        let (retain, mut after, mut made) = (retained(wish), None, 0);
        loop {
            let found = mnemic.store.list_long_conversations(scope, retain, after, PORTION).await?;
            let Some(last) = found.last() else { return Ok(Done::changed(made)) };
            after = Some(last.key);
            for conversation in &found {
                if mnemic.count_old_turns(scope, conversation, wish).await? == 0 {
                    continue;
                }
                // What goes has been learned from before.
                if learns {
                    mnemic.learn_claimed(claim, conversation, &settings.extraction).await?;
                }
                made += mnemic.roll_up_claimed(claim, &conversation.id, wish, learns).await?;
            }
        }
    }
}

fn wish(settings: &RollupSettings) -> RollUp {
    RollUp {
        retain_last: usize::try_from(settings.retain_last).ok(),
        max_age_days: Some(settings.max_age_days),
    }
}

fn retained(wish: RollUp) -> i64 {
    wish.retain_last.and_then(|retain| i64::try_from(retain).ok()).unwrap_or(0)
}
