//! Contradictions that somebody is to decide.

use mnemic_core::page::PageRequest;
use mnemic_core::review::{Contradiction, Decision};
use serde_json::json;

use crate::world::{World, fact, seen};

async fn reviews(w: &World, decided: bool) -> Vec<Contradiction> {
    let page = PageRequest::default();
    w.mnemic.list_reviews(&w.operator, decided, &page).await.unwrap().items
}

/// Two that contradict each other.
async fn contradiction(w: &World) -> Contradiction {
    w.set(json!({"extraction": {"contradictions": "flag_review"}})).await;
    w.say("c", "I live in Lisbon.").await;
    w.learn("c").await;
    w.say("c", "I live in Porto.").await;
    assert_eq!(w.learn("c").await.reviews, 1);
    reviews(w, false).await.remove(0)
}

pub(crate) async fn a_contradiction_waits_for_a_decision(w: World) {
    let found = contradiction(&w).await;
    assert_eq!(found.old.content, "The user lives in Lisbon.");
    assert_eq!(found.new.content, "The user lives in Porto.");
    assert_eq!((found.review.topic.as_str(), found.review.decision), ("home", None));
    assert!(found.old.is_live() && found.new.is_live(), "neither has won");
    let other = w.workspace("other").await;
    let page = PageRequest::default();
    assert!(w.mnemic.list_reviews(&other, false, &page).await.unwrap().items.is_empty());
    let foreign = mnemic_core::principal::Caller::new(other);
    let refused = w.mnemic.resolve_review(&foreign, found.review.id, Decision::KeepNew).await;
    assert_eq!(seen(refused).0, "not_found");
}

pub(crate) async fn each_decision_does_what_it_says(w: World) {
    for decision in [Decision::KeepNew, Decision::KeepOld, Decision::KeepBoth] {
        let found = contradiction(&w).await;
        let id = found.review.id;
        let resolve = async || w.mnemic.resolve_review(&w.as_operator(), id, decision).await;
        let review = resolve().await.unwrap();
        assert_eq!(review.decision, Some(decision));
        assert_eq!(seen(resolve().await).0, "conflict", "it is decided once");
        let (old, new) = (found.old.id, found.new.id);
        let (old, new) = (w.get(&w.operator, old).await, w.get(&w.operator, new).await);
        let live = (old.is_live(), new.is_live());
        match decision {
            Decision::KeepNew => {
                assert_eq!((live, old.superseded_by), ((false, true), Some(new.id)));
            }
            Decision::KeepOld => {
                assert_eq!((live, new.superseded_by), ((true, false), Some(old.id)));
            }
            Decision::KeepBoth => assert_eq!(live, (true, true)),
        }
        assert!(reviews(&w, false).await.is_empty());
        for memory in w.memories().await {
            w.mnemic.forget_memory(&w.as_operator(), memory.id).await.unwrap();
        }
    }
    w.create(&w.operator, fact("The user lives in Lisbon.")).await.unwrap();
    w.say("d", "I live in Porto.").await;
    w.learn("d").await;
    let found = reviews(&w, false).await.remove(0);
    let caller = w.as_operator();
    w.mnemic.resolve_review(&caller, found.review.id, Decision::KeepNew).await.unwrap();
    let new = w.only().await;
    assert_eq!(new.kind, mnemic_core::memory::Kind::Fact, "it takes the place of a fact");
}

pub(crate) async fn an_erased_memory_takes_its_reviews_along(w: World) {
    let found = contradiction(&w).await;
    let receipt = w.mnemic.erase_memory(&w.as_operator(), found.new.id).await.unwrap();
    assert_eq!(receipt.counts["reviews"], 1);
    assert!(reviews(&w, false).await.is_empty());
    let caller = w.as_operator();
    let gone = w.mnemic.resolve_review(&caller, found.review.id, Decision::KeepOld).await;
    assert_eq!(seen(gone).0, "not_found");
}
