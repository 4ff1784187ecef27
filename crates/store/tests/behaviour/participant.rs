//! Erasing what was said: with its conversation, and with whoever said it.

use std::time::{Duration, Instant};

use mnemic_core::conversation::{Conversation, NewConversation, NewTurn, RollUp, Turn};
use mnemic_core::erasure::{
    Reach, Receipt, Tombstone, adopt_tombstones, apply_tombstones, export_tombstones,
};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{AGENT, Caller, Principal};
use mnemic_core::slot::NewSlot;
use mnemic_core::store::{Change, TombstoneChange};
use serde_json::json;

use crate::erasure::user;
use crate::world::{DAY, TICK, World, keyed, seen};

/// Long enough for a loaded machine, and far too short for a scan per turn.
const SECONDS: Duration = Duration::from_secs(30);

fn said(content: &str) -> NewTurn {
    NewTurn { role: "user".to_owned(), content: content.to_owned(), ..NewTurn::default() }
}

fn spoken(speaker: &str, content: &str) -> NewTurn {
    NewTurn { speaker: Some(speaker.to_owned()), ..said(content) }
}

fn counts(receipt: &Receipt) -> Vec<(&str, u64)> {
    receipt.counts.iter().map(|(noun, count)| (noun.as_str(), *count)).collect()
}

async fn verbose(w: &World) -> Principal {
    let level = json!({"audit": {"level": "verbose"}});
    w.mnemic.update_settings(&w.operator, &level).await.unwrap();
    w.again().await
}

async fn roll_up(w: &World, conversation: &str) {
    w.clock.forward(DAY);
    let all = RollUp { retain_last: Some(0), max_age_days: Some(0) };
    let made = w.mnemic.summarize_conversation(&w.as_operator(), conversation, all).await.unwrap();
    assert_eq!(made.len(), 1);
}

async fn turns(w: &World, conversation: &str) -> Vec<Turn> {
    let page = PageRequest { limit: Some(200), cursor: None };
    w.mnemic.list_turns(&w.operator, conversation, false, &page).await.unwrap().items
}

pub(crate) async fn a_conversation_goes_with_what_was_said_in_it(w: World) {
    let who = verbose(&w).await;
    let named = |key: &str| keyed(&who, key, "f");
    let new = NewConversation {
        id: Some("c_1".to_owned()),
        title: Some("canary title".to_owned()),
        ..NewConversation::default()
    };
    w.mnemic.create_conversation(&named("k1"), &new).await.unwrap();
    let early = [said("the canary sang early"), said("the canary sang before dawn")];
    w.mnemic.add_turns(&named("k2"), "c_1", &early).await.unwrap();
    roll_up(&w, "c_1").await;
    let late = [spoken("canary", "the canary sang late")];
    w.mnemic.add_turns(&named("k3"), "c_1", &late).await.unwrap();
    w.mnemic.add_turns(&named("k4"), "cx1", &[said("a cuckoo")]).await.unwrap();
    let slot = NewSlot { value: json!("kept"), ttl_seconds: None };
    w.mnemic.put_slot(&who, "c_1", "plan", slot).await.unwrap();
    w.mnemic.flush_audit().await;
    let caller = Caller::new(who.clone());
    let receipt = w.mnemic.erase_conversation(&caller, "c_1").await.unwrap();
    let expected = [
        ("answers", 3),
        ("audit_details", 4),
        ("conversations", 1),
        ("episodes", 1),
        ("slots", 1),
        ("turns", 1),
    ];
    assert_eq!(counts(&receipt), expected);
    assert!(!w.files_have("canary"));
    assert_eq!(turns(&w, "cx1").await.len(), 1, "another one stays, and its answer");
    assert_eq!(
        w.mnemic.add_turns(&named("k4"), "cx1", &[said("a cuckoo")]).await.unwrap().len(),
        1
    );
    assert_eq!(turns(&w, "cx1").await.len(), 1);
    assert_eq!(seen(w.mnemic.get_conversation(&who, "c_1").await).0, "not_found");
    assert_eq!(seen(w.mnemic.erase_conversation(&caller, "c_1").await).0, "not_found");
}

