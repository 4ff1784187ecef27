//! Citations: counted exactly once per run and memory, and what they say about a memory.

use jiff::SignedDuration;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, Purge};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{AGENT, Caller, Principal};
use mnemic_core::run::{Citations, Reason};
use mnemic_core::store::Change;
use serde_json::json;
use uuid::Uuid;

use crate::world::{DAY, TICK, World, at_once, fact, ids, seen, text};

pub(crate) async fn a_run_counts_once_however_often_it_cites(w: World) {
    let who = &w.operator;
    let memory = w.remember(who, "water boils at 100 degrees").await;
    let other = w.remember(who, "ice floats").await;
    let said = format!("[mem:{0}] and again [mem:{0}], also [mem: {0} ]", memory.id);
    let caller = w.as_operator();
    let first = w.mnemic.finish_run(&caller, "run-1", &said, Some("success")).await.unwrap();
    assert_eq!((first.counted, first.ignored), (vec![memory.id], vec![]));
    let second = w.mnemic.finish_run(&caller, "run-1", &said, None).await.unwrap();
    assert_eq!(second.counted, []);
    assert_eq!(reasons(&second), [(memory.id.to_string(), Reason::AlreadyCounted)]);
    assert_eq!(w.get(who, memory.id).await.times_referenced, 1);
    let more = cite(&w, who, "run-1", &[memory.id, other.id]).await;
    assert_eq!(more.counted, [other.id], "a later call of the same run may add others");
    cite(&w, who, "run-2", &[memory.id]).await;
    assert_eq!(w.get(who, memory.id).await.times_referenced, 2);
    assert_eq!(w.get(who, other.id).await.times_referenced, 1);
}

pub(crate) async fn a_run_counts_once_under_concurrency(w: World) {
    let mut memories = Vec::new();
    for number in 0..5 {
        memories.push(w.remember(&w.operator, &format!("number {number}")).await.id);
    }
    let outcomes = at_once(16, |_| {
        let (mnemic, caller, said) = (w.mnemic.clone(), w.as_operator(), text_of(&memories));
        async move { mnemic.finish_run(&caller, "run", &said, None).await.unwrap() }
    })
    .await;
    let counted: usize = outcomes.iter().map(|citations| citations.counted.len()).sum();
    assert_eq!(counted, memories.len(), "of all callers together");
    for id in memories {
        assert_eq!(w.get(&w.operator, id).await.times_referenced, 1);
    }
}

pub(crate) async fn many_runs_at_once_are_all_counted(w: World) {
    let memory = w.remember(&w.operator, "popular").await;
    at_once(32, |number| {
        let (mnemic, caller, said) = (w.mnemic.clone(), w.as_operator(), text_of(&[memory.id]));
        let run = format!("run {number}");
        async move { mnemic.finish_run(&caller, &run, &said, None).await.unwrap() }
    })
    .await;
    assert_eq!(w.get(&w.operator, memory.id).await.times_referenced, 32);
}

pub(crate) async fn what_cannot_be_counted_is_reported(w: World) {
    let acme = w.workspace("acme").await;
    let (known, deleted) = (w.remember(&acme, "known").await, w.remember(&acme, "deleted").await);
    w.mnemic.forget_memory(&Caller::new(acme.clone()), deleted.id).await.unwrap();
    let foreign = w.remember(&w.operator, "somebody else's").await;
    let unknown = MemoryId(Uuid::now_v7());
    let said = text_of(&[known.id, deleted.id, foreign.id, unknown]) + " [mem:42] [mem:] [mem:";
    let caller = Caller::new(acme.clone());
    let answer = w.mnemic.finish_run(&caller, "run", &said, None).await.unwrap();
    assert_eq!(answer.counted, [known.id]);
    let mut expected = vec![
        (String::new(), Reason::Malformed),
        ("42".to_owned(), Reason::Malformed),
        (deleted.id.to_string(), Reason::Deleted),
        (foreign.id.to_string(), Reason::Unknown),
        (unknown.to_string(), Reason::Unknown),
    ];
    let mut ignored = reasons(&answer);
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    ignored.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(ignored, expected, "foreign and unknown cannot be told apart");
    assert_eq!(w.get(&w.operator, foreign.id).await.times_referenced, 0);
}

pub(crate) async fn the_same_run_id_in_two_workspaces_is_two_runs(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    for who in [&acme, &globex] {
        let memory = w.remember(who, "the same").await;
        assert_eq!(cite(&w, who, "run", &[memory.id]).await.counted, [memory.id]);
    }
}

pub(crate) async fn a_long_text_of_broken_citations_is_read_in_one_pass(w: World) {
    let said = "[mem:".repeat(200_000);
    let started = std::time::Instant::now();
    let answer = w.mnemic.finish_run(&w.as_operator(), "run", &said, None).await.unwrap();
    assert_eq!(answer.counted, []);
    let took = started.elapsed();
    assert!(took < std::time::Duration::from_secs(2), "{took:?}");
}

