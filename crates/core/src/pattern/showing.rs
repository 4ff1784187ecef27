//! What was shown to whom, and whether what it warned of happened then.
//!
//! A warning counts once for a sequence: while it waits to be settled, showing it again is the same
//! showing. It is settled when the sequence that follows it has ended, also for sessions that were
//! held out: those show what happens untold.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{Count, Difference, PatternKey, ShownPattern, difference};
use crate::Mnemic;
use crate::error::Result;
use crate::ids::{PatternId, SequenceId};
use crate::job::Claim;
use crate::principal::Scope;
use crate::sequence::GAP;
use crate::store::Change;

/// Showings that are settled together.
const PORTION: usize = 200;
/// After so long a session that did nothing is not waited for.
const PATIENCE: SignedDuration = SignedDuration::from_mins(15);

/// A warning that a session was shown, or would have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Showing {
    pub id: Uuid,
    pub pattern_id: PatternId,
    pub key: PatternKey,
    pub session_id: String,
    pub held_out: bool,
    pub at: Timestamp,
}

/// The sequence behind a showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aftermath {
    pub sequence_id: SequenceId,
    /// Whether it has ended.
    pub closed: bool,
    /// Whether what was warned of happened in it, behind the showing.
    pub failed: bool,
}

/// What telling does: of sequences that were warned, and of those that would have been, how many
/// went without what was warned of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    pub shown: Count,
    pub held_out: Count,
}

impl Effect {
    /// By how much more often it was avoided where it was told; nothing without a comparison.
    pub fn difference(self) -> Option<Difference> {
        difference(self.shown, self.held_out)
    }
}

impl Mnemic {
    pub(super) async fn note_showings(
        &self,
        scope: Scope,
        session: &str,
        patterns: &[ShownPattern],
        held_out: bool,
    ) -> Result<()> {
        let warnings: Vec<_> = patterns.iter().filter(|it| it.pattern.is_warning()).collect();
        if warnings.is_empty() {
            return Ok(());
        }
        let waiting: HashSet<_> =
            self.store.list_waiting_showings(scope, session).await?.into_iter().collect();
        let now = self.clock.now();
        let fresh = warnings.into_iter().filter(|it| !waiting.contains(&it.pattern.key));
        let changes: Vec<_> = fresh
            .map(|it| {
                Change::AddShowing(Showing {
                    id: self.ids.next(now),
                    pattern_id: it.pattern.id,
                    key: it.pattern.key.clone(),
                    session_id: session.to_owned(),
                    held_out,
                    at: now,
                })
            })
            .collect();
        if changes.is_empty() { Ok(()) } else { self.store.commit(scope, changes).await }
    }

    /// Says of every showing whose sequence has ended what came of it; how many those are.
    pub(crate) async fn settle_showings(&self, claim: &Claim) -> Result<u64> {
        let (now, mut after, mut settled) = (self.clock.now(), None, 0);
        let before = now.checked_sub(GAP).unwrap_or(Timestamp::MIN);
        loop {
            let open = self.store.list_unsettled(claim.scope(), before, after, PORTION).await?;
            let Some(last) = open.last() else { return Ok(settled) };
            after = Some(last.id);
            let mut changes = Vec::new();
            for showing in &open {
                changes.extend(self.settled(claim.scope(), showing, now).await?);
            }
            settled += changes.len() as u64;
            if !changes.is_empty() {
                claim.commit(self, changes).await?;
            }
        }
    }

    async fn settled(
        &self,
        scope: Scope,
        showing: &Showing,
        now: Timestamp,
    ) -> Result<Option<Change>> {
        let until = showing.at.checked_add(GAP).unwrap_or(Timestamp::MAX);
        let outcome = match self.store.find_aftermath(scope, showing, until).await? {
            Some(aftermath) if !aftermath.closed => return Ok(None),
            Some(aftermath) => Some((aftermath.sequence_id, !aftermath.failed)),
            None if now.duration_since(showing.at) <= PATIENCE => return Ok(None),
            // Nothing was done behind it, so that nothing can be said of it.
            None => None,
        };
        Ok(Some(Change::SettleShowing { id: showing.id, outcome, at: now }))
    }
}
