//! Patterns over REST: their shapes, and what is wrong with a request.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::house::{House, id_of};

const OWN: &str = "/v1/workspaces/current";

/// Runs that ended in the same error, a while ago, and what was mined of them.
async fn fail_often(house: &House, count: u32) {
    let at = Timestamp::now() - SignedDuration::from_mins(30);
    let failed: Vec<_> = (0..count)
        .map(|run| {
            json!({"session_id": format!("run-{run}"), "agent_id": "scout", "action_type": "book",
                "node_type": "flight", "outcome": "failure", "error_code": "SeatTakenError", "at": at})
        })
        .collect();
    let reply = house.post(&format!("{OWN}/actions"), &json!(failed)).await;
    assert!(reply.status.is_success(), "{}", reply.text);
    mine(house).await;
}

async fn mine(house: &House) {
    for job in ["sequences", "patterns"] {
        house.act(&format!("{OWN}/jobs/{job}/run")).await.expect(200);
    }
}

#[tokio::test]
async fn a_pattern_is_listed_shown_annotated_and_told() {
    let house = House::new().await;
    fail_often(&house, 5).await;
    let page = house.get(&format!("{OWN}/patterns?sort=confidence&outcome=failure")).await;
    let page = page.expect(200);
    let pattern = &page["items"][0];
    assert_eq!((page["items"].as_array().unwrap().len(), &page["next_cursor"]), (1, &Value::Null));
    let expected = json!({"action_type": "book", "node_type": "flight",
        "error_code": "SeatTakenError", "confidence": 1.0, "sample_count": 5, "total_count": 5,
        "annotation": null, "suppressed": false, "superseded_by": null});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&pattern[field], value, "{field}");
    }
    let one = format!("{OWN}/patterns/{}", id_of(pattern));
    let view = house.get(&one).await.expect(200);
    assert_eq!(
        view["effect"],
        json!({"shown": 0, "avoided": 0, "held_out": 0,
        "held_out_avoided": 0, "delta": null, "delta_low": null, "delta_high": null})
    );
    assert_eq!((&view["id"], &view["supersedes"]), (&pattern["id"], &json!([])));
    let patch = json!({"annotation": "Ask for seats first.", "recommendation": "Do not book."});
    let patched = house.patch(&one, &patch).await.expect(200);
    assert_eq!(patched["recommendation"], "Do not book.");
    let wish = json!({"node_types": ["flight"], "action_type": "book"});
    let inject = format!("{OWN}/context-inject");
    let told = house.post(&inject, &wish).await.expect(200);
    assert_eq!(
        told["text"],
        "[Mnemic memory — 1 relevant pattern]\n\
         Pattern: book:flight:SeatTakenError (confidence 1.00)\n\
         Recommendation: Do not book. Ask for seats first."
    );
    assert_eq!((&told["patterns"][0]["id"], &told["held_out"]), (&pattern["id"], &json!(false)));
    let back = json!({"annotation": null, "recommendation": null, "suppressed": true});
    let back = house.patch(&one, &back).await.expect(200);
    assert!(back["recommendation"].as_str().unwrap().starts_with("100% of book actions"));
    assert_eq!(house.post(&inject, &wish).await.expect(200)["text"], "");
    let recall = json!({"query": "book a flight", "include": ["patterns"]});
    let bundle = house.post(&format!("{OWN}/recall"), &recall).await.expect(200);
    assert_eq!(bundle["patterns"], json!([]), "suppressed");
    house.patch(&one, &json!({"suppressed": false})).await.expect(200);
    let bundle = house.post(&format!("{OWN}/recall"), &recall).await.expect(200);
    assert_eq!(bundle["patterns"][0]["id"], pattern["id"]);
}

#[tokio::test]
async fn what_came_of_a_warning_is_shown() {
    let house = House::new().await;
    fail_often(&house, 5).await;
    let settings = format!("{OWN}/settings");
    house.put(&settings, &json!({"telemetry": {"holdout": 1}})).await.expect(200);
    let wish = json!({"action_type": "book", "session_id": "held"});
    let told = house.post(&format!("{OWN}/context-inject"), &wish).await.expect(200);
    assert_eq!((&told["held_out"], &told["text"]), (&json!(true), &json!("")));
    house.put(&settings, &json!({"telemetry": {"holdout": 2}})).await.refused(400, "invalid_field");
    let kept = house.get(&settings).await.expect(200);
    assert_eq!(
        kept["telemetry"],
        json!({"holdout": 1.0, "sequences": 5,
        "confidence_percent": 60, "window_days": 90})
    );
}

#[tokio::test]
async fn past_runs_are_found_by_what_they_did() {
    let house = House::new().await;
    fail_often(&house, 3).await;
    let wish = json!({"query": "book"});
    let found = house.post(&format!("{OWN}/sequences/search"), &wish).await.expect(200);
    let run = &found["items"][0];
    assert_eq!((&run["runs"], &run["succeeded"]), (&json!(3), &json!(0)), "{found}");
    assert!(run["intent_summary"].as_str().unwrap().contains("book"), "{run}");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let house = House::new().await;
    fail_often(&house, 5).await;
    let page = house.get(&format!("{OWN}/patterns")).await.expect(200);
    let one = format!("{OWN}/patterns/{}", id_of(&page["items"][0]));
    for (path, body, named) in [
        (&one, json!({"confidence": 1}), "confidence"),
        (&one, json!({"annotation": ""}), "annotation"),
        (&one, json!({"suppressed": "yes"}), "suppressed"),
        (&one, json!({"recommendation": "x".repeat(2_049)}), "2048"),
    ] {
        let reply = house.patch(path, &body).await;
        let detail = reply.json()["detail"].to_string();
        reply.expect(400);
        assert!(detail.contains(named), "{detail}");
    }
    let inject = format!("{OWN}/context-inject");
    for (body, named) in [
        (json!({"nodes": []}), "nodes"),
        (json!({"node_ids": ["x"]}), "node_ids"),
        (json!({"node_types": [" x"]}), "node_types[0]"),
        (json!({"action_type": ""}), "action_type"),
    ] {
        let reply = house.post(&inject, &body).await;
        let detail = reply.json()["detail"].to_string();
        reply.expect(400);
        assert!(detail.contains(named), "{detail}");
    }
    house.get(&format!("{OWN}/patterns?sort=luck")).await.expect(400);
    house.get(&format!("{OWN}/patterns?cursor=x")).await.refused(400, "invalid_cursor");
}
