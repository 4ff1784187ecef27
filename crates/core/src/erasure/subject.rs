//! Users and conversations that are back although they were erased.
//!
//! Their names may be used again after an erasure, and nobody wanted what came of that to go. Only
//! what is as old as the erasure is erased again.

use jiff::Timestamp;

use super::apply::{PORTION, erase};
use super::{Counts, TombstoneKey, TombstoneKind, add};
use crate::error::Result;
use crate::ids::{MemoryId, NodeId};
use crate::principal::Scope;
use crate::store::{Change, Store};

/// Erases again what is an erased user's.
pub(super) async fn erase_users(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
) -> Result<Counts> {
    let mut counts = Counts::new();
    let users = store.list_users(scope).await?;
    for (user, erased_at) in buried(store, scope, key, TombstoneKind::User, users).await? {
        add(&mut counts, &erase_owned(store, scope, &user, erased_at).await?);
        let until = Some(erased_at);
        let tokens = store.tokens_of_user(scope, &user, until).await?;
        let tokens = tokens.into_iter().map(|(id, _)| id).collect();
        let change = Change::EraseUser { user, tokens, at: erased_at, until };
        add(&mut counts, &erase(store, scope, vec![change]).await?);
    }
    Ok(counts)
}

/// Erases again what there is of an erased conversation.
pub(super) async fn erase_conversations(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
) -> Result<Counts> {
    let mut counts = Counts::new();
    let ids = store.list_conversation_ids(scope).await?;
    let buried = buried(store, scope, key, TombstoneKind::Conversation, ids).await?;
    for portion in buried.chunks(PORTION) {
        let changes = portion.iter().map(|(id, erased_at)| Change::EraseConversation {
            id: id.clone(),
            until: Some(*erased_at),
        });
        add(&mut counts, &erase(store, scope, changes.collect()).await?);
    }
    Ok(counts)
}

/// Which of these were erased, and when.
async fn buried(
    store: &dyn Store,
    scope: Scope,
    key: &TombstoneKey,
    kind: TombstoneKind,
    names: Vec<String>,
) -> Result<Vec<(String, Timestamp)>> {
    let mut buried = Vec::new();
    for portion in names.chunks(PORTION) {
        let digests = portion.iter().map(|name| key.of_subject(kind, name));
        let digests = digests.collect::<Result<Vec<_>>>()?;
        let found = store.find_tombstones(scope, kind, &digests).await?;
        let erased = portion.iter().zip(found);
        buried.extend(erased.filter_map(|(name, at)| Some((name.clone(), at?))));
    }
    Ok(buried)
}

async fn erase_owned(
    store: &dyn Store,
    scope: Scope,
    user: &str,
    until: Timestamp,
) -> Result<Counts> {
    let mut counts = Counts::new();
    loop {
        let ids = store.list_owned(scope, user, Some(until), PORTION).await?;
        if ids.is_empty() {
            return Ok(counts);
        }
        let memories: Vec<_> = ids.iter().copied().map(MemoryId).collect();
        let nodes: Vec<_> = ids.iter().copied().map(NodeId).collect();
        let memories = store.lookup_memories(scope, &memories).await?.into_iter();
        let nodes = store.lookup_nodes(scope, &nodes).await?.into_iter();
        let changes = memories
            .map(|it| Change::EraseMemory { id: it.id, domain: it.domain })
            .chain(nodes.map(|it| Change::EraseNode { id: it.id, domain: it.domain }));
        add(&mut counts, &erase(store, scope, changes.collect()).await?);
    }
}
