//! Tombstones after rows came in past the rules: with a restored backup, or a raw import.
//!
//! These need a store and nothing else, so that a command can run them before any server does. A
//! backup from before an erasure lacks its tombstones, too: export those of the store that is
//! replaced, adopt them in the one that is restored, then apply them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Counts, Tombstone, TombstoneKey, TombstoneKind, add, subject};
use crate::error::{Code, Error, Result};
use crate::ids::{MemoryId, NodeId, TokenId, WorkspaceId};
use crate::page::Position;
use crate::principal::Scope;
use crate::store::{Change, Store, TombstoneChange};
use crate::token::Token;

/// Records that are looked at, and erased, at once.
pub(super) const PORTION: usize = 500;

/// What a tombstone reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The very records that were erased, in whatever version: after a backup was restored.
    /// Another record with the same text, which nobody erased, stays.
    Records,
    /// Also every memory with a text, and every node with a name, that was erased: after rows
    /// were imported under ids of their own.
    Texts,
}

/// Erases what a workspace holds although it was erased before; says how much that was.
pub async fn apply_tombstones(store: &dyn Store, scope: Scope, reach: Reach) -> Result<Counts> {
    let mut counts = Counts::new();
    let Some(key) = store.tombstone_key(scope).await? else { return Ok(counts) };
    let mut after = None;
    loop {
        let ids = store.list_memory_ids(scope, after, PORTION).await?;
        let Some(last) = ids.last().copied() else { break };
        let changes = buried_memories(store, scope, &key, reach, &ids).await?;
        add(&mut counts, &erase(store, scope, changes).await?);
        after = Some(last);
    }
    let mut after = None;
    loop {
        let ids = store.list_node_ids(scope, after, PORTION).await?;
        let Some(last) = ids.last().copied() else { break };
        let changes = buried_nodes(store, scope, &key, reach, &ids).await?;
        add(&mut counts, &erase(store, scope, changes).await?);
        after = Some(last);
    }
    add(&mut counts, &subject::erase_users(store, scope, &key).await?);
    add(&mut counts, &subject::erase_conversations(store, scope, &key).await?);
    if !counts.is_empty() {
        store.scrub().await;
    }
    Ok(counts)
}

/// The same for every workspace; those in which nothing was found are left out.
pub async fn apply_all_tombstones(
    store: &dyn Store,
    reach: Reach,
) -> Result<Vec<(WorkspaceId, Counts)>> {
    let mut all = Vec::new();
    for id in workspaces(store).await? {
        let counts = apply_tombstones(store, Scope::of_job(id), reach).await?;
        if !counts.is_empty() {
            all.push((id, counts));
        }
    }
    Ok(all)
}

/// The tombstones of a whole store, and which of its tokens hold no more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graveyard {
    pub plots: Vec<Plot>,
}

/// Those of one workspace, with the key that they are known by. One that never erased has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plot {
    pub workspace_id: WorkspaceId,
    pub key: Option<TombstoneKey>,
    pub tombstones: Vec<Tombstone>,
    #[serde(default)]
    pub revoked: Vec<Revoked>,
}

/// A token that holds no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    pub token_id: TokenId,
    pub at: Timestamp,
}

/// All tombstones and revocations, for a store that is to take the place of this one.
pub async fn export_tombstones(store: &dyn Store) -> Result<Graveyard> {
    let mut plots = Vec::new();
    for workspace_id in workspaces(store).await? {
        let scope = Scope::of_job(workspace_id);
        let key = store.tombstone_key(scope).await?;
        let tombstones = store.list_tombstones(scope).await?;
        let revoked = revoked(store, workspace_id).await?;
        if key.is_some() || !revoked.is_empty() {
            plots.push(Plot { workspace_id, key, tombstones, revoked });
        }
    }
    Ok(Graveyard { plots })
}

/// Takes over tombstones of workspaces that are here too; says how many. Tokens that were revoked
/// are again, before anything else, and none is valid that was not.
pub async fn adopt_tombstones(store: &dyn Store, graveyard: &Graveyard) -> Result<u64> {
    let here = workspaces(store).await?;
    let mut adopted = 0;
    let plots = || graveyard.plots.iter().filter(|plot| here.contains(&plot.workspace_id));
    for plot in plots() {
        revoke(store, plot).await?;
    }
    for plot in plots() {
        let Some(key) = &plot.key else { continue };
        let scope = Scope::of_job(plot.workspace_id);
        store.give_tombstone_key(scope, key).await?;
        if store.tombstone_key(scope).await?.as_ref() != Some(key) {
            let detail = format!(
                "the tombstones of the workspace {} were made with another key than its own, so \
                 they would be found by nobody; they are of another store",
                plot.workspace_id
            );
            return Err(Error::new(Code::Conflict, detail));
        }
        for portion in plot.tombstones.chunks(PORTION) {
            let changes =
                portion.iter().cloned().map(TombstoneChange::Set).map(Change::Tombstone).collect();
            store.commit(scope, changes).await?;
            adopted += portion.len() as u64;
        }
    }
    Ok(adopted)
}