pub(crate) async fn deletion_and_restoration_keep_the_count(w: World) {
    let memory = w.remember(&w.operator, "cited").await;
    cite(&w, &w.operator, "run", &[memory.id]).await;
    let caller = w.as_operator();
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    assert_eq!(cite(&w, &w.operator, "later", &[memory.id]).await.counted, []);
    let restored = w.mnemic.restore_memory(&caller, memory.id).await.unwrap();
    assert_eq!(restored.times_referenced, 1);
    assert_eq!(w.get(&w.operator, memory.id).await.times_referenced, 1);
    cite(&w, &w.operator, "later", &[memory.id]).await;
    assert_eq!(w.get(&w.operator, memory.id).await.times_referenced, 2, "now it was visible");
}

pub(crate) async fn a_hand_on_the_scale_counts_less_the_more_a_memory_is_cited(w: World) {
    let caller = w.as_operator();
    let (cited, fresh) =
        (w.remember(&w.operator, "cited").await, w.remember(&w.operator, "fresh").await);
    for run in 0..10 {
        cite(&w, &w.operator, &format!("run {run}"), &[cited.id]).await;
    }
    let heavier = async |memory: &Memory| {
        w.mnemic.weight_memory(&caller, memory.id, 1.0).await.unwrap().weight - memory.weight
    };
    let (moved_cited, moved_fresh) = (heavier(&cited).await, heavier(&fresh).await);
    assert!((moved_fresh - 1.0).abs() < 1e-9);
    assert!(moved_cited > 0.0 && moved_cited < 0.5, "{moved_cited}");
    for wrong in [f64::NAN, f64::INFINITY, 10.1, -10.1] {
        let error = w.mnemic.weight_memory(&caller, fresh.id, wrong).await;
        assert_eq!(seen(error).0, "invalid_field", "{wrong}");
    }
    for _ in 0..20 {
        w.mnemic.weight_memory(&caller, fresh.id, -10.0).await.unwrap();
    }
    assert!(w.get(&w.operator, fresh.id).await.weight.abs() < 1e-9, "never below zero");
}

pub(crate) async fn often_cited_and_unpinned_is_recommended_for_pinning(w: World) {
    let who = w.operator.clone();
    let caller = w.as_operator();
    let mut made = Vec::new();
    for (name, cited) in [("twice", 2), ("thrice", 3), ("five", 5), ("pinned", 5), ("gone", 5)] {
        let memory = w.remember(&who, name).await;
        for run in 0..cited {
            cite(&w, &who, &format!("{name} {run}"), &[memory.id]).await;
        }
        made.push(memory.id);
    }
    w.mnemic.pin_memory(&caller, made[3], true).await.unwrap();
    w.mnemic.forget_memory(&caller, made[4]).await.unwrap();
    let recommended = async || {
        let page = PageRequest::default();
        ids(&w.mnemic.recommended_pins(&who, &page).await.unwrap())
    };
    assert_eq!(recommended().await, [made[2], made[1]], "most cited first");
    let patch = json!({"memory": {"pin_references": 2}});
    w.mnemic.update_settings(&who, &patch).await.unwrap();
    assert_eq!(recommended().await, [made[2], made[1], made[0]]);
    w.mnemic.pin_memory(&caller, made[3], false).await.unwrap();
    assert_eq!(recommended().await, [made[3], made[2], made[1], made[0]], "newest among equals");
}

pub(crate) async fn a_memory_is_stale_only_beyond_the_retention_window(w: World) {
    let memory = w.remember(&w.operator, "nobody cites me").await;
    w.clock.forward(DAY * 90);
    assert_eq!(stale(&w, None).await, [], "at the very end of the window it is not");
    w.clock.forward(TICK);
    assert_eq!(stale(&w, None).await, [memory.id]);
    assert_eq!(stale(&w, Some(91)).await, []);
    let patch = json!({"memory": {"retention_days": 91}});
    w.mnemic.update_settings(&w.operator, &patch).await.unwrap();
    assert_eq!(stale(&w, None).await, [], "the workspace's own window rules");
    assert_eq!(stale(&w, Some(90)).await, [memory.id], "unless another is asked for");
}

pub(crate) async fn only_live_uncited_unpinned_suggestions_go_stale(w: World) {
    let (who, caller) = (w.operator.clone(), w.as_operator());
    let plain = w.remember(&who, "plain").await;
    w.create(&who, fact("a fact")).await.unwrap();
    let pinned = mnemic_core::memory::NewMemory { pinned: true, ..text("pinned") };
    w.create(&who, pinned).await.unwrap();
    let cited = w.remember(&who, "cited").await;
    cite(&w, &who, "run", &[cited.id]).await;
    let deleted = w.remember(&who, "deleted").await;
    w.mnemic.forget_memory(&caller, deleted.id).await.unwrap();
    let replaced = w.remember(&who, "replaced").await;
    w.clock.forward(DAY * 30);
    w.mnemic.supersede_memory(&caller, replaced.id, "replacement".to_owned()).await.unwrap();
    w.clock.forward(DAY * 61);
    assert_eq!(stale(&w, None).await, [plain.id]);
}

