//! Supersession: chains with one live head, without circles, kept for audit.

use mnemic_core::Code;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Kind, Memory, MemoryFilter, MemoryPatch, NewMemory};
use mnemic_core::principal::Caller;
use mnemic_store::{Statement, values};
use uuid::Uuid;

use crate::world::{DAY, World, at_once, fact, ids, query, seen, text};

static EDGES: Statement = Statement::workspace(
    "test.supersedes",
    "SELECT count(*) AS rows FROM edges
     WHERE workspace_id = $1 AND source_id = $2 AND target_id = $3 AND relation = 'SUPERSEDES'",
);

pub(crate) async fn the_old_one_leaves_recall_but_stays_for_audit(w: World) {
    let old = w.create(&w.operator, fact("the capital is Bonn")).await.unwrap();
    w.clock.forward(DAY);
    let new = replace(&w, old.id, fact("the capital is Berlin")).await.unwrap();
    let old = w.get(&w.operator, old.id).await;
    assert_eq!((old.superseded_by, old.superseded_at), (Some(new.id), Some(w.now())));
    assert_eq!(w.found(&w.operator, &query("capital")).await, ["the capital is Berlin"]);
    assert_eq!(ids(&w.list(&w.operator, &MemoryFilter::default()).await), [new.id]);
    let all = MemoryFilter { include_superseded: true, ..MemoryFilter::default() };
    assert_eq!(ids(&w.list(&w.operator, &all).await), [new.id, old.id]);
    assert_eq!(edges(&w, &new, &old).await, 1);
    assert_eq!(edges(&w, &old, &new).await, 0, "it points from the new to the old");
}

pub(crate) async fn a_replacement_takes_over_what_it_does_not_state(w: World) {
    let old = NewMemory {
        channel: Some("apollo".to_owned()),
        domain: Some("geography".to_owned()),
        topic: Some("capitals".to_owned()),
        entities: vec!["Germany".to_owned()],
        pinned: true,
        ..fact("the capital is Bonn")
    };
    let old = w.create(&w.operator, old).await.unwrap();
    let content = "the capital is Berlin".to_owned();
    let new = w.mnemic.supersede_memory(&w.as_operator(), old.id, content).await.unwrap();
    assert_eq!((new.kind, &new.channel, &new.domain), (Kind::Fact, &old.channel, &old.domain));
    assert_eq!((&new.topic, &new.entities, new.pinned), (&old.topic, &old.entities, true));
    assert_eq!(w.get(&w.operator, old.id).await.superseded_by, Some(new.id));
}

pub(crate) async fn a_chain_is_followed_to_its_live_head(w: World) {
    let chain = chain(&w, 4).await;
    let new = replace(&w, chain[0], text("the fifth")).await.unwrap();
    let head = w.get(&w.operator, chain[3]).await;
    assert_eq!(head.superseded_by, Some(new.id), "the head was replaced");
    let first = w.get(&w.operator, chain[0]).await;
    assert_eq!(first.superseded_by, Some(chain[1]), "and the first one left as it was");
    assert_eq!(ids(&w.list(&w.operator, &MemoryFilter::default()).await), [new.id]);
}

pub(crate) async fn a_patch_can_name_what_replaces_a_memory(w: World) {
    let chain = chain(&w, 2).await;
    let old = w.remember(&w.operator, "another old one").await;
    let patched = supersede_by(&w, old.id, chain[0]).await.unwrap();
    assert_eq!(patched.superseded_by, Some(chain[1]), "the live head of what was named");
    assert_eq!(patched, w.get(&w.operator, old.id).await);
    let head = w.get(&w.operator, chain[1]).await;
    assert_eq!(edges(&w, &head, &patched).await, 1);
    assert!(w.search(&w.operator, "another").await.is_empty());
    let again = supersede_by(&w, old.id, chain[1]).await;
    assert_eq!(seen(again).0, "conflict", "it is replaced already");
}

pub(crate) async fn a_circle_is_refused(w: World) {
    let chain = chain(&w, 3).await;
    for id in &chain {
        let outcome = supersede_by(&w, chain[2], *id).await;
        assert_eq!(seen(outcome).0, "conflict", "the head replaced by one of its own chain");
    }
    assert!(w.get(&w.operator, chain[2]).await.is_live());
}

