//! Strategies from conversations in which tools were called.

use jiff::SignedDuration;
use mnemic_core::conversation::NewTurn;
use mnemic_core::principal::Caller;
use mnemic_core::strategy::{Strategy, StrategySearch};
use mnemic_core::tool::NewInvocation;

use crate::erasure::user;
use crate::learning::Scripted;
use crate::world::World;

const QUIET: SignedDuration = SignedDuration::from_hours(1);

impl World {
    /// What was asked in a conversation, and which tools were called for it.
    async fn work(&self, who: &Caller, conversation: &str, request: &str, calls: &[(&str, bool)]) {
        let (role, content) = ("user".to_owned(), request.to_owned());
        let asked = NewTurn { role, content, ..NewTurn::default() };
        self.mnemic.add_turns(who, conversation, &[asked]).await.unwrap();
        for (tool, success) in calls {
            self.clock.forward(SignedDuration::from_secs(1));
            let new = NewInvocation {
                tool: (*tool).to_owned(),
                success: *success,
                conversation_id: Some(conversation.to_owned()),
                ..NewInvocation::default()
            };
            self.mnemic.record_invocation(who, &new).await.unwrap();
        }
    }

    async fn ways_for(&self, task: &str) -> Vec<Strategy> {
        let search = StrategySearch { task: task.to_owned(), ..StrategySearch::default() };
        let found = self.mnemic.find_strategies(&self.operator, &search).await.unwrap();
        found.items.into_iter().map(|hit| hit.strategy).collect()
    }
}

pub(crate) async fn work_that_succeeded_becomes_a_strategy_once(w: World) {
    let who = w.as_operator();
    let calls = [("search_flight", true), ("book", false), ("search_flight", true), ("book", true)];
    w.work(&who, "c1", "Book a flight to Rome", &calls).await;
    assert_eq!(w.would("strategies").await, 0, "it may go on");
    w.clock.forward(QUIET);
    assert_eq!(w.would("strategies").await, 1);
    assert_eq!(w.run("strategies").await, 1);
    assert_eq!(w.run("strategies").await, 0, "calls are learned from once");
    let [way] = &w.ways_for("book a flight").await[..] else { panic!("one strategy") };
    assert_eq!(way.description, "Call search_flight, then book.");
    assert_eq!(way.context_pattern.as_deref(), Some("Book a flight to Rome"));
    assert_eq!(way.tool_sequence, ["search_flight", "book"]);
    assert_eq!((way.success_count, way.failure_count), (1, 0));
    assert_eq!(way.created_by, "strategies");
}

pub(crate) async fn like_work_counts_and_other_work_is_another_strategy(w: World) {
    let who = w.as_operator();
    let worked = [("search_flight", true), ("book", true)];
    let failed = [("search_flight", true), ("book", false)];
    w.work(&who, "c1", "Book a flight to Rome", &worked).await;
    w.work(&who, "c2", "Book a flight to Paris", &worked).await;
    w.work(&who, "c3", "Book a flight to Oslo", &failed).await;
    w.work(&who, "c4", "Why does the payment take so long?", &worked).await;
    w.work(&who, "c5", "A single tool", &[("search_flight", true)]).await;
    w.work(&who, "c6", "Unheard of and failed", &[("a", true), ("b", false)]).await;
    w.clock.forward(QUIET);
    assert_eq!(w.run("strategies").await, 6);
    let ways = w.ways_for("book a flight search_flight payment call a b").await;
    let counts: Vec<_> = ways
        .iter()
        .map(|way| (way.context_pattern.as_deref().unwrap(), way.success_count, way.failure_count))
        .collect();
    assert_eq!(ways.len(), 2, "{counts:?}");
    assert!(counts.contains(&("Book a flight to Rome", 2, 1)), "{counts:?}");
    assert!(counts.contains(&("Why does the payment take so long?", 1, 0)), "{counts:?}");
}

pub(crate) async fn a_strategy_goes_with_the_user_whose_words_it_has(w: World) {
    let ana = Caller::new(user(&w, "ana", None).await.1);
    w.work(&ana, "c1", "Book a flight to Rome", &[("search_flight", true), ("book", true)]).await;
    w.clock.forward(QUIET);
    w.run("strategies").await;
    assert_eq!(w.ways_for("book a flight").await.len(), 1);
    w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert!(w.ways_for("book a flight").await.is_empty());
}

pub(crate) async fn a_model_describes_the_work_and_rules_do_where_it_fails(w: World) {
    let who = w.as_operator();
    let calls = [("search_flight", true), ("book", true)];
    w.work(&who, "c1", "Book a flight to Rome", &calls).await;
    w.work(&who, "c2", "Why does the payment take so long?", &calls).await;
    w.clock.forward(QUIET);
    let told = r#"{"description": "Look for flights with search_flight, then book one.",
                   "context_pattern": "booking travel"}"#;
    let mnemic = w.with_model(Scripted::new(&[told, "not json", "{}"]));
    assert_eq!(mnemic.run_job(&w.operator, "strategies", false).await.unwrap().changed, 2);
    let ways = w.ways_for("booking travel: call search_flight payment").await;
    let told: Vec<_> = ways.iter().map(|way| way.description.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.contains(&"Look for flights with search_flight, then book one."), "{told:?}");
    assert!(told.contains(&"Call search_flight, then book."), "{told:?}");
}

pub(crate) async fn nothing_is_learned_from_calls_where_memory_is_off(w: World) {
    let who = w.as_operator();
    w.work(&who, "c1", "Book a flight", &[("search_flight", true), ("book", true)]).await;
    w.clock.forward(QUIET);
    w.set(serde_json::json!({"extraction": {"enabled": false}})).await;
    assert_eq!(w.run("strategies").await, 0);
    w.set(serde_json::json!({"extraction": {"enabled": true}})).await;
    assert_eq!(w.run("strategies").await, 1);
}
