//! Calls of tools and their figures.

use mnemic_core::ids::InvocationId;
use mnemic_core::page::PageRequest;
use mnemic_core::tool::{NewInvocation, ToolFigures};
use serde_json::json;
use uuid::Uuid;

use crate::world::{DAY, World, at_once, seen};

fn call(tool: &str, success: bool, latency_ms: Option<i64>) -> NewInvocation {
    NewInvocation { tool: tool.to_owned(), success, latency_ms, ..NewInvocation::default() }
}

impl World {
    async fn figures(&self) -> Vec<ToolFigures> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_tools(&self.operator, &page).await.unwrap().items
    }
}

pub(crate) async fn figures_follow_the_calls(w: World) {
    let calls = [
        call("web_search", true, Some(100)),
        call("web_search", false, Some(300)),
        call("web_search", true, None),
        call("bash", true, None),
    ];
    for new in &calls {
        w.mnemic.record_invocation(&w.as_operator(), new).await.unwrap();
        w.clock.forward(DAY);
    }
    let [bash, search] = &w.figures().await[..] else { panic!("two tools") };
    assert_eq!((bash.tool.as_str(), bash.usage_count), ("bash", 1));
    assert_eq!(bash.mean_latency_ms(), None);
    assert_eq!((search.usage_count, search.success_count), (3, 2));
    assert_eq!(search.mean_latency_ms(), Some(200.0));
    assert_eq!(search.last_used_at + DAY + DAY, w.now());
    let first = PageRequest { limit: Some(1), cursor: None };
    let first = w.mnemic.list_tools(&w.operator, &first).await.unwrap();
    assert_eq!(first.items[0].tool, "bash");
    let rest = PageRequest { limit: None, cursor: first.next_cursor };
    let rest = w.mnemic.list_tools(&w.operator, &rest).await.unwrap();
    assert_eq!((rest.items[0].tool.as_str(), rest.next_cursor), ("web_search", None));
    let stranger = w.workspace("elsewhere").await;
    assert!(
        w.mnemic.list_tools(&stranger, &PageRequest::default()).await.unwrap().items.is_empty()
    );
}

pub(crate) async fn a_call_reported_again_counts_once(w: World) {
    let id = Some(InvocationId(Uuid::now_v7()));
    let new = NewInvocation { id, ..call("bash", true, Some(5)) };
    let calls = at_once(16, |_| {
        let (mnemic, caller, new) = (w.mnemic.clone(), w.as_operator(), new.clone());
        async move { mnemic.record_invocation(&caller, &new).await.unwrap() }
    })
    .await;
    assert!(calls.iter().all(|it| *it == calls[0]));
    assert_eq!(w.figures().await[0].usage_count, 1);
    let other = NewInvocation { id, ..call("bash", false, None) };
    assert_eq!(seen(w.mnemic.record_invocation(&w.as_operator(), &other).await).0, "conflict");
    at_once(32, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let new = call("many", number % 2 == 0, Some(10));
        async move { mnemic.record_invocation(&caller, &new).await.unwrap() }
    })
    .await;
    let many = &w.figures().await[1];
    assert_eq!((many.usage_count, many.success_count, many.latency_ms_sum), (32, 16, 320));
}

pub(crate) async fn payloads_are_kept_only_where_the_workspace_says_so(w: World) {
    let new = NewInvocation {
        input: Some(json!({"q": "zanzibar"})),
        output: Some(json!(["zanzibar"])),
        ..call("search", true, None)
    };
    let call = w.mnemic.record_invocation(&w.as_operator(), &new).await.unwrap();
    assert_eq!((call.input, call.output), (None, None));
    assert!(!w.files_have("zanzibar"));
    let on = json!({"tools": {"keep_payloads": true}});
    w.mnemic.update_settings(&w.operator, &on).await.unwrap();
    let call = w.mnemic.record_invocation(&w.as_operator(), &new).await.unwrap();
    assert_eq!((call.input, call.output), (new.input, new.output));
    assert!(w.files_have("zanzibar"));
}

pub(crate) async fn what_is_wrong_with_a_call_is_named(w: World) {
    let big = json!("x".repeat(70_000));
    for (new, code, named) in [
        (call("", true, None), "invalid_field", "tool"),
        (call("x", true, Some(-1)), "invalid_field", "latency_ms: -1"),
        (
            NewInvocation { error: Some(String::new()), ..call("x", false, None) },
            "invalid_field",
            "error",
        ),
        (NewInvocation { input: Some(big), ..call("x", true, None) }, "too_large", "input: 70002"),
        (
            NewInvocation { conversation_id: Some("a b".to_owned()), ..call("x", true, None) },
            "invalid_field",
            "conversation_id",
        ),
    ] {
        let error = seen(w.mnemic.record_invocation(&w.as_operator(), &new).await);
        assert_eq!(error.0, code);
        assert!(error.1.contains(named), "{}", error.1);
    }
    assert!(w.figures().await.is_empty());
}

pub(crate) async fn calls_go_with_their_conversation_and_figures_stay(w: World) {
    let said = Some("standup".to_owned());
    let new = NewInvocation { conversation_id: said, ..call("bash", true, None) };
    w.mnemic.record_invocation(&w.as_operator(), &new).await.unwrap();
    w.mnemic.record_invocation(&w.as_operator(), &call("bash", true, None)).await.unwrap();
    let receipt = w.mnemic.erase_conversation(&w.as_operator(), "standup").await.unwrap();
    assert_eq!(receipt.counts["tool_invocations"], 1);
    assert_eq!(w.figures().await[0].usage_count, 2);
}
