//! Slots over the facade, with time that is moved by hand.

use jiff::SignedDuration;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Principal;
use mnemic_core::slot::{NewSlot, Slot};
use mnemic_core::{Code, Result};
use serde_json::json;

use crate::world::{World, seen};

const CONVERSATION: &str = "thread-1";

async fn put(w: &World, who: &Principal, slot: &str, ttl_seconds: Option<u32>) -> Result<Slot> {
    let new = NewSlot { value: json!({"of": slot}), ttl_seconds };
    w.mnemic.put_slot(who, CONVERSATION, slot, new).await
}

async fn get(w: &World, who: &Principal, slot: &str) -> Result<Slot> {
    w.mnemic.get_slot(who, CONVERSATION, slot).await
}

pub(crate) async fn a_slot_lives_for_an_hour_after_it_was_last_read(w: World) {
    let slot = put(&w, &w.operator, "plan", None).await.unwrap();
    assert_eq!(slot.expires_at, w.now() + SignedDuration::from_hours(1));
    for _ in 0..3 {
        w.clock.forward(SignedDuration::from_mins(59));
        let read = get(&w, &w.operator, "plan").await.unwrap();
        assert_eq!(read.expires_at, w.now() + SignedDuration::from_hours(1));
        assert_eq!(read.value, json!({"of": "plan"}));
    }
    w.clock.forward(SignedDuration::from_hours(1));
    assert_eq!(seen(get(&w, &w.operator, "plan").await), ("not_found", "no such slot".to_owned()));
    assert_eq!(w.mnemic.clear_slots(&w.operator, CONVERSATION).await.unwrap(), 0);
}

pub(crate) async fn a_slot_can_say_how_long_it_lives(w: World) {
    put(&w, &w.operator, "short", Some(1)).await.unwrap();
    put(&w, &w.operator, "long", Some(30 * 24 * 3_600)).await.unwrap();
    w.clock.forward(SignedDuration::from_secs(1));
    assert_eq!(seen(get(&w, &w.operator, "short").await).0, "not_found");
    w.clock.forward(SignedDuration::from_hours(29 * 24));
    get(&w, &w.operator, "long").await.unwrap();
    for wrong in [0, 30 * 24 * 3_600 + 1] {
        let error = put(&w, &w.operator, "wrong", Some(wrong)).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidField);
    }
}

pub(crate) async fn slots_of_two_workspaces_never_meet(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let agent = w.member("acme", "agent").await;
    put(&w, &agent, "plan", None).await.unwrap();
    get(&w, &acme, "plan").await.unwrap();
    assert_eq!(seen(get(&w, &globex, "plan").await), seen(get(&w, &globex, "never").await));
    let gone = w.mnemic.delete_slot(&globex, CONVERSATION, "plan").await;
    assert_eq!(seen(gone).0, "not_found");
    let page = PageRequest::default();
    let listed = w.mnemic.list_slots(&globex, CONVERSATION, &page).await.unwrap();
    assert!(listed.items.is_empty());
    assert_eq!(w.mnemic.clear_slots(&globex, CONVERSATION).await.unwrap(), 0);
    assert_eq!(w.mnemic.clear_slots(&acme, CONVERSATION).await.unwrap(), 1);
}

pub(crate) async fn a_hard_delete_takes_the_slots_of_its_workspace_along(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    for who in [&acme, &globex] {
        put(&w, who, "a", None).await.unwrap();
        put(&w, who, "b", None).await.unwrap();
    }
    let erasure = w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap();
    assert_eq!(erasure.unwrap().removed["slots"], 2);
    assert_eq!(seen(get(&w, &acme, "a").await).0, "not_found");
    get(&w, &globex, "a").await.unwrap();
}