/// Each replacement alone is fine; both together would leave neither alive.
pub(crate) async fn a_circle_is_refused_even_if_closed_from_both_sides_at_once(w: World) {
    for round in 0..20 {
        let a = w.remember(&w.operator, &format!("a{round}")).await.id;
        let b = w.remember(&w.operator, &format!("b{round}")).await.id;
        let outcomes = at_once(2, |side| {
            let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
            let (old, new) = if side == 0 { (a, b) } else { (b, a) };
            let patch = MemoryPatch { superseded_by: Some(new), ..MemoryPatch::default() };
            async move { mnemic.update_memory(&caller, old, &patch).await }
        })
        .await;
        let replaced = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(replaced, 1, "round {round}: {outcomes:?}");
        let live = [w.get(&w.operator, a).await, w.get(&w.operator, b).await];
        assert_eq!(live.iter().filter(|memory| memory.is_live()).count(), 1, "round {round}");
    }
}

pub(crate) async fn a_suggestion_cannot_replace_a_fact(w: World) {
    let old = w.create(&w.operator, fact("the law is the law")).await.unwrap();
    let (code, detail) = seen(replace(&w, old.id, text("I think not")).await);
    assert_eq!(code, "conflict");
    assert!(detail.contains("fact"), "{detail}");
    let suggestion = w.remember(&w.operator, "maybe not").await;
    assert_eq!(seen(supersede_by(&w, old.id, suggestion.id).await).0, "conflict");
    assert_eq!(w.get(&w.operator, old.id).await, old, "untouched");
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await.len(), 2, "nothing was added");
    let new = replace(&w, suggestion.id, fact("certainly")).await.unwrap();
    assert_eq!(new.kind, Kind::Fact, "the other way round is fine");
    let promoted = w.mnemic.promote_memory(&w.as_operator(), suggestion.id).await;
    assert_eq!(seen(promoted).0, "conflict", "what is replaced stays what it was");
}

pub(crate) async fn a_batch_may_not_replace_the_same_memory_twice(w: World) {
    let chain = chain(&w, 2).await;
    let over = |id| NewMemory { supersedes: Some(id), ..text("replacement") };
    let news = vec![over(chain[0]), over(chain[1])];
    let error = w.mnemic.create_memories(&w.as_operator(), news).await.unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert!(error.to_string().starts_with("[1]."), "{error}");
    assert!(w.get(&w.operator, chain[1]).await.is_live());
}

pub(crate) async fn replacements_at_once_form_one_chain(w: World) {
    let first = w.remember(&w.operator, "version 0").await;
    let outcomes = at_once(16, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let content = format!("version {}", number + 1);
        async move { mnemic.supersede_memory(&caller, first.id, content).await }
    })
    .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let live = w.list(&w.operator, &MemoryFilter::default()).await;
    assert_eq!(live.len(), 1, "one head");
    let (mut id, mut steps) = (first.id, 0);
    while let Some(next) = w.get(&w.operator, id).await.superseded_by {
        (id, steps) = (next, steps + 1);
    }
    assert_eq!((id, steps), (live[0].id, 16), "that every version leads to");
}

pub(crate) async fn erasing_the_middle_of_a_chain_closes_the_gap(w: World) {
    let chain = chain(&w, 3).await;
    w.mnemic.erase_memory(&w.as_operator(), chain[1]).await.unwrap();
    let (first, head) = (w.get(&w.operator, chain[0]).await, w.get(&w.operator, chain[2]).await);
    assert_eq!(first.superseded_by, Some(head.id));
    assert_eq!(edges(&w, &head, &first).await, 1, "the edge follows");
    assert!(head.is_live());
    let new = replace(&w, first.id, text("goes on")).await.unwrap();
    assert_eq!(w.get(&w.operator, head.id).await.superseded_by, Some(new.id));
}

pub(crate) async fn erasing_the_head_brings_nothing_outdated_back(w: World) {
    let chain = chain(&w, 2).await;
    w.mnemic.erase_memory(&w.as_operator(), chain[1]).await.unwrap();
    let old = w.get(&w.operator, chain[0]).await;
    assert_eq!(old.superseded_by, None, "nothing dangles");
    assert!(old.superseded_at.is_some(), "yet it stays retired");
    assert!(w.found(&w.operator, &query("version")).await.is_empty());
    assert_eq!(seen(replace(&w, old.id, text("new")).await).0, "conflict");
}