pub(crate) async fn an_erased_conversation_is_not_taken_up_by_itself(w: World) {
    let caller = w.as_operator();
    let id = "0193A5B0-7E1C-7D3A-9B1F-2C3D4E5F6A7B";
    w.mnemic.add_turns(&caller, id, &[said("tea")]).await.unwrap();
    w.mnemic.erase_conversation(&caller, &id.to_lowercase()).await.unwrap();
    for again in [said("tea"), said("something else")] {
        let (code, detail) = seen(w.mnemic.add_turns(&caller, id, &[again]).await);
        assert_eq!(code, "erased", "{detail}");
        assert!(detail.contains("revive"), "{detail}");
    }
    let new = NewConversation { id: Some(id.to_owned()), ..NewConversation::default() };
    assert_eq!(seen(w.mnemic.create_conversation(&caller, &new).await).0, "erased");
    let agent = Caller::new(w.member("default", AGENT).await);
    let revived = NewTurn { revive: true, ..said("tea") };
    let refused = w.mnemic.add_turns(&agent, id, std::slice::from_ref(&revived)).await;
    assert_eq!(seen(refused).0, "denied");
    w.mnemic.add_turns(&caller, id, &[revived]).await.unwrap();
    w.mnemic.add_turns(&agent, id, &[said("milk")]).await.unwrap();
    assert_eq!(turns(&w, id).await.len(), 2);
    let other = NewConversation { id: Some("other".to_owned()), ..NewConversation::default() };
    w.mnemic.create_conversation(&caller, &other).await.unwrap();
    w.mnemic.erase_conversation(&caller, "other").await.unwrap();
    let other = NewConversation { revive: true, ..other };
    w.mnemic.create_conversation(&caller, &other).await.unwrap();
}

#[expect(clippy::print_stdout, reason = "the time is what the test is about")]
pub(crate) async fn thousands_of_turns_go_within_seconds(w: World) {
    let who = verbose(&w).await;
    for batch in 0..4 {
        let news: Vec<_> = (0..1_000).map(|n| said(&format!("canary {batch} {n}"))).collect();
        let caller = keyed(&who, &format!("k{batch}"), "f");
        w.mnemic.add_turns(&caller, "long", &news).await.unwrap();
    }
    let started = Instant::now();
    let receipt = w.mnemic.erase_conversation(&w.as_operator(), "long").await.unwrap();
    let took = started.elapsed();
    println!("4,000 turns of a conversation were erased in {took:?}");
    assert_eq!((receipt.counts["turns"], receipt.counts["answers"]), (4_000, 4));
    assert!(took < SECONDS, "{took:?}");
    assert!(!w.files_have("canary"));
    let (_, ana) = user(&w, "ana", None).await;
    for batch in 0..4 {
        let news: Vec<_> = (0..1_000).map(|n| said(&format!("canary {batch} {n}"))).collect();
        w.mnemic.add_turns(&Caller::new(ana.clone()), "hers", &news).await.unwrap();
    }
    let started = Instant::now();
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    let took = started.elapsed();
    println!("4,000 turns of a user were erased in {took:?}");
    assert_eq!((receipt.counts["turns"], receipt.counts["conversations"]), (4_000, 1));
    assert!(took < SECONDS, "{took:?}");
    assert!(!w.files_have("canary"));
}

/// Ana spoke through two tokens and was quoted by another; the others' words stay.
pub(crate) async fn what_a_user_said_goes_with_them(w: World) {
    verbose(&w).await;
    let (_, ana) = user(&w, "ana-canary", None).await;
    let (_, by_agent) = user(&w, "ana-canary", Some("claude")).await;
    let (_, bo) = user(&w, "bo", None).await;
    let (ana, by_agent, bo) = (Caller::new(ana), Caller::new(by_agent), Caller::new(bo));
    let own = NewConversation {
        id: Some("shared".to_owned()),
        title: Some("the canary's tea".to_owned()),
        ..NewConversation::default()
    };
    w.mnemic.create_conversation(&ana, &own).await.unwrap();
    let early = [said("the canary was early"), said("and so was the cat, said the canary")];
    w.mnemic.add_turns(&ana, "shared", &early).await.unwrap();
    roll_up(&w, "shared").await;
    w.mnemic.add_turns(&by_agent, "shared", &[said("the canary drinks tea")]).await.unwrap();
    w.mnemic.add_turns(&bo, "shared", &[said("bo drinks coffee")]).await.unwrap();
    let quoted = keyed(&bo.principal, "k", "f");
    let quote = [spoken("ana-canary", "the canary was quoted")];
    w.mnemic.add_turns(&quoted, "shared", &quote).await.unwrap();
    w.mnemic.add_turns(&ana, "alone", &[said("the canary is alone")]).await.unwrap();
    let slot = NewSlot { value: json!("kept"), ttl_seconds: None };
    w.mnemic.put_slot(&w.operator, "alone", "plan", slot).await.unwrap();
    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana-canary").await.unwrap();
    let of = |noun: &str| receipt.counts[noun];
    assert_eq!((of("turns"), of("episodes"), of("conversations")), (3, 1, 1));
    assert_eq!((of("slots"), of("answers"), of("mentions")), (1, 1, 1));
    w.mnemic.flush_audit().await;
    assert!(!w.files_have("canary"));
    let left: Vec<_> = turns(&w, "shared").await.into_iter().map(|turn| turn.content).collect();
    assert_eq!(left, ["bo drinks coffee"]);
    let shared = w.mnemic.get_conversation(&w.operator, "shared").await.unwrap();
    assert_eq!((shared.turns, shared.title, shared.user), (1, None, None));
    let again = [said("bo goes on"), said("the canary drinks tea")];
    let (code, detail) = seen(w.mnemic.add_turns(&bo, "shared", &again).await);
    assert_eq!((code, detail.starts_with("[1].content")), ("erased", true), "{detail}");
    assert_eq!(seen(w.mnemic.add_turns(&bo, "alone", &[said("x")]).await).0, "erased");
    w.mnemic.add_turns(&bo, "elsewhere", &[said("the canary drinks tea")]).await.unwrap();
    let revived = NewTurn { revive: true, ..said("the canary drinks tea") };
    w.mnemic.add_turns(&bo, "shared", &[revived]).await.unwrap();
    w.mnemic.add_turns(&bo, "shared", &[said("bo goes on")]).await.unwrap();
    assert_eq!(turns(&w, "shared").await.len(), 3);
}

