//! Slots over REST.

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::house::House;

const SLOTS: &str = "/v1/workspaces/current/conversations/c-1/slots";

#[tokio::test]
async fn a_slot_is_written_read_listed_and_deleted() {
    let house = House::new().await;
    let path = format!("{SLOTS}/planner_decision");
    house.get(&path).await.refused(404, "not_found");
    let body = json!({"value": {"step": 2, "why": null}, "ttl_seconds": 600});
    let written = house.put(&path, &body).await.expect(200);
    assert_eq!(written["slot"], "planner_decision");
    assert_eq!((&written["value"], &written["ttl_seconds"]), (&body["value"], &json!(600)));
    assert!(written["expires_at"].as_str().unwrap().ends_with('Z'), "{written}");
    let read = house.get(&path).await.expect(200);
    assert_eq!(read["value"], body["value"]);
    assert!(read["expires_at"].as_str() >= written["expires_at"].as_str(), "its time began anew");
    house.put(&path, &json!({"value": null})).await.expect(200);
    let replaced = house.get(&path).await.expect(200);
    assert_eq!((&replaced["value"], &replaced["ttl_seconds"]), (&Value::Null, &json!(3600)));
    house.delete(&path).await.expect(204);
    house.delete(&path).await.refused(404, "not_found");
    house.get(&path).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_conversation_is_listed_by_name_and_cleared() {
    let house = House::new().await;
    assert_eq!(house.get(SLOTS).await.expect(200), json!({"items": [], "next_cursor": null}));
    for name in ["c", "a", "e", "b", "d"] {
        house.put(&format!("{SLOTS}/{name}"), &json!({"value": name})).await.expect(200);
    }
    let elsewhere = "/v1/workspaces/current/conversations/c-10/slots";
    house.put(&format!("{elsewhere}/a"), &json!({"value": 1})).await.expect(200);
    let (mut names, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = house.get(&format!("{SLOTS}{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap();
        names.extend(items.iter().map(|item| item["slot"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    for query in ["?limit=0", "?limit=201", "?colour=red"] {
        house.get(&format!("{SLOTS}{query}")).await.refused(400, "invalid_field");
    }
    let foreign = house.get("/v1/workspaces/current/memories?limit=1").await.expect(200);
    assert!(foreign["next_cursor"].is_null());
    house.get(&format!("{SLOTS}?cursor=abc")).await.refused(400, "invalid_cursor");
    assert_eq!(house.delete(SLOTS).await.expect(200), json!({"cleared": 5}));
    assert_eq!(house.delete(SLOTS).await.expect(200), json!({"cleared": 0}));
    assert_eq!(house.get(elsewhere).await.expect(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_page_of_large_values_is_cut_short_and_goes_on() {
    let house = House::new().await;
    let value = "x".repeat(250_000);
    for number in 10..30 {
        let path = format!("{SLOTS}/large-{number}");
        house.put(&path, &json!({"value": value})).await.expect(200);
    }
    let first = house.get(&format!("{SLOTS}?limit=200")).await.expect(200);
    let count = first["items"].as_array().unwrap().len();
    assert_eq!(count, 16, "four mebibytes");
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = house.get(&format!("{SLOTS}?limit=200&cursor={cursor}")).await.expect(200);
    assert_eq!(rest["items"].as_array().unwrap().len(), 4);
    assert_eq!(rest["next_cursor"], Value::Null);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let house = House::new().await;
    let path = format!("{SLOTS}/a");
    for (body, code, named) in [
        (r#"{"value":1,"ttl":5}"#, "invalid_field", "ttl"),
        (r#"{"ttl_seconds":5}"#, "invalid_field", "value"),
        (r#"{"value":1,"ttl_seconds":0}"#, "invalid_field", "ttl_seconds"),
        (r#"{"value":1,"ttl_seconds":2592001}"#, "invalid_field", "ttl_seconds"),
        (r#"{"value":1,"ttl_seconds":-1}"#, "invalid_field", "ttl_seconds"),
        (r#"{"value":1,"ttl_seconds":1.5}"#, "invalid_field", "ttl_seconds"),
        (r#"{"value":1,"ttl_seconds":"1"}"#, "invalid_field", "ttl_seconds"),
        (r#"{"value":1,"value":2}"#, "invalid_body", "duplicate"),
        ("[1]", "invalid_field", "an object"),
        ("", "invalid_body", "JSON"),
    ] {
        let request = Request::put(&path)
            .header("host", "localhost")
            .header(AUTHORIZATION, format!("Bearer {}", house.operator))
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .unwrap();
        let detail = house.send(request).await.refused(400, code);
        assert!(detail.contains(named), "{body}: {detail}");
    }
    let large = json!({"value": "x".repeat(262_143)});
    let detail = house.put(&path, &large).await.refused(413, "too_large");
    assert!(detail.contains("262144"), "{detail}");
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    house.put(&path, &json!({"value": deep})).await.refused(400, "invalid_field");
    house.get(&path).await.refused(404, "not_found");
}

#[tokio::test]
async fn names_that_are_not_allowed_are_named_whatever_the_method() {
    let house = House::new().await;
    let value = json!({"value": 1});
    let long = "x".repeat(129);
    for bad in ["a%3Ab", "a*", "%5Ba%5D", "a%20b", "%C3%A9", "a%00", "a%2Fb", "...", &long] {
        for (path, field) in [
            (format!("{SLOTS}/{bad}"), "slot: "),
            (format!("/v1/workspaces/current/conversations/{bad}/slots/a"), "conversation_id: "),
            (format!("/v1/workspaces/current/conversations/{bad}/slots"), "conversation_id: "),
        ] {
            let is_one = !path.ends_with("/slots");
            for method in [Method::GET, Method::DELETE, Method::PUT] {
                let body = (method == Method::PUT).then_some(&value);
                if body.is_some() && !is_one {
                    continue;
                }
                let reply = house.call(method, &path, Some(&house.operator), body).await;
                let detail = reply.refused(400, "invalid_field");
                assert!(detail.starts_with(field), "{path}: {detail}");
            }
        }
    }
}

#[tokio::test]
async fn a_uuid_is_one_conversation_in_either_case() {
    let house = House::new().await;
    let id = "0193A5B0-7E1C-7D3A-9B1F-2C3D4E5F6A7B";
    let at = |id: &str| format!("/v1/workspaces/current/conversations/{id}/slots/a");
    house.put(&at(id), &json!({"value": 1})).await.expect(200);
    house.get(&at(&id.to_lowercase())).await.expect(200);
}

#[tokio::test]
async fn every_role_uses_slots_and_other_workspaces_have_their_own() {
    let house = House::new().await;
    let path = format!("{SLOTS}/a");
    for role in ["admin", "member", "agent", "auditor"] {
        let token = house.token(&json!({"role": role})).await;
        let body = json!({"value": role});
        let put = house.call(Method::PUT, &path, Some(&token), Some(&body)).await;
        put.expect(200);
        let got = house.call(Method::GET, &path, Some(&token), None).await.expect(200);
        assert_eq!(got["value"], role);
    }
    let (_, stranger) = house.neighbour("strangers").await;
    house.call(Method::GET, &path, Some(&stranger), None).await.refused(404, "not_found");
    let own = format!("/v1/workspaces/{}/conversations/c-1/slots/a", house.workspace);
    house.call(Method::GET, &own, Some(&stranger), None).await.refused(404, "not_found");
    house.get(&own).await.expect(200);
}

#[tokio::test]
async fn the_doctor_looks_at_slots_and_the_probe_names_them() {
    let house = House::new().await;
    house.put(&format!("{SLOTS}/a"), &json!({"value": 1})).await.expect(200);
    let report = house.get("/v1/doctor").await.expect(200);
    let findings = report["findings"].as_array().unwrap();
    let slots = findings.iter().find(|finding| finding["part"] == "slots").unwrap();
    assert!(slots["detail"].as_str().unwrap().contains("1 slots"), "{slots}");
    assert_eq!(house.get("/readyz").await.expect(200)["slots"], "ready");
}

#[tokio::test]
async fn a_hard_delete_of_the_workspace_counts_its_slots() {
    let house = House::new().await;
    let (id, token) = house.neighbour("leaving").await;
    for name in ["a", "b"] {
        let path = format!("{SLOTS}/{name}");
        house.call(Method::PUT, &path, Some(&token), Some(&json!({"value": 1}))).await.expect(200);
    }
    let erased = house.delete(&format!("/v1/workspaces/{id}?hard=true")).await.expect(200);
    assert_eq!((&erased["removed"]["slots"], &erased["remaining"]), (&json!(2), &json!(0)));
}