pub(crate) async fn a_purge_erases_what_is_stale_and_nothing_else(w: World) {
    let caller = w.as_operator();
    let old = [w.remember(&w.operator, "zanzibar").await, w.remember(&w.operator, "pemba").await];
    let kept = w.remember(&w.operator, "mafia").await;
    cite(&w, &w.operator, "run", &[kept.id]).await;
    w.clock.forward(DAY * 91);
    let young = w.remember(&w.operator, "unguja").await;
    let old = [old[0].id, old[1].id];
    let purge = async |purge: Purge| w.mnemic.purge_memories(&caller, &purge).await.unwrap();
    let dry = purge(Purge { dry_run: true, ..Purge::default() }).await;
    assert_eq!((dry.ids, dry.dry_run, dry.more), (old.to_vec(), true, false));
    assert_eq!(stale(&w, None).await, old, "a dry run removes nothing");
    let ids = Some(vec![old[1], kept.id, young.id, MemoryId(Uuid::now_v7())]);
    assert_eq!(purge(Purge { ids, ..Purge::default() }).await.ids, [old[1]]);
    assert_eq!(purge(Purge::default()).await.ids, [old[0]]);
    assert_eq!(purge(Purge::default()).await.ids, []);
    w.get(&w.operator, kept.id).await;
    w.get(&w.operator, young.id).await;
    assert_eq!(seen(w.mnemic.restore_memory(&caller, old[0]).await).0, "not_found");
    assert!(!w.files_have("zanzibar") && !w.files_have("pemba"));
    assert!(w.files_have("unguja"));
}

pub(crate) async fn a_named_memory_is_purged_however_many_are_older(w: World) {
    let caller = w.as_operator();
    for _ in 0..2 {
        let many = (0..501).map(|n| text(&format!("old {n}"))).collect();
        w.mnemic.create_memories(&caller, many).await.unwrap();
    }
    let last = w.remember(&w.operator, "the youngest of the stale").await;
    w.clock.forward(DAY * 91);
    let purge = Purge { ids: Some(vec![last.id, last.id]), ..Purge::default() };
    let purged = w.mnemic.purge_memories(&caller, &purge).await.unwrap();
    assert_eq!((purged.ids, purged.more), (vec![last.id], false));
    let purged = w.mnemic.purge_memories(&caller, &Purge::default()).await.unwrap();
    assert_eq!((purged.ids.len(), purged.more), (1_000, true), "a limit is told");
    let purged = w.mnemic.purge_memories(&caller, &Purge::default()).await.unwrap();
    assert_eq!((purged.ids.len(), purged.more), (2, false));
}

/// Between the decision to purge and the commit, others act.
pub(crate) async fn what_ceased_to_be_stale_meanwhile_is_not_purged(w: World) {
    let (who, caller) = (w.operator.clone(), w.as_operator());
    let mut made = Vec::new();
    for name in ["cited", "pinned", "promoted", "deleted", "replaced"] {
        made.push(w.remember(&who, name).await.id);
    }
    w.clock.forward(DAY * 91);
    let before = w.now() - SignedDuration::from_hours(24 * 90);
    cite(&w, &who, "run", &[made[0]]).await;
    w.mnemic.pin_memory(&caller, made[1], true).await.unwrap();
    w.mnemic.promote_memory(&caller, made[2]).await.unwrap();
    w.mnemic.forget_memory(&caller, made[3]).await.unwrap();
    w.mnemic.supersede_memory(&caller, made[4], "replacement".to_owned()).await.unwrap();
    for id in made {
        let changes = vec![Change::EraseStale { id, domain: None, before }];
        let outcome = w.store().commit(who.scope(), changes).await;
        assert_eq!(seen(outcome).0, "changed_meanwhile");
    }
}

pub(crate) async fn agents_may_not_purge_or_erase(w: World) {
    let agent = Caller::new(w.member("default", AGENT).await);
    let memory = w.remember(&agent.principal, "mine").await;
    assert_eq!(seen(w.mnemic.purge_memories(&agent, &Purge::default()).await).0, "denied");
    assert_eq!(seen(w.mnemic.erase_memory(&agent, memory.id).await).0, "denied");
    w.mnemic.forget_memory(&agent, memory.id).await.unwrap();
}

/// Ends a run that cites these.
pub(crate) async fn cite(w: &World, who: &Principal, run: &str, cited: &[MemoryId]) -> Citations {
    let caller = Caller::new(who.clone());
    w.mnemic.finish_run(&caller, run, &text_of(cited), None).await.unwrap()
}

/// What a run that cites these says.
pub(crate) fn text_of(cited: &[MemoryId]) -> String {
    cited.iter().map(|id| format!("as [mem:{id}] says. ")).collect::<Vec<_>>().concat()
}

fn reasons(citations: &Citations) -> Vec<(String, Reason)> {
    citations.ignored.iter().map(|ignored| (ignored.id.clone(), ignored.reason)).collect()
}

async fn stale(w: &World, older_than_days: Option<u32>) -> Vec<MemoryId> {
    let page = PageRequest::default();
    ids(&w.mnemic.stale_memories(&w.operator, older_than_days, &page).await.unwrap().items)
}
