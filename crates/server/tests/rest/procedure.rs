//! Strategies, tools, profiles, scratchpads, sessions and the timeline over REST: their shapes, and
//! what is wrong with a request.

use axum::http::Method;
use serde_json::{Value, json};

use crate::house::{House, id_of};

const OWN: &str = "/v1/workspaces/current";
const NOBODY: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";

/// The detail of a refusal must name what is wrong.
async fn refuse(house: &House, method: Method, path: &str, body: &Value, named: &str) {
    let reply = house.call(method, path, Some(&house.operator), Some(body)).await;
    assert_eq!(reply.status.as_u16(), 400, "{path}: {}", reply.text);
    assert!(reply.json()["detail"].to_string().contains(named), "{path}: {}", reply.text);
}

#[tokio::test]
async fn a_strategy_is_learned_found_reinforced_and_forgotten() {
    let house = House::new().await;
    let path = format!("{OWN}/strategies");
    let body = json!({"description": "bisect the commits", "context_pattern": "a test broke",
        "tool_sequence": ["git_bisect"], "channel": "team"});
    let made = house.post(&path, &body).await.expect(201);
    for field in ["description", "context_pattern", "tool_sequence", "channel"] {
        assert_eq!(made[field], body[field], "{field}");
    }
    let again = house.post(&path, &body).await.expect(200);
    assert_eq!((&again["id"], &again["success_count"]), (&made["id"], &json!(2)));
    let task = json!({"task": "why did the test break"});
    let found = house.post(&format!("{path}/search"), &task).await.expect(200);
    assert_eq!(found["items"][0]["id"], made["id"]);
    assert!(found["items"][0]["score"].as_f64().unwrap() > 0.0, "{found}");
    assert_eq!(found["items"][0]["success_rate"], 0.75);
    let one = format!("{path}/{}", id_of(&made));
    let failed = house.post(&format!("{one}/reinforce"), &json!({"success": false})).await;
    assert_eq!(failed.expect(200)["failure_count"], 1);
    house.delete(&one).await.expect(204);
    let found = house.post(&format!("{path}/search"), &task).await.expect(200);
    assert_eq!(found["items"], json!([]));
    for (body, named) in [
        (json!({}), "description"),
        (json!({"description": "x", "tool_sequence": "y"}), "tool_sequence"),
        (json!({"description": "x", "rate": 1}), "rate"),
    ] {
        refuse(&house, Method::POST, &path, &body, named).await;
    }
    refuse(&house, Method::POST, &format!("{path}/search"), &json!({"query": "x"}), "query").await;
    let gone = house.post(&format!("{one}/reinforce"), &json!({"success": true})).await;
    gone.refused(404, "not_found");
}

#[tokio::test]
async fn calls_of_tools_are_reported_and_counted() {
    let house = House::new().await;
    let path = format!("{OWN}/tools/invocations");
    let body = json!({"tool": "web_search", "success": true, "latency_ms": 100, "id": NOBODY,
        "input": {"q": "x"}});
    let first = house.post(&path, &body).await.expect(201);
    assert_eq!((&first["id"], &first["payload_kept"]), (&json!(NOBODY), &json!(false)));
    assert_eq!(house.post(&path, &body).await.expect(201), first);
    let settings = json!({"tools": {"keep_payloads": true}});
    let settings = house.put(&format!("{OWN}/settings"), &settings).await.expect(200);
    assert_eq!(settings["tools"]["keep_payloads"], true);
    let body = json!({"tool": "web_search", "success": false, "error": "timed out", "output": 1});
    assert_eq!(house.post(&path, &body).await.expect(201)["payload_kept"], true);
    let listed = house.get(&format!("{OWN}/tools")).await.expect(200);
    let tool = &listed["items"][0];
    assert_eq!((&tool["tool"], &tool["usage_count"]), (&json!("web_search"), &json!(2)));
    assert_eq!((&tool["success_rate"], &tool["mean_latency_ms"]), (&json!(0.5), &json!(100.0)));
    for (body, named) in [
        (json!({"tool": "x"}), "success"),
        (json!({"tool": "x", "success": true, "latency_ms": -1}), "latency_ms"),
        (json!({"tool": "x", "success": true, "id": "y"}), "id"),
    ] {
        refuse(&house, Method::POST, &path, &body, named).await;
    }
}

