//! Metrics and benchmarks over REST: their shapes, and what is wrong with a request.

use serde_json::{Value, json};

use crate::house::{House, id_of};

const METRICS: &str = "/v1/workspaces/current/metrics";
const COMPARE: &str = "/v1/workspaces/current/benchmarks/compare";
/// The id of `task_success_rate`, in every workspace.
const RATE: &str = "6d6e656d-6963-8000-8000-000000000001";

fn merges() -> Value {
    json!({"name": "merges", "event_filter": {"action_types": ["ontology_mutation"]},
        "success_condition": "outcome == 'success'", "aggregation": "rate"})
}

#[tokio::test]
async fn a_metric_is_made_listed_changed_and_deleted() {
    let house = House::new().await;
    let made = house.post_keyed(METRICS, "k", &merges()).await.expect(201);
    assert_eq!(house.post_keyed(METRICS, "k", &merges()).await.expect(201), made);
    assert_eq!(made["event_filter"]["action_types"], json!(["ontology_mutation"]));
    assert_eq!((&made["window_days"], &made["active"]), (&json!(7), &json!(true)));
    assert_eq!((&made["built_in"], &made["description"]), (&json!(false), &Value::Null));
    house.post(METRICS, &merges()).await.refused(409, "conflict");
    let listed = house.get(METRICS).await.expect(200);
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    let all = ["efficiency_delta", "merges", "pattern_utilization", "task_success_rate"];
    assert_eq!(names, all);
    let one = format!("{METRICS}/{}", id_of(&made));
    let patch = json!({"window_days": 30, "description": "how merges go", "active": false});
    let patched = house.patch(&one, &patch).await.expect(200);
    for field in ["window_days", "description", "active"] {
        assert_eq!(patched[field], patch[field], "{field}");
    }
    let off = house.get(&format!("{METRICS}?active=false")).await.expect(200);
    assert_eq!(off["items"], json!([patched]));
    let emptied = house.patch(&one, &json!({"description": null})).await.expect(200);
    assert_eq!(emptied["description"], Value::Null);
    house.delete(&one).await.expect(204);
    house.delete(&one).await.refused(404, "not_found");
    house.delete(&format!("{METRICS}/{RATE}")).await.expect(204);
    let off = house.get(&format!("{METRICS}?active=false")).await.expect(200);
    assert_eq!(off["items"][0]["id"], RATE, "switched off, and still there");
}

#[tokio::test]
async fn a_preview_stores_nothing_and_a_trend_grows_by_the_day() {
    let house = House::new().await;
    let preview = json!({"success_condition": "action_count < 3", "aggregation": "average"});
    let found = house.post(&format!("{METRICS}/preview"), &preview).await.expect(200);
    let nothing = json!({"value": null, "baseline_value": null, "delta_vs_baseline": null,
        "sample_count": 0});
    assert_eq!(found, nothing);
    let named = house.post(&format!("{METRICS}/preview"), &merges()).await.expect(200);
    assert_eq!(named, nothing, "what would make a metric can be tried out");
    assert_eq!(house.get(METRICS).await.expect(200)["items"].as_array().unwrap().len(), 3);
    let trend = format!("{METRICS}/{RATE}/benchmarks");
    assert_eq!(house.get(&trend).await.expect(200)["items"], json!([]));
    let ran = house.act("/v1/workspaces/current/jobs/benchmarks/run").await.expect(200);
    assert_eq!(ran["changed"], 3);
    let days = house.get(&trend).await.expect(200);
    let day = &days["items"][0];
    assert_eq!((&day["metric_id"], &day["sample_count"]), (&json!(RATE), &json!(0)));
    assert_eq!((&day["value"], &day["window_days"]), (&Value::Null, &json!(7)));
    let date = day["day"].as_str().unwrap();
    assert!(day["created_at"].as_str().unwrap().starts_with(date), "{day}");
    let none = house.get(&format!("{trend}?until=2020-01-01")).await.expect(200);
    assert_eq!(none["items"], json!([]));
    let windows = json!([
        {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"},
        {"since": "2026-01-02T00:00:00Z", "until": "2026-01-03T00:00:00Z"},
    ]);
    let both = json!({"metric_id": RATE, "windows": windows});
    let both = house.post(COMPARE, &both).await.expect(200);
    assert_eq!(
        (&both["first"]["since"], &both["second"]["until"]),
        (&windows[0]["since"], &windows[1]["until"])
    );
    assert_eq!(
        (&both["first"]["name"], &both["difference"]),
        (&json!("task_success_rate"), &Value::Null)
    );
    assert_eq!(both["second"]["sample_count"], 0);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let house = House::new().await;
    let made = house.post(METRICS, &merges()).await.expect(201);
    let with = |field: &str, value: Value| {
        let mut body = merges();
        body["name"] = json!("other");
        body[field] = value;
        body
    };
    for (body, named) in [
        (json!({"name": "x", "aggregation": "rate"}), "success_condition"),
        (json!({"name": "x", "success_condition": "outcome == 'success'"}), "aggregation"),
        (with("name", json!("")), "name"),
        (with("unit", json!("s")), "unit"),
        (with("aggregation", json!("sum")), "aggregation"),
        (with("window_days", json!(0)), "window_days"),
        (with("event_filter", json!({"agents": ["a"]})), "agents"),
        (with("event_filter", json!([["a"], []])), "event_filter"),
        (
            with("success_condition", json!("outcome = 'success'")),
            "success_condition: at character 9",
        ),
        (
            with("success_condition", json!("action_count < 3 or")),
            "success_condition: at character 20",
        ),
    ] {
        let reply = house.post(METRICS, &body).await;
        let detail = reply.json()["detail"].to_string();
        reply.expect(400);
        assert!(detail.contains(named), "{detail}");
    }
    let (one, rate) = (format!("{METRICS}/{}", id_of(&made)), format!("{METRICS}/{RATE}"));
    house.patch(&one, &json!({"built_in": true})).await.expect(400);
    house.patch(&one, &json!({"name": "task_success_rate"})).await.refused(409, "conflict");
    house.patch(&rate, &json!({"aggregation": "p95"})).await.refused(400, "invalid_field");
    house.get(&format!("{one}/benchmarks?since=yesterday")).await.expect(400);
    house.get(&format!("{METRICS}/x/benchmarks")).await.refused(400, "invalid_field");
    let (id, time) = (made["id"].clone(), "2026-01-01T00:00:00Z");
    let window = json!({"since": time, "until": "2026-01-02T00:00:00Z"});
    for (body, named) in [
        (json!({}), "metric_ids"),
        (json!({"metric_ids": [id]}), "metric_ids"),
        (json!({"metric_ids": [id, id], "metric_id": id}), "metric_id"),
        (json!({"metric_ids": [id, id], "windows": [window, window]}), "windows"),
        (json!({"metric_id": id, "windows": [window]}), "windows"),
        (json!({"metric_id": id, "windows": [window, [time, time]]}), "windows"),
        (json!({"metric_id": id, "window": window}), "window"),
        (json!({"metric_ids": [id, id], "window": {"since": time}}), "until"),
        (json!({"metric_ids": [id, id], "window": {"since": time, "until": time}}), "window"),
    ] {
        let reply = house.post(COMPARE, &body).await;
        let detail = reply.json()["detail"].to_string();
        reply.expect(400);
        assert!(detail.contains(named), "{body}: {detail}");
    }
}