pub(crate) async fn a_deleted_head_must_be_restored_before_it_is_replaced(w: World) {
    let chain = chain(&w, 2).await;
    w.mnemic.forget_memory(&w.as_operator(), chain[1]).await.unwrap();
    assert!(w.found(&w.operator, &query("version")).await.is_empty());
    let (code, detail) = seen(replace(&w, chain[0], text("new")).await);
    assert_eq!(code, "conflict");
    assert!(detail.contains("restore"), "{detail}");
    w.mnemic.restore_memory(&w.as_operator(), chain[1]).await.unwrap();
    replace(&w, chain[0], text("new")).await.unwrap();
}

/// A patch that was decided while the chain still had its middle must not bring the pointer to
/// it back.
pub(crate) async fn a_patch_and_an_erasure_at_once_leave_nothing_dangling(w: World) {
    for round in 0..20 {
        let chain = chain(&w, 3).await;
        let loose = w.remember(&w.operator, &format!("loose {round}")).await.id;
        let outcomes = at_once(3, |side| {
            let (mnemic, caller, chain) = (w.mnemic.clone(), w.as_operator(), chain.clone());
            async move {
                let topic = MemoryPatch { topic: Some(Some("t".into())), ..Default::default() };
                let by_head = MemoryPatch { superseded_by: Some(chain[2]), ..Default::default() };
                match side {
                    0 => mnemic.update_memory(&caller, chain[0], &topic).await.map(drop),
                    1 => mnemic.update_memory(&caller, loose, &by_head).await.map(drop),
                    _ => {
                        mnemic.erase_memory(&caller, chain[1]).await?;
                        mnemic.erase_memory(&caller, chain[2]).await.map(drop)
                    }
                }
            }
        })
        .await;
        assert!(outcomes[0].is_ok() || outcomes[2].is_ok(), "{outcomes:?}");
        let all = MemoryFilter { include_superseded: true, ..MemoryFilter::default() };
        for memory in w.list(&w.operator, &all).await {
            if let Some(next) = memory.superseded_by {
                w.get(&w.operator, next).await;
            }
        }
        assert_eq!(w.get(&w.operator, chain[0]).await.superseded_by, None, "round {round}");
    }
}

pub(crate) async fn an_unknown_memory_cannot_be_replaced_nor_replace(w: World) {
    let memory = w.remember(&w.operator, "here").await;
    let unknown = MemoryId(Uuid::now_v7());
    assert_eq!(seen(replace(&w, unknown, text("new")).await).0, "not_found");
    assert_eq!(seen(supersede_by(&w, memory.id, unknown).await).0, "not_found");
    assert_eq!(ids(&w.list(&w.operator, &MemoryFilter::default()).await), [memory.id]);
}

/// Versions 0, 1, … of one memory, each replaced by the next.
async fn chain(w: &World, length: usize) -> Vec<MemoryId> {
    // Some tests make it again and again, and erase parts of it.
    let version = |number| NewMemory { revive: true, ..text(&format!("version {number}")) };
    let mut chain = vec![w.create(&w.operator, version(0)).await.unwrap().id];
    for number in 1..length {
        w.clock.forward(DAY);
        chain.push(replace(w, chain[number - 1], version(number)).await.unwrap().id);
    }
    chain
}

async fn replace(w: &World, old: MemoryId, new: NewMemory) -> mnemic_core::Result<Memory> {
    w.create(&w.operator, NewMemory { supersedes: Some(old), ..new }).await
}

async fn supersede_by(w: &World, old: MemoryId, new: MemoryId) -> mnemic_core::Result<Memory> {
    let patch = MemoryPatch { superseded_by: Some(new), ..MemoryPatch::default() };
    w.mnemic.update_memory(&Caller::new(w.operator.clone()), old, &patch).await
}

async fn edges(w: &World, from: &Memory, to: &Memory) -> i64 {
    w.count_of(&w.operator, &EDGES, values![from.id.0, to.id.0]).await
}
