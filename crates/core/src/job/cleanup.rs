//! Removes what is past its time: answers kept for idempotency keys, and slots. Archives
//! conversations in which nothing is said any more, and hides entities that faded away.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::answer::ANSWER_HOURS;
use crate::conversation::Conversation;
use crate::error::{Code, Result};
use crate::ids::NodeId;
use crate::node::hidden;
use crate::principal::Scope;
use crate::store::Change;

/// A conversation is archived so long after the last words in it.
const ARCHIVED_DAYS: i64 = 90;
/// An entity that is less salient goes …
const SALIENCE_MIN: f64 = 0.1;
/// … so long after anybody has looked at it.
const FORGOTTEN_DAYS: i64 = 30;
/// Records that are looked at together.
const PORTION: usize = 200;

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
        let mut count = mnemic.store.count_answers(scope, outdated(mnemic)).await?;
        let mut after = None;
        loop {
            let dormant = dormant(mnemic, scope, after).await?;
            let Some(last) = dormant.last() else { break };
            after = Some(last.key);
            count += dormant.len() as u64;
        }
        let mut after = None;
        loop {
            let forgotten = forgotten(mnemic, scope, after).await?;
            let Some(last) = forgotten.last() else { return Ok(count) };
            after = Some(*last);
            count += forgotten.len() as u64;
        }
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        mnemic.slots.slots.sweep(mnemic.clock.now()).await;
        let dropped = mnemic.store.drop_answers(claim.scope(), outdated(mnemic)).await?;
        let archived = archive(mnemic, claim).await?;
        let hidden = hide(mnemic, claim).await?;
        Ok(Done::changed(dropped + archived + hidden))
    }
}

async fn archive(mnemic: &Mnemic, claim: &Claim) -> Result<u64> {
    let (mut after, mut archived) = (None, 0);
    loop {
        let dormant = dormant(mnemic, claim.scope(), after).await?;
        let Some(last) = dormant.last() else { return Ok(archived) };
        after = Some(last.key);
        for mut conversation in dormant {
            let now = Some(mnemic.clock.now());
            conversation.archived_at = now;
            conversation.revision += 1;
            let turns = Change::PutAwayTurns { conversation: conversation.id.clone(), at: now };
            let changes = vec![Change::UpdateConversation(conversation), turns];
            archived += u64::from(unless_outdated(claim.commit(mnemic, changes).await)?);
        }
    }
}

async fn hide(mnemic: &Mnemic, claim: &Claim) -> Result<u64> {
    let (mut after, mut gone) = (None, 0);
    loop {
        let forgotten = forgotten(mnemic, claim.scope(), after).await?;
        let Some(last) = forgotten.last() else { return Ok(gone) };
        after = Some(*last);
        for node in mnemic.store.lookup_nodes(claim.scope(), &forgotten).await? {
            let (id, now) = (node.id, mnemic.clock.now());
            let changes = vec![
                // A memory about it, or somebody who looked at it, may have come meanwhile.
                Change::RequireForgotten {
                    id,
                    salience: SALIENCE_MIN,
                    accessed: before(mnemic, FORGOTTEN_DAYS),
                },
                hidden(node, now),
                Change::CloseEdgesOf { id: id.0, at: now },
            ];
            gone += u64::from(unless_outdated(claim.commit(mnemic, changes).await)?);
        }
    }
}

/// What somebody changed meanwhile is left for the next run.
fn unless_outdated(outcome: Result<()>) -> Result<bool> {
    match outcome {
        Err(e) if e.code() == Code::Stale => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

async fn dormant(
    mnemic: &Mnemic,
    scope: Scope,
    after: Option<uuid::Uuid>,
) -> Result<Vec<Conversation>> {
    let before = before(mnemic, ARCHIVED_DAYS);
    mnemic.store.list_dormant_conversations(scope, before, after, PORTION).await
}

async fn forgotten(mnemic: &Mnemic, scope: Scope, after: Option<NodeId>) -> Result<Vec<NodeId>> {
    let before = before(mnemic, FORGOTTEN_DAYS);
    mnemic.store.list_forgotten_nodes(scope, SALIENCE_MIN, before, after, PORTION).await
}

fn before(mnemic: &Mnemic, days: i64) -> Timestamp {
    let age = SignedDuration::from_hours(24 * days);
    mnemic.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN)
}

fn outdated(mnemic: &Mnemic) -> Timestamp {
    let age = SignedDuration::from_hours(ANSWER_HOURS);
    mnemic.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN)
}
