//! Metrics and benchmarks by their tools.

use serde_json::{Value, json};

use crate::house::{Client, Era, House};

/// The id of `task_success_rate`, in every workspace.
const RATE: &str = "6d6e656d-6963-8000-8000-000000000001";

/// A life of a metric.
pub(crate) async fn metric_calls(client: &Client<'_>) -> Vec<(&'static str, Value)> {
    let new = json!({"name": "short", "success_condition": "action_count < 5", "aggregation": "p95",
        "event_filter": {"action_type": ["graph_query"]}, "description": "how short they are"});
    let made = client.done("memory_metric_create", new).await["id"].clone();
    client.done("jobs_run", json!({"name": "benchmarks"})).await;
    let week = json!({"since": "2026-01-01T00:00:00Z", "until": "2026-01-08T00:00:00Z"});
    vec![
        (
            "memory_metric_create",
            json!({"name": "long", "success_condition": "not action_count < 5",
                "aggregation": "rate", "window_days": 14}),
        ),
        ("memory_metric_list", json!({"limit": 2})),
        ("memory_metric_list", json!({"active": false})),
        ("memory_metric_update", json!({"metric_id": made, "window_days": 30})),
        ("memory_metric_update", json!({"id": made, "clear": ["description"], "active": false})),
        ("memory_benchmark_get", json!({"metric_id": made})),
        ("memory_benchmark_get", json!({"metric_id": RATE, "since": "2020-01-01", "limit": 1})),
        ("memory_benchmark_compare", json!({"metric_ids": [made, RATE]})),
        ("memory_benchmark_compare", json!({"metric_id": RATE, "windows": [week, week]})),
        ("memory_metric_delete", json!({"metric_id": made})),
        ("memory_metric_delete", json!({"metric_id": RATE})),
    ]
}

#[tokio::test]
async fn dotted_names_are_answered_and_mistakes_are_told_with_their_place() {
    for era in Era::BOTH {
        let house = House::new().await;
        let client = house.client(era);
        let new = json!({"name": "Schema merge success rate",
            "event_filter": {"action_type": ["ontology_mutation"]},
            "success_condition": "outcome == 'success'", "aggregation": "rate", "window_days": 14,
            "description": "Rate of successful schema mutations over the last 14 days"});
        let made = client.done("memory.metric_create", new).await;
        let types = json!(["ontology_mutation"]);
        assert_eq!(made["event_filter"], json!({"action_types": types, "node_types": []}));
        let listed = client.done("memory.metric_list", json!({})).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), 4);
        let off = client.done("memory.metric_delete", json!({"metric_id": RATE})).await;
        assert_eq!(off, json!({"metric_id": RATE, "deactivated": true}));
        let on = json!({"metric_id": RATE, "active": true});
        assert_eq!(client.done("memory.metric_update", on).await["active"], true);
        let id = &made["id"];
        for (tool, arguments, named) in [
            (
                "memory_metric_update",
                json!({"metric_id": id, "success_condition": "outcome == 'success' && x"}),
                "success_condition: at character 22: expected `and`, `or` or the end, found `&`",
            ),
            ("memory_metric_update", json!({"metric_id": RATE, "name": "x"}), "name: task_success"),
            ("memory_metric_create", json!({"name": "x", "unit": "s"}), "`unit`"),
            ("memory_metric_create", json!({"name": "x", "aggregation": "sum"}), "aggregation"),
            ("memory_metric_list", json!({"workspace_id": RATE}), "`workspace_id`"),
            ("memory_benchmark_get", json!({"metric_id": id, "since": "soon"}), "since"),
            ("memory_benchmark_compare", json!({}), "metric_ids: name two metrics"),
            (
                "memory_benchmark_compare",
                json!({"metric_ids": [id]}),
                "metric_ids: needs exactly 2",
            ),
            ("memory_benchmark_compare", json!({"metric_id": id}), "windows: needs exactly 2"),
        ] {
            let (text, code) = client.failed(tool, arguments).await;
            assert_eq!(code, "invalid_field", "{text}");
            assert!(text.contains(named), "{tool}: {text}");
        }
    }
}
