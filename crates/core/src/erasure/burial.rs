//! Setting tombstones for what an erasure removes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Digest, Receipt, Tombstone, TombstoneKey, TombstoneKind};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::node::Node;
use crate::principal::{Caller, Principal, Scope};
use crate::store::{Change, Store, TombstoneChange};

/// The changes that erase records and bury them, while they are gathered.
pub(crate) struct Burial<'a> {
    mnemic: &'a Mnemic,
    principal: &'a Principal,
    key: TombstoneKey,
    erased: BTreeSet<Uuid>,
    stones: BTreeSet<(TombstoneKind, Digest)>,
    changes: Vec<Change>,
}

impl<'a> Burial<'a> {
    pub(crate) async fn begin(mnemic: &'a Mnemic, caller: &'a Caller) -> Result<Self> {
        let key = own_key(&*mnemic.store, caller.scope()).await?;
        Ok(Self {
            mnemic,
            principal: &caller.principal,
            key,
            erased: BTreeSet::new(),
            stones: BTreeSet::new(),
            changes: Vec::new(),
        })
    }

    /// Erases a memory and what was promoted from it, and keeps their text from coming back.
    pub(crate) async fn memory(&mut self, memory: Memory) -> Result<()> {
        let scope = self.principal.scope();
        let copies = self.mnemic.store.list_copies(scope, memory.id).await?;
        let copies = self.mnemic.store.lookup_memories(scope, &copies).await?;
        if copies.iter().any(|copy| !self.principal.may_read(copy)) {
            return Err(Error::denied(format!(
                "the role `{}` may not erase all copies of the memory: that needs the permission \
                 `write` for the domain of every copy",
                self.principal.role
            )));
        }
        for Memory { id, domain, content, .. } in copies.into_iter().chain([memory]) {
            if self.erased.insert(id.0) {
                self.stones.insert((TombstoneKind::Memory, self.key.of_text(&content)?));
                self.record(id.0)?;
                self.changes.push(Change::EraseMemory { id, domain });
            }
        }
        Ok(())
    }

    /// Erases a memory that has gone stale. It may be learned again: nobody wanted it to be
    /// unknown.
    pub(crate) fn stale(&mut self, memory: Memory, before: Timestamp) -> Result<()> {
        let Memory { id, domain, .. } = memory;
        self.record(id.0)?;
        self.changes.push(Change::EraseStale { id, domain, before });
        Ok(())
    }

    /// Erases a node, and keeps its names from coming back.
    pub(crate) fn node(&mut self, node: Node) -> Result<()> {
        if self.erased.insert(node.id.0) {
            for name in self.key.of_names(&node)? {
                self.stones.insert((TombstoneKind::Node, name));
            }
            self.record(node.id.0)?;
            self.changes.push(Change::EraseNode { id: node.id, domain: node.domain });
        }
        Ok(())
    }

    /// Erases what has no tombstone of its own. After a backup was restored it goes again with its
    /// user or conversation.
    pub(crate) fn other(&mut self, change: Change) {
        if change.record().is_none_or(|id| self.erased.insert(id)) {
            self.changes.push(change);
        }
    }

    /// Keeps a record from coming back with a backup.
    pub(crate) fn record(&mut self, id: Uuid) -> Result<()> {
        self.stones.insert((TombstoneKind::Record, self.key.of_record(id)?));
        Ok(())
    }

    /// Keeps what was a user's, or of a conversation, from coming back with a backup.
    pub(crate) fn subject(&mut self, kind: TombstoneKind, name: &str) -> Result<()> {
        self.stones.insert((kind, self.key.of_subject(kind, name)?));
        Ok(())
    }

    /// Keeps words of a conversation from being said in it again.
    pub(crate) fn turn(&mut self, conversation: &str, hash: &str) -> Result<()> {
        for hash in [None, Some(hash)] {
            self.stones.insert((TombstoneKind::Turn, self.key.of_turn(conversation, hash)?));
        }
        Ok(())
    }

    /// The changes. The receipt counts the tombstones among them and shares its time with them.
    pub(crate) fn finish(self, receipt: &mut Receipt) -> Vec<Change> {
        let Self { principal, stones, mut changes, .. } = self;
        receipt.tombstones += stones.len() as u64;
        let (erased_at, erased_by) = (receipt.erased_at, principal.token_id);
        changes.extend(stones.into_iter().map(|(kind, digest)| {
            let stone = Tombstone { kind, digest, erased_at, erased_by };
            Change::Tombstone(TombstoneChange::Set(stone))
        }));
        changes
    }
}

/// The key of a workspace; its first erasure makes one.
async fn own_key(store: &dyn Store, scope: Scope) -> Result<TombstoneKey> {
    if let Some(key) = store.tombstone_key(scope).await? {
        return Ok(key);
    }
    store.give_tombstone_key(scope, &TombstoneKey::generate()?).await?;
    // Somebody else's may have been first, and is the one that holds.
    store.tombstone_key(scope).await?.ok_or_else(|| Error::not_found("workspace"))
}

impl Mnemic {
    /// Whether any of these texts was erased.
    pub(crate) async fn erased_texts(&self, scope: Scope, texts: &[&str]) -> Result<Vec<bool>> {
        let Some(key) = self.store.tombstone_key(scope).await? else {
            return Ok(vec![false; texts.len()]);
        };
        let digests = texts.iter().map(|text| key.of_text(text)).collect::<Result<Vec<_>>>()?;
        let found = self.store.find_tombstones(scope, TombstoneKind::Memory, &digests).await?;
        Ok(found.iter().map(Option::is_some).collect())
    }
}
