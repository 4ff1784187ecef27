//! What a creation asks before it makes something: whether that was erased.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Digest, TombstoneKey, TombstoneKind};
use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::principal::{Action, Caller, refuse};
use crate::store::{Change, TombstoneChange};

/// The tombstones that a request meets. They act in the whole workspace, whatever the domain: what
/// was erased in one does not come back through another.
pub(crate) struct Graves<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    asked: bool,
    key: Option<TombstoneKey>,
    met: BTreeSet<(TombstoneKind, Digest)>,
    changes: Vec<Change>,
    refused: Option<Timestamp>,
}

impl<'a> Graves<'a> {
    pub(crate) fn new(mnemic: &'a Mnemic, caller: &'a Caller) -> Self {
        Self {
            mnemic,
            caller,
            asked: false,
            key: None,
            met: BTreeSet::new(),
            changes: Vec::new(),
            refused: None,
        }
    }

    /// Refuses a text that was erased, unless it is to be revived.
    pub(crate) async fn admit_text(&mut self, text: &str, revive: bool) -> Result<()> {
        let Some(key) = self.key().await? else { return Ok(()) };
        let digests = [key.of_text(text)?];
        self.admit(TombstoneKind::Memory, &digests, revive, |_| {
            "content: this text was erased".to_owned()
        })
        .await
    }

    /// Refuses names of nodes that were erased, unless they are to be revived.
    pub(crate) async fn admit_names(
        &mut self,
        channel: &str,
        node_type: &str,
        names: &[&str],
        revive: bool,
    ) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let Some(key) = self.key().await? else { return Ok(()) };
        let digests = names.iter().map(|name| key.of_name(channel, node_type, name));
        let digests = digests.collect::<Result<Vec<_>>>()?;
        let node_type = node_type.to_owned();
        self.admit(TombstoneKind::Node, &digests, revive, |place| {
            let name = names.get(place).copied().unwrap_or_default();
            format!("the node `{name}` of the type `{node_type}` was erased")
        })
        .await
    }

    /// Refuses a conversation that was erased, unless it is to be revived.
    pub(crate) async fn admit_conversation(&mut self, id: &str, revive: bool) -> Result<()> {
        let Some(key) = self.key().await? else { return Ok(()) };
        let digests = [key.of_subject(TombstoneKind::Conversation, id)?];
        let what = |_| format!("the conversation `{id}` was erased");
        self.admit(TombstoneKind::Conversation, &digests, revive, what).await
    }

    /// Refuses turns that were erased, unless they are to be revived: each as its place among
    /// those that are sent, the hash of its words, and whether it may. Where no turn of a
    /// conversation was erased, that is all that is asked.
    pub(crate) async fn admit_turns(
        &mut self,
        conversation: &str,
        turns: &[(usize, String, bool)],
    ) -> Result<()> {
        let Some(key) = self.key().await? else { return Ok(()) };
        let kind = TombstoneKind::Turn;
        let any = key.of_turn(conversation, None)?;
        let (store, scope) = (&self.mnemic.store, self.caller.scope());
        if store.find_tombstones(scope, kind, &[any]).await?.iter().all(Option::is_none) {
            let absent = TombstoneChange::Absent { kind, digest: any };
            self.changes.push(Change::Tombstone(absent));
            return Ok(());
        }
        for revive in [false, true] {
            let turns: Vec<_> = turns.iter().filter(|(.., revived)| *revived == revive).collect();
            let digests = turns.iter().map(|(_, hash, _)| key.of_turn(conversation, Some(hash)));
            let digests = digests.collect::<Result<Vec<_>>>()?;
            let what = |place: usize| {
                let place = turns.get(place).map_or(0, |(place, ..)| *place);
                format!("[{place}].content: these words of `{conversation}` were erased")
            };
            self.admit(kind, &digests, revive, what).await?;
        }
        Ok(())
    }

    /// When the last thing was erased that was refused.
    pub(crate) fn refused(&self) -> Option<Timestamp> {
        self.refused
    }

    /// What must still hold when the creation is committed, and the tombstones that are lifted.
    pub(crate) fn finish(self) -> Vec<Change> {
        self.changes
    }

    async fn key(&mut self) -> Result<Option<TombstoneKey>> {
        if !self.asked {
            self.key = self.mnemic.store.tombstone_key(self.caller.scope()).await?;
            if self.key.is_none() {
                self.changes.push(Change::Tombstone(TombstoneChange::NoneYet));
            }
            self.asked = true;
        }
        Ok(self.key.clone())
    }

    async fn admit(
        &mut self,
        kind: TombstoneKind,
        digests: &[Digest],
        revive: bool,
        what: impl Fn(usize) -> String + Send + Sync,
    ) -> Result<()> {
        let found = self.mnemic.store.find_tombstones(self.caller.scope(), kind, digests).await?;
        let first = found.iter().enumerate().find_map(|(i, at)| at.map(|at| (i, at)));
        if let (Some((place, at)), false) = (first, revive) {
            self.refused = Some(at);
            return Err(erased(&what(place), at));
        }
        if first.is_some()
            && let Some(error) = refuse(&self.caller.principal, action(kind))
        {
            return Err(Error::denied(format!("revive: {error}")));
        }
        for (digest, found) in digests.iter().zip(found) {
            let digest = *digest;
            // The same text may come twice in one request, and is lifted once.
            if self.met.insert((kind, digest)) {
                self.changes.push(Change::Tombstone(match found {
                    Some(_) => TombstoneChange::Lift { kind, digest },
                    None => TombstoneChange::Absent { kind, digest },
                }));
            }
        }
        Ok(())
    }
}

/// Who may revive is who may erase.
fn action(kind: TombstoneKind) -> Action {
    match kind {
        TombstoneKind::Node => Action::EraseGraph,
        TombstoneKind::Memory
        | TombstoneKind::Record
        | TombstoneKind::Conversation
        | TombstoneKind::Turn => Action::EraseMemories,
        TombstoneKind::User => Action::EraseUsers,
    }
}

fn erased(what: &str, at: Timestamp) -> Error {
    let detail = format!(
        "{what} at {at:.0}, and does not come back by itself: leave it out, or send \
         `revive: true`, which stores it all the same and needs the role admin or member"
    );
    Error::new(Code::Erased, detail)
}