#[tokio::test]
async fn a_profile_is_put_by_parts() {
    let house = House::new().await;
    let path = format!("{OWN}/users/ana/profile");
    house.get(&path).await.refused(404, "not_found");
    let body = json!({"preferences": {"units": "metric", "theme": "dark"}, "expertise": ["rust"],
        "communication_style": "brief"});
    let made = house.put(&path, &body).await.expect(200);
    assert_eq!((&made["preferences"], &made["metadata"]), (&body["preferences"], &json!({})));
    let body = json!({"preferences": {"theme": null}, "expertise": null});
    let merged = house.put(&path, &body).await.expect(200);
    assert_eq!(merged["preferences"], json!({"units": "metric"}));
    assert_eq!(
        (&merged["expertise"], &merged["communication_style"]),
        (&json!([]), &json!("brief"))
    );
    assert_eq!(house.get(&path).await.expect(200), merged);
    let agent = house.token(&json!({"role": "agent"})).await;
    house.call(Method::GET, &path, Some(&agent), None).await.refused(403, "denied");
    let own = house.token(&json!({"role": "agent", "user": "ana"})).await;
    house.call(Method::GET, &path, Some(&own), None).await.expect(200);
    for (body, named) in
        [(json!({"preferences": 1}), "preferences"), (json!({"mood": "good"}), "mood")]
    {
        refuse(&house, Method::PUT, &path, &body, named).await;
    }
    let receipt = house.delete(&format!("{OWN}/users/ana")).await.expect(200);
    assert_eq!(receipt["counts"]["profiles"], 1);
    house.get(&path).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_scratchpad_opens_to_its_agent_alone() {
    let house = House::new().await;
    let path = format!("{OWN}/agents/scout/scratchpad");
    let scout = house.token(&json!({"role": "agent", "agent": "scout"})).await;
    let ask = async |method, body: Option<Value>| {
        house.call(method, &path, Some(&scout), body.as_ref()).await
    };
    let empty = ask(Method::GET, None).await.expect(200);
    assert_eq!((&empty["text"], &empty["revision"]), (&json!(""), &json!(0)));
    let written = ask(Method::PUT, Some(json!({"text": "look there"}))).await.expect(200);
    assert_eq!((&written["text"], &written["revision"]), (&json!("look there"), &json!(1)));
    assert_eq!(ask(Method::GET, None).await.expect(200), written);
    let stale = ask(Method::PUT, Some(json!({"text": "x", "revision": 0}))).await;
    stale.refused(409, "conflict");
    for token in [
        house.operator.clone(),
        house.token(&json!({"role": "agent", "agent": "other"})).await,
        house.token(&json!({"role": "admin", "user": "scout"})).await,
    ] {
        let reply = house.call(Method::GET, &path, Some(&token), None).await;
        let detail = reply.refused(403, "denied");
        assert!(detail.contains("`scout`") && !detail.contains("look there"), "{detail}");
        let body = json!({"text": "mine now"});
        house.call(Method::PUT, &path, Some(&token), Some(&body)).await.refused(403, "denied");
    }
    let audit = house.get(&format!("{OWN}/audit?limit=200")).await;
    assert!(!audit.text.contains("look there"), "{}", audit.text);
}

#[tokio::test]
async fn a_session_is_read_as_one() {
    let house = House::new().await;
    let path = format!("{OWN}/conversations/tea/session");
    let empty = house.get(&path).await.expect(200);
    assert_eq!(empty, json!({"recent_turns": [], "context": {}, "thoughts": []}));
    let turn = json!({"role": "user", "content": "hello"});
    house.post(&format!("{OWN}/conversations/tea/turns"), &turn).await.expect(201);
    let kept = json!({"value": {"at": null}, "ttl_seconds": 60});
    let kept = house.put(&format!("{path}/context/place"), &kept).await.expect(200);
    assert_eq!((&kept["key"], &kept["ttl_seconds"]), (&json!("place"), &json!(60)));
    house.post(&format!("{path}/thoughts"), &json!({"text": "hm"})).await.expect(201);
    let goal = house.post(&format!("{OWN}/goals"), &json!({"description": "pour"})).await;
    let goal = goal.expect(201);
    let pursued = house.put(&format!("{path}/goal"), &json!({"goal_id": goal["id"]})).await;
    assert_eq!(pursued.expect(200)["active_goal"], goal);
    let session = house.get(&path).await.expect(200);
    assert_eq!(session["context"], json!({"place": {"at": null}}));
    assert_eq!(session["recent_turns"][0]["content"], "hello");
    assert_eq!((&session["thoughts"][0]["text"], &session["active_goal"]), (&json!("hm"), &goal));
    house.put(&format!("{path}/goal"), &json!({"goal_id": null})).await.expect(200);
    assert!(house.get(&path).await.expect(200).get("active_goal").is_none());
    refuse(&house, Method::PUT, &format!("{path}/goal"), &json!({}), "goal_id").await;
    let nobody = house.put(&format!("{path}/goal"), &json!({"goal_id": NOBODY})).await;
    nobody.refused(404, "not_found");
    let slot = format!("{OWN}/conversations/tea/slots/session.goal");
    refuse(&house, Method::PUT, &slot, &json!({"value": 1}), "session.").await;
    house.get(&format!("{path}?turns=0")).await.refused(400, "invalid_field");
}

#[tokio::test]
async fn the_timeline_tells_what_happened() {
    let house = House::new().await;
    let memory = house.remember("tea is hot").await;
    house.post(&format!("{OWN}/memories/{}/promote", id_of(&memory)), &json!({})).await.expect(200);
    let path = format!("{OWN}/timeline");
    let told = house.get(&path).await.expect(200);
    let event = &told["items"][0];
    assert_eq!((&event["event"], &event["type"]), (&json!("promoted"), &json!("fact")));
    assert_eq!((&event["record_id"], &event["summary"]), (&memory["id"], &json!("tea is hot")));
    assert_eq!(
        (&event["channel"], told["items"].as_array().unwrap().len()),
        (&json!("_global"), 2)
    );
    assert!(event["importance"].as_f64().unwrap() > 0.0, "{event}");
    let learned = house.get(&format!("{path}?type=learned&limit=1")).await.expect(200);
    assert_eq!(
        (&learned["items"][0]["event"], &learned["next_cursor"]),
        (&json!("learned"), &Value::Null)
    );
    let none = house.get(&format!("{path}?until=2020-01-01T00:00:00Z")).await.expect(200);
    assert_eq!(none["items"], json!([]));
    for wrong in ["type=gossip", "since=yesterday", "kind=fact"] {
        house.get(&format!("{path}?{wrong}")).await.refused(400, "invalid_field");
    }
    house.get(&format!("{path}?cursor=x")).await.refused(400, "invalid_cursor");
}
