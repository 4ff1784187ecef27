//! Removes what is past its time: answers kept for idempotency keys, and slots.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::answer::ANSWER_HOURS;
use crate::error::Result;
use crate::principal::Scope;

pub(super) struct Cleanup;

#[async_trait]
impl Job for Cleanup {
    fn name(&self) -> &'static str {
        "cleanup"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(24))
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        mnemic.store.count_answers(scope, outdated(mnemic)).await
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        mnemic.slots.slots.sweep(mnemic.clock.now()).await;
        let dropped = mnemic.store.drop_answers(claim.scope(), outdated(mnemic)).await?;
        Ok(Done::changed(dropped))
    }
}

fn outdated(mnemic: &Mnemic) -> Timestamp {
    let age = SignedDuration::from_hours(ANSWER_HOURS);
    mnemic.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN)
}
