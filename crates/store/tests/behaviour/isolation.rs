//! Isolation: another workspace's id is, to every operation, an id that nobody ever gave out.

use std::future::Future;
use std::pin::Pin;

use mnemic_core::ids::{MemoryId, TokenId};
use mnemic_core::memory::{MemoryFilter, MemoryPatch, NewMemory, Purge};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::recall::{RecallRequest, Technique};
use mnemic_core::{Mnemic, Result};
use uuid::Uuid;

use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{DAY, World, by, ids, query, seen, text};

type Attempt = for<'a> fn(
    &'a Mnemic,
    &'a Caller,
    Uuid,
) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

macro_rules! attempts {
    ($(|$mnemic:ident, $caller:ident, $id:ident| $attempt:expr;)*) => {
        &[$((stringify!($attempt), |$mnemic, $caller, $id| {
            Box::pin(async move { $attempt.await.map(drop) })
        }),)*]
    };
}

/// Every operation that takes an id.
const ATTEMPTS: &[(&str, Attempt)] = attempts![
    |m, caller, id| m.get_memory(&caller.principal, MemoryId(id));
    |m, caller, id| m.update_memory(caller, MemoryId(id), &MemoryPatch::default());
    |m, caller, id| m.promote_memory(caller, MemoryId(id));
    |m, caller, id| m.pin_memory(caller, MemoryId(id), true);
    |m, caller, id| m.weight_memory(caller, MemoryId(id), 1.0);
    |m, caller, id| m.forget_memory(caller, MemoryId(id));
    |m, caller, id| m.restore_memory(caller, MemoryId(id));
    |m, caller, id| m.erase_memory(caller, MemoryId(id));
    |m, caller, id| m.supersede_memory(caller, MemoryId(id), "mine now".to_owned());
    |m, caller, id| m.create_memory(caller, over(id));
    |m, caller, id| m.create_memories(caller, vec![text("mine"), over(id)]);
    |m, caller, id| m.revoke_token(&caller.principal, TokenId(id));
    |m, caller, id| m.delete_workspace(
        &caller.principal, mnemic_core::ids::WorkspaceId(id), false);
    |m, caller, id| m.delete_workspace(
        &caller.principal, mnemic_core::ids::WorkspaceId(id), true);
];

pub(crate) async fn another_workspaces_id_is_like_one_that_never_was(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let theirs = w.remember(&globex, "theirs").await;
    let deleted = w.remember(&globex, "theirs, deleted").await;
    w.mnemic.forget_memory(&Caller::new(globex.clone()), deleted.id).await.unwrap();
    let caller = Caller::new(acme.clone());
    let foreign = [
        theirs.id.0,
        deleted.id.0,
        globex.token_id.0,
        globex.workspace_id.0,
        w.operator.token_id.0,
    ];
    for (name, attempt) in ATTEMPTS {
        let unknown = seen(attempt(&w.mnemic, &caller, Uuid::now_v7()).await);
        assert!(unknown.0 == "not_found", "{name}: {unknown:?}");
        for id in foreign {
            assert_eq!(seen(attempt(&w.mnemic, &caller, id).await), unknown, "{name}");
        }
    }
    assert_eq!(w.get(&globex, theirs.id).await, theirs, "untouched");
    w.mnemic.own_workspace(&globex).await.unwrap();
    assert!(w.list(&acme, &MemoryFilter::default()).await.is_empty());
}

pub(crate) async fn what_replaces_a_memory_cannot_be_anothers(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let (mine, theirs) = (w.remember(&acme, "mine").await, w.remember(&globex, "theirs").await);
    let by = async |id: MemoryId| {
        let patch = MemoryPatch { superseded_by: Some(id), ..MemoryPatch::default() };
        seen(w.mnemic.update_memory(&Caller::new(acme.clone()), mine.id, &patch).await)
    };
    assert_eq!(by(theirs.id).await, by(MemoryId(Uuid::now_v7())).await);
    assert!(w.get(&acme, mine.id).await.is_live());
}

pub(crate) async fn a_purge_does_not_reach_another_workspace(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let (mine, theirs) = (w.remember(&acme, "old").await, w.remember(&globex, "old").await);
    w.clock.forward(DAY * 91);
    let stale = w.mnemic.stale_memories(&acme, None, &PageRequest::default()).await.unwrap();
    assert_eq!(ids(&stale.items), [mine.id]);
    let purge = Purge { ids: Some(vec![mine.id, theirs.id]), ..Purge::default() };
    let purged = w.mnemic.purge_memories(&Caller::new(acme), &purge).await.unwrap();
    assert_eq!(purged.ids, [mine.id]);
    w.get(&globex, theirs.id).await;
}

pub(crate) async fn the_same_texts_in_two_workspaces_never_mix(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let mut made: [Vec<MemoryId>; 2] = [vec![], vec![]];
    for number in 0..10 {
        for (side, who) in [&acme, &globex].into_iter().enumerate() {
            made[side].push(w.remember(who, &format!("umbrella number {number}")).await.id);
        }
    }
    for who in [&acme, &globex] {
        all_have_vectors(&w, who).await;
    }
    for _ in 0..2 {
        for (who, expected) in [(&acme, &made[0]), (&globex, &made[1])] {
            assert_eq!(&sorted(ids(&w.list(who, &MemoryFilter::default()).await)), expected);
            assert_eq!(&sorted(ids(&w.search(who, "umbrella").await)), expected);
            for technique in [Technique::Words, Technique::Vectors] {
                assert_eq!(&recalled(&w, who, technique).await, expected, "{technique:?}");
            }
        }
        w = w.reopen().await;
        w.embed_with(HashModel::new("small")).await;
    }
    w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap();
    assert_eq!(recalled(&w, &globex, Technique::Words).await, made[1]);
    let settings = serde_json::json!({"memory": {"enabled": false}});
    w.mnemic.update_settings(&globex, &settings).await.unwrap();
    assert!(w.mnemic.own_workspace(&w.operator).await.unwrap().settings.memory.enabled);
}

pub(crate) async fn a_cursor_opens_no_other_workspace(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    for who in [&acme, &globex] {
        for number in 0..3 {
            w.remember(who, &format!("{number}")).await;
        }
    }
    let filter = MemoryFilter::default();
    let first = PageRequest { limit: Some(1), cursor: None };
    let page = w.mnemic.list_memories(&globex, &filter, None, &first).await.unwrap();
    let next = PageRequest { limit: None, cursor: page.next_cursor };
    let page = w.mnemic.list_memories(&acme, &filter, None, &next).await.unwrap();
    let own = ids(&w.list(&acme, &filter).await);
    assert!(ids(&page.items).iter().all(|id| own.contains(id)));
    assert!(w.found(&acme, &query("nothing")).await.is_empty());
}

fn over(id: Uuid) -> NewMemory {
    NewMemory { supersedes: Some(MemoryId(id)), ..text("mine now") }
}

async fn recalled(w: &World, who: &Principal, technique: Technique) -> Vec<MemoryId> {
    let request = RecallRequest { limit: Some(100), ..by(technique, "umbrella number") };
    let bundle = w.recall(who, &request).await;
    sorted(bundle.items.iter().map(|item| item.memory.id).collect())
}

fn sorted(mut ids: Vec<MemoryId>) -> Vec<MemoryId> {
    ids.sort_unstable();
    ids
}