/// A backup knows of no erasure: its rows are there and the tombstones are not.
pub(crate) async fn a_restored_backup_loses_what_was_said(w: World) {
    let scope = w.operator.scope();
    let (_, ana) = user(&w, "ana", None).await;
    let ana = Caller::new(ana);
    let mut rows: Vec<(Conversation, Vec<Turn>)> = Vec::new();
    w.mnemic.add_turns(&w.as_operator(), "gone", &[said("a canary")]).await.unwrap();
    w.mnemic.add_turns(&ana, "hers", &[said("her canary")]).await.unwrap();
    for id in ["gone", "hers"] {
        let conversation = w.mnemic.get_conversation(&w.operator, id).await.unwrap();
        rows.push((conversation, turns(&w, id).await));
    }
    w.clock.forward(TICK);
    w.mnemic.erase_conversation(&w.as_operator(), "gone").await.unwrap();
    w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    let graveyard = export_tombstones(w.store()).await.unwrap();
    let stones = w.store().list_tombstones(scope).await.unwrap();
    let lifted = |s: Tombstone| TombstoneChange::Lift { kind: s.kind, digest: s.digest };
    let mut changes: Vec<_> = stones.into_iter().map(lifted).map(Change::Tombstone).collect();
    for (conversation, turns) in rows {
        changes.push(Change::AddConversation(conversation));
        changes.extend(turns.into_iter().map(Change::AddTurn));
    }
    w.store().commit(scope, changes).await.unwrap();
    assert!(w.files_have("canary"));
    adopt_tombstones(w.store(), &graveyard).await.unwrap();
    let applied = apply_tombstones(w.store(), scope, Reach::Records).await.unwrap();
    assert_eq!((applied["turns"], applied["conversations"]), (2, 2), "{applied:?}");
    assert!(!w.files_have("canary"));
    let again = apply_tombstones(w.store(), scope, Reach::Records).await.unwrap();
    assert!(again.is_empty(), "once is enough: {again:?}");
}

pub(crate) async fn a_deleted_episode_is_in_no_list_nor_prompt(w: World) {
    let early = [said("we ship the ladder on Friday"), said("and the rope on Monday")];
    w.mnemic.add_turns(&w.as_operator(), "c", &early).await.unwrap();
    roll_up(&w, "c").await;
    let page = PageRequest::default();
    let made = w.mnemic.list_episodes(&w.operator, "c", &page).await.unwrap().items.remove(0);
    assert!(w.mnemic.earlier_summaries(&w.operator, "c").await.unwrap().contains("ladder"));
    w.mnemic.delete_episode(&w.as_operator(), made.id).await.unwrap();
    assert!(w.mnemic.list_episodes(&w.operator, "c", &page).await.unwrap().items.is_empty());
    assert_eq!(w.mnemic.earlier_summaries(&w.operator, "c").await.unwrap(), "");
    assert_eq!(seen(w.mnemic.delete_episode(&w.as_operator(), made.id).await).0, "not_found");
    assert!(w.files_have("ladder"), "a soft delete keeps it");
    let receipt = w.mnemic.erase_conversation(&w.as_operator(), "c").await.unwrap();
    assert_eq!(receipt.counts["episodes"], 1);
    assert!(!w.files_have("ladder"));
}
