//! What a session has at hand, on top of slots.

use jiff::SignedDuration;
use mnemic_core::conversation::NewTurn;
use mnemic_core::goal::NewGoal;
use mnemic_core::ids::GoalId;
use mnemic_core::slot::{NewSlot, THOUGHTS_MAX};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, at_once, seen};

fn kept(value: Value, ttl_seconds: Option<u32>) -> NewSlot {
    NewSlot { value, ttl_seconds }
}

pub(crate) async fn a_session_has_all_at_hand(w: World) {
    let empty = w.mnemic.get_session(&w.operator, "tea", None).await.unwrap();
    assert!(empty.recent_turns.is_empty() && empty.context.is_empty());
    assert!(empty.thoughts.is_empty() && empty.active_goal.is_none());
    let turns: Vec<_> = (0..12)
        .map(|number| NewTurn {
            role: "user".to_owned(),
            content: format!("line {number}"),
            ..NewTurn::default()
        })
        .collect();
    w.mnemic.add_turns(&w.as_operator(), "tea", &turns).await.unwrap();
    for (key, value) in [("city", json!("Berlin")), ("a.b", json!({"c": null}))] {
        let slot = w.mnemic.put_session_context(&w.operator, "tea", key, kept(value, None)).await;
        slot.unwrap();
    }
    for text in ["first", "second"] {
        w.mnemic.add_thought(&w.operator, "tea", text).await.unwrap();
    }
    let new = NewGoal { description: "pour".to_owned(), ..NewGoal::default() };
    let goal = w.mnemic.add_goal(&w.as_operator(), &new).await.unwrap();
    w.mnemic.set_session_goal(&w.operator, "tea", Some(goal.id)).await.unwrap();
    let session = w.mnemic.get_session(&w.operator, "tea", Some(2)).await.unwrap();
    let recent: Vec<_> = session.recent_turns.iter().map(|turn| turn.content.as_str()).collect();
    assert_eq!(recent, ["line 10", "line 11"]);
    assert_eq!(json!(session.context), json!({"a.b": {"c": null}, "city": "Berlin"}));
    let thoughts: Vec<_> = session.thoughts.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(thoughts, ["first", "second"]);
    assert_eq!(session.active_goal.unwrap().id, goal.id);
    w.mnemic.set_session_goal(&w.operator, "tea", None).await.unwrap();
    let session = w.mnemic.get_session(&w.operator, "tea", None).await.unwrap();
    assert_eq!((session.recent_turns.len(), session.active_goal), (10, None));
    // Another's session of that name has none of it.
    let stranger = w.workspace("elsewhere").await;
    let theirs = w.mnemic.get_session(&stranger, "tea", None).await.unwrap();
    assert!(theirs.recent_turns.is_empty() && theirs.context.is_empty());
    assert_eq!(w.mnemic.clear_slots(&w.operator, "tea").await.unwrap(), 4);
}

pub(crate) async fn context_values_live_as_long_as_they_are_told_to(w: World) {
    for (key, ttl) in [("short", Some(60)), ("long", Some(7_200)), ("usual", None)] {
        let slot = kept(json!(key), ttl);
        w.mnemic.put_session_context(&w.operator, "tea", key, slot).await.unwrap();
    }
    let keys = async || {
        let session = w.mnemic.get_session(&w.operator, "tea", None).await.unwrap();
        session.context.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(keys().await, ["long", "short", "usual"]);
    w.clock.forward(SignedDuration::from_secs(61));
    assert_eq!(keys().await, ["long", "usual"]);
    w.clock.forward(SignedDuration::from_secs(3_601));
    assert_eq!(keys().await, ["long"]);
}

pub(crate) async fn thoughts_are_added_and_the_oldest_go(w: World) {
    let count = THOUGHTS_MAX + 20;
    at_once(count, |number| {
        let (mnemic, who) = (w.mnemic.clone(), w.operator.clone());
        async move { mnemic.add_thought(&who, "tea", &format!("thought {number}")).await.unwrap() }
    })
    .await;
    w.mnemic.add_thought(&w.operator, "tea", "the last").await.unwrap();
    let session = w.mnemic.get_session(&w.operator, "tea", None).await.unwrap();
    assert_eq!(session.thoughts.len(), THOUGHTS_MAX);
    assert_eq!(session.thoughts.last().unwrap().text, "the last");
}

pub(crate) async fn the_names_of_a_session_are_its_own(w: World) {
    let slot = kept(json!(1), None);
    let refused = w.mnemic.put_slot(&w.operator, "tea", "session.goal", slot.clone()).await;
    assert!(seen(refused).1.contains("begins with `session.`"));
    w.mnemic.put_slot(&w.operator, "tea", "sessions", slot.clone()).await.unwrap();
    let refused = w.mnemic.put_session_context(&w.operator, "tea", "a b", slot).await;
    assert!(seen(refused).1.starts_with("key: "));
    let nobody = Some(GoalId(Uuid::now_v7()));
    let refused = w.mnemic.set_session_goal(&w.operator, "tea", nobody).await;
    assert_eq!(seen(refused).0, "not_found");
    let refused = w.mnemic.get_session(&w.operator, "tea", Some(0)).await;
    assert!(seen(refused).1.starts_with("turns: "));
    assert_eq!(seen(w.mnemic.add_thought(&w.operator, "tea", " ").await).0, "invalid_field");
}
