//! Users and conversations that are back although they were erased.
//!
//! Their names may be used again after an erasure, and nobody wanted what came of that to go. Only
//! what is as old as the erasure is erased again.

use jiff::Timestamp;
use uuid::Uuid;

use super::apply::{PORTION, erase};
use super::{Counts, TombstoneKey, TombstoneKind, add};
use crate::error::Result;
use crate::ids::{GoalId, InvocationId, MemoryId, MetricId, NodeId, StrategyId};
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
        let profile = store.find_profile(scope, &user).await?;
        let profile = profile.filter(|profile| profile.created_at <= erased_at);
        let profile = profile.map(|profile| Change::EraseProfile(profile.id));
        add(&mut counts, &erase(store, scope, profile.into_iter().collect()).await?);
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
    for (id, erased_at) in &buried {
        let goals = store.list_goals_of(scope, id, Some(*erased_at)).await?;
        let goals = goals.into_iter().map(Change::EraseGoal);
        add(&mut counts, &erase(store, scope, goals.collect()).await?);
    }
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

/// The changes that erase those of these records that are neither memories nor nodes.
pub(super) async fn owned_beside(
    store: &dyn Store,
    scope: Scope,
    ids: &[Uuid],
) -> Result<Vec<Change>> {
    let goals: Vec<_> = ids.iter().copied().map(GoalId).collect();
    let goals = store.lookup_goals(scope, &goals).await?.into_iter();
    let strategies: Vec<_> = ids.iter().copied().map(StrategyId).collect();
    let strategies = store.lookup_strategies(scope, &strategies).await?.into_iter();
    let calls: Vec<_> = ids.iter().copied().map(InvocationId).collect();
    let calls = store.lookup_invocations(scope, &calls).await?.into_iter();
    let metrics: Vec<_> = ids.iter().copied().map(MetricId).collect();
    let metrics = store.lookup_metrics(scope, &metrics).await?.into_iter();
    let pads = store.lookup_scratchpads(scope, ids).await?.into_iter();
    let changes = goals
        .map(|it| Change::EraseGoal(it.id))
        .chain(strategies.map(|it| Change::EraseStrategy { id: it.id, domain: it.domain }))
        .chain(calls.map(Change::EraseInvocation))
        .chain(metrics.map(|it| Change::EraseMetric(it.id)))
        .chain(pads.map(Change::EraseScratchpad));
    Ok(changes.collect())
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
            .chain(nodes.map(|it| Change::EraseNode { id: it.id, domain: it.domain }))
            .chain(owned_beside(store, scope, &ids).await?);
        add(&mut counts, &erase(store, scope, changes.collect()).await?);
    }
}
