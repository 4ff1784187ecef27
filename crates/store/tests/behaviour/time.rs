//! Two times: when something was true in the world, and when we knew it. Lists and recall give
//! the same answers about both, to the microsecond.

use jiff::Timestamp;
use mnemic_core::memory::{MemoryFilter, NewMemory, Temporal};
use mnemic_core::principal::Caller;
use mnemic_core::recall::RecallRequest;

use crate::world::{DAY, TICK, World, query, text};

pub(crate) async fn what_was_true_at_a_moment_is_found_as_of_it(w: World) {
    let (from, to) = (w.now() - DAY * 20, w.now() - DAY * 10);
    let new = NewMemory { valid_from: Some(from), valid_to: Some(to), ..text("the shop is open") };
    w.create(&w.operator, new).await.unwrap();
    for (at, expected) in
        [(from - TICK, 0), (from, 1), (to - TICK, 1), (to, 0), (w.now(), 0), (w.now() + DAY, 0)]
    {
        assert_eq!(as_of(&w, at).await.len(), expected, "as of {at}");
    }
    assert_eq!(w.found(&w.operator, &query("shop")).await.len(), 1, "it is known, though past");
}

pub(crate) async fn without_a_stated_beginning_it_is_true_from_its_recording(w: World) {
    let recorded = w.now();
    w.remember(&w.operator, "the shop is open").await;
    assert_eq!(as_of(&w, recorded - TICK).await.len(), 0);
    assert_eq!(as_of(&w, recorded).await.len(), 1);
    assert_eq!(as_of(&w, recorded + DAY * 1_000).await.len(), 1);
}

pub(crate) async fn as_of_a_moment_before_its_replacement_the_old_one_holds(w: World) {
    let recorded = w.now();
    let old = w.remember(&w.operator, "the shop is open").await;
    w.clock.forward(DAY);
    let replaced = w.now();
    let new = "the shop is closed".to_owned();
    w.mnemic.supersede_memory(&Caller::new(w.operator.clone()), old.id, new).await.unwrap();
    for (at, expected) in [
        (recorded, "the shop is open"),
        (replaced - TICK, "the shop is open"),
        (replaced, "the shop is closed"),
        (replaced + DAY, "the shop is closed"),
    ] {
        assert_eq!(as_of(&w, at).await, [expected], "as of {at}");
        assert_eq!(known_at(&w, at).await, [expected], "known at {at}");
    }
    assert!(known_at(&w, recorded - TICK).await.is_empty());
}

pub(crate) async fn what_we_learn_today_about_the_past_we_did_not_know_then(w: World) {
    let then = w.now();
    w.clock.forward(DAY * 10);
    let new = NewMemory { valid_from: Some(then), ..text("the shop was open") };
    w.create(&w.operator, new).await.unwrap();
    assert_eq!(as_of(&w, then).await.len(), 1, "it was true");
    assert_eq!(known_at(&w, then).await.len(), 0, "but nobody knew");
    assert_eq!(known_at(&w, w.now()).await.len(), 1);
    let filter = MemoryFilter { as_of: Some(then), known_at: Some(then), ..Default::default() };
    assert!(w.list(&w.operator, &filter).await.is_empty(), "both at once");
}

pub(crate) async fn a_deleted_memory_is_in_no_past(w: World) {
    let then = w.now();
    let memory = w.remember(&w.operator, "the shop is open").await;
    w.clock.forward(DAY);
    w.mnemic.forget_memory(&w.as_operator(), memory.id).await.unwrap();
    assert!(as_of(&w, then).await.is_empty() && known_at(&w, then).await.is_empty());
}

pub(crate) async fn a_window_takes_its_beginning_and_leaves_its_end(w: World) {
    let recorded = w.now();
    w.remember(&w.operator, "the shop is open").await;
    for (since, until, expected) in [
        (Some(recorded), None, 1),
        (Some(recorded + TICK), None, 0),
        (None, Some(recorded), 0),
        (None, Some(recorded + TICK), 1),
        (Some(recorded), Some(recorded + TICK), 1),
    ] {
        let request = RecallRequest { since, until, ..query("shop") };
        assert_eq!(w.found(&w.operator, &request).await.len(), expected, "{since:?} {until:?}");
    }
}

pub(crate) async fn what_holds_now_stands_above_what_held_once(w: World) {
    let who = w.operator.clone();
    let tagged = |temporal| NewMemory { temporal, ..text("the office is in Lyon") };
    // The past one is made last, so that neither its id nor its age puts it behind.
    let current = w.create(&who, tagged(Some(Temporal::Current))).await.unwrap().id;
    let plain = w.create(&who, tagged(None)).await.unwrap().id;
    let past = w.create(&who, tagged(Some(Temporal::Past))).await.unwrap().id;
    let ended = NewMemory { valid_to: Some(w.now()), ..tagged(Some(Temporal::Current)) };
    let ended = w.create(&who, ended).await.unwrap().id;
    let request = RecallRequest { explain: true, ..query("office Lyon") };
    let bundle = w.recall(&who, &request).await;
    let order: Vec<_> = bundle.items.iter().map(|item| item.memory.id).collect();
    assert_eq!(order[..2], [current, plain]);
    assert!(order[2..].contains(&past) && order[2..].contains(&ended));
    let tense = |place: usize| bundle.items[place].temporal;
    assert_eq!((tense(0), tense(1)), (Some(Temporal::Current), None));
    assert_eq!((tense(2), tense(3)), (Some(Temporal::Past), Some(Temporal::Past)));
    let factors: Vec<_> =
        bundle.items.iter().map(|item| item.why.as_ref().unwrap().factors.temporal).collect();
    assert_eq!(factors, [1.2, 1.0, 0.7, 0.7]);
}

/// What holds as of a moment, by recall, which must agree with the list.
async fn as_of(w: &World, at: Timestamp) -> Vec<String> {
    let filter = MemoryFilter { as_of: Some(at), ..MemoryFilter::default() };
    agreed(w, &filter, &RecallRequest { as_of: Some(at), ..query("shop") }).await
}

async fn known_at(w: &World, at: Timestamp) -> Vec<String> {
    let filter = MemoryFilter { known_at: Some(at), ..MemoryFilter::default() };
    agreed(w, &filter, &RecallRequest { known_at: Some(at), ..query("shop") }).await
}

async fn agreed(w: &World, filter: &MemoryFilter, request: &RecallRequest) -> Vec<String> {
    let listed = w.list(&w.operator, filter).await;
    let listed: Vec<_> = listed.into_iter().map(|memory| memory.content).collect();
    assert_eq!(w.found(&w.operator, request).await, listed);
    listed
}