/// Revokes what is valid here and was revoked there.
async fn revoke(store: &dyn Store, plot: &Plot) -> Result<()> {
    let revoked: BTreeMap<_, _> = plot.revoked.iter().map(|it| (it.token_id, it.at)).collect();
    if revoked.is_empty() {
        return Ok(());
    }
    for token in tokens(store, plot.workspace_id).await? {
        if let (None, Some(at)) = (token.revoked_at, revoked.get(&token.id)) {
            // Whether it is an operator's does not matter: somebody who may revoke it did.
            store.revoke_token(None, token.id, *at).await?;
        }
    }
    Ok(())
}

async fn revoked(store: &dyn Store, workspace_id: WorkspaceId) -> Result<Vec<Revoked>> {
    let tokens = tokens(store, workspace_id).await?;
    let revoked = |it: &Token| Some(Revoked { token_id: it.id, at: it.revoked_at? });
    Ok(tokens.iter().filter_map(revoked).collect())
}

async fn tokens(store: &dyn Store, workspace_id: WorkspaceId) -> Result<Vec<Token>> {
    let (mut tokens, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_tokens(Some(workspace_id), after, PORTION).await?;
        let Some(last) = page.last() else { return Ok(tokens) };
        after = Some(Position::After(last.id.0));
        tokens.extend(page);
    }
}

async fn workspaces(store: &dyn Store) -> Result<Vec<WorkspaceId>> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_workspaces(after, PORTION).await?;
        let Some(last) = page.last() else { return Ok(ids) };
        after = Some(Position::After(last.id.0));
        ids.extend(page.iter().map(|workspace| workspace.id));
    }
}

pub(super) async fn erase(store: &dyn Store, scope: Scope, changes: Vec<Change>) -> Result<Counts> {
    if changes.is_empty() {
        return Ok(Counts::new());
    }
    store.commit_counted(scope, changes, Box::new(|_| Ok(vec![]))).await
}

/// Which of these records were erased.
async fn buried(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
    ids: impl Iterator<Item = Uuid>,
) -> Result<Vec<bool>> {
    let digests = ids.map(|id| key.of_record(id)).collect::<Result<Vec<_>>>()?;
    let found = store.find_tombstones(scope, TombstoneKind::Record, &digests).await?;
    Ok(found.iter().map(Option::is_some).collect())
}

async fn buried_memories(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
    reach: Reach,
    ids: &[MemoryId],
) -> Result<Vec<Change>> {
    let memories = store.lookup_memories(scope, ids).await?;
    let mut erased = buried(store, scope, key, memories.iter().map(|memory| memory.id.0)).await?;
    if reach == Reach::Texts {
        let texts = memories.iter().map(|memory| key.of_text(&memory.content));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let found = store.find_tombstones(scope, TombstoneKind::Memory, &texts).await?;
        for (erased, found) in erased.iter_mut().zip(found) {
            *erased |= found.is_some();
        }
    }
    let erased = memories.into_iter().zip(erased).filter(|(_, erased)| *erased);
    Ok(erased.map(|(m, _)| Change::EraseMemory { id: m.id, domain: m.domain }).collect())
}

/// A node goes by its own name. An alias alone may have become another's.
async fn buried_nodes(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
    reach: Reach,
    ids: &[NodeId],
) -> Result<Vec<Change>> {
    let nodes = store.lookup_nodes(scope, ids).await?;
    let mut erased = buried(store, scope, key, nodes.iter().map(|node| node.id.0)).await?;
    if reach == Reach::Texts {
        let names =
            nodes.iter().map(|node| key.of_name(&node.channel, &node.node_type, &node.name));
        let names = names.collect::<Result<Vec<_>>>()?;
        let found = store.find_tombstones(scope, TombstoneKind::Node, &names).await?;
        for (erased, found) in erased.iter_mut().zip(found) {
            *erased |= found.is_some();
        }
    }
    let erased = nodes.into_iter().zip(erased).filter(|(_, erased)| *erased);
    Ok(erased.map(|(n, _)| Change::EraseNode { id: n.id, domain: n.domain }).collect())
}
