//! What a client does wrong is answered with a problem that names it.

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request};
use mnemic_server::Limits;
use mnemic_store::sqlite::Options;
use serde_json::json;

use crate::house::{House, id_of};

const MEMORIES: &str = "/v1/workspaces/current/memories";
const JSON: Option<&str> = Some("application/json");

#[tokio::test]
async fn bad_bodies_are_named() {
    let house = House::new().await;
    for (body, code, named) in [
        (r#"{"content":"x","colour":1}"#, "invalid_field", "colour"),
        (r#"[{"content":"x"},{"content":"x","colour":1}]"#, "invalid_field", "[1].colour"),
        (r#"{"content":1}"#, "invalid_field", "content"),
        (r#"{"kind":"fact"}"#, "invalid_field", "content"),
        (r#"{"content":"x","confidence":2}"#, "invalid_field", "confidence"),
        (r#"{"content":"x","supersedes":"no"}"#, "invalid_field", "supersedes"),
        (r#"{"content":"x","valid_from":"soon"}"#, "invalid_field", "valid_from"),
        (r#"{"content":"a\u0000b"}"#, "invalid_field", "U+0000"),
        (r#"{"content":"a\u200bb"}"#, "invalid_field", "U+200B"),
        (r#"{"content":""}"#, "invalid_field", "content"),
        ("[]", "invalid_field", "memories"),
        (r#"[["x"]]"#, "invalid_field", "[0]: invalid type: sequence, expected an object"),
        ("{}", "invalid_field", "content"),
        ("", "invalid_body", "JSON"),
        ("{", "invalid_body", "EOF"),
        (r#"{"content":"x"}}"#, "invalid_body", "trailing"),
        (r#"{"content":"x","content":"y"}"#, "invalid_body", "duplicate"),
        ("\"text\"", "invalid_field", "string"),
    ] {
        let detail = house.post_raw(JSON, body).await.refused(400, code);
        assert!(detail.contains(named), "{body}: {detail}");
    }
    house.post_raw(JSON, vec![b'{', 0xff, b'}']).await.refused(400, "invalid_body");
    let long = json!({"content": "x".repeat(40_000)}).to_string();
    let detail = house.post_raw(JSON, long).await.refused(400, "invalid_field");
    assert!(detail.contains("32768"), "{detail}");
    let huge = json!({"content": "x".repeat(10_000_000)}).to_string();
    let detail = house.post_raw(JSON, huge).await.refused(413, "too_large");
    assert!(detail.contains("2097152"), "{detail}");
    assert_eq!(house.get(MEMORIES).await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn deep_json_is_refused_wherever_it_stands() {
    let house = House::new().await;
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let deeper = "{\"memory\":".repeat(10_000) + "1" + &"}".repeat(10_000);
    for (method, path) in [
        (Method::POST, MEMORIES),
        (Method::POST, "/v1/workspaces/current/recall"),
        (Method::PUT, "/v1/workspaces/current/settings"),
        (Method::POST, "/v1/tokens"),
    ] {
        for body in [&deep, &deeper] {
            let request = Request::builder()
                .method(method.clone())
                .uri(path)
                .header("host", "localhost")
                .header(AUTHORIZATION, format!("Bearer {}", house.operator))
                .header(CONTENT_TYPE, "application/json")
                .body(Body::from(body.clone()))
                .unwrap();
            let reply = house.send(request).await;
            assert_eq!(reply.status, 400, "{path}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn an_array_does_not_pass_for_an_object() {
    let house = House::new().await;
    let memory = house.remember("x").await;
    let path = format!("{MEMORIES}/{}", id_of(&memory));
    house.patch(&path, &json!([null, null])).await.refused(400, "invalid_field");
    house.post("/v1/workspaces/current/recall", &json!(["x"])).await.refused(400, "invalid_field");
    house.post(&format!("{MEMORIES}/purge"), &json!([0])).await.refused(400, "invalid_field");
    let settings = "/v1/workspaces/current/settings";
    let nested = house.put(settings, &json!({"memory": [false]})).await;
    assert!(nested.refused(400, "invalid_field").starts_with("memory: "));
    house.put(settings, &json!({"memory": null})).await.expect(200);
}

#[tokio::test]
async fn bodies_must_say_that_they_are_json() {
    let house = House::new().await;
    let body = r#"{"content":"x"}"#;
    for wrong in [None, Some("text/plain"), Some("application/json; charset=latin1")] {
        house.post_raw(wrong, body).await.refused(415, "unsupported_media_type");
    }
    for right in ["application/json", "application/json; charset=UTF-8", "application/x+json"] {
        house.post_raw(Some(right), body).await.expect(201);
    }
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let house = House::new().await;
    for (query, code, named) in [
        ("limit=0", "invalid_field", "limit"),
        ("limit=201", "invalid_field", "limit"),
        ("limit=many", "invalid_field", "limit"),
        ("limit=-1", "invalid_field", "limit"),
        ("limit=", "invalid_field", "limit"),
        ("limit=1&limit=2", "invalid_field", "limit"),
        ("colour=red", "invalid_field", "colour"),
        ("kind=rumour", "invalid_field", "kind"),
        ("pinned=yes", "invalid_field", "pinned"),
        ("as_of=soon", "invalid_field", "as_of"),
        ("channel=%20x", "invalid_field", "channel"),
        ("q=", "invalid_field", "q"),
        ("q=%ff", "invalid_field", "UTF-8"),
        ("cursor=abc", "invalid_cursor", "cursor"),
        ("cursor=%F0%9F%92%A5", "invalid_cursor", "cursor"),
    ] {
        let detail = house.get(&format!("{MEMORIES}?{query}")).await.refused(400, code);
        assert!(detail.contains(named), "{query}: {detail}");
    }
    for path in [
        "/v1/workspaces?colour=red",
        "/v1/workspaces/current?colour=red",
        "/v1/workspaces/current/settings?colour=red",
        "/v1/workspaces/current/jobs?colour=red",
        "/v1/workspaces/current/memories/stale?colour=red",
        "/v1/doctor?colour=red",
    ] {
        let detail = house.get(path).await.refused(400, "invalid_field");
        assert!(detail.contains("colour"), "{path}: {detail}");
    }
    let keyed = house.post(&format!("{MEMORIES}?colour=red"), &json!({"content": "x"})).await;
    assert!(keyed.refused(400, "invalid_field").contains("colour"));
}

#[tokio::test]
async fn bad_paths_are_named() {
    let house = House::new().await;
    for id in ["1", "not-a-uuid", "0193a5b07e1c7d3a9b1f2c3d4e5f6a7b"] {
        let detail = house.get(&format!("{MEMORIES}/{id}")).await.refused(400, "invalid_field");
        assert!(detail.contains(id), "{detail}");
    }
    house.get(&format!("{MEMORIES}/%ff")).await.refused(400, "invalid_field");
    house.get("/v1/workspaces/%ff/memories").await.refused(400, "invalid_field");
    let unknown = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
    house.get(&format!("{MEMORIES}/{unknown}")).await.refused(404, "not_found");
    house.act("/v1/workspaces/current/jobs/nonsense/run").await.refused(400, "invalid_field");
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_are_taken() {
    let house = House::new().await;
    let memory = house.remember("x").await;
    for (path, allowed) in [
        ("/v1/workspaces/current/recall".to_owned(), "POST"),
        (format!("{MEMORIES}/{}", id_of(&memory)), "GET,HEAD,PATCH,DELETE"),
        ("/livez".to_owned(), "GET,HEAD"),
        ("/openapi.json".to_owned(), "GET,HEAD"),
    ] {
        let reply = house.put(&path, &json!({})).await;
        reply.refused(405, "method_not_allowed");
        let mut given: Vec<_> = reply.headers["allow"].to_str().unwrap().split(',').collect();
        let mut expected: Vec<_> = allowed.split(',').collect();
        given.sort_unstable();
        expected.sort_unstable();
        assert_eq!(given, expected, "{path}");
    }
}

#[tokio::test]
async fn a_request_without_a_body_takes_none() {
    let house = House::new().await;
    let memory = house.remember("x").await;
    let path = format!("{MEMORIES}/{}/pin", id_of(&memory));
    house.post(&path, &json!({})).await.expect(200);
    house.post(&path, &json!({"hard": true})).await.refused(400, "invalid_body");
}

#[tokio::test]
async fn a_full_disk_is_told_and_survived() {
    let store = Options { pages_max: Some(400), ..Options::default() };
    let house = House::with(Limits::default(), store).await;
    let body = json!({"content": "x".repeat(30_000)});
    let mut kept = 0;
    let refused = loop {
        let reply = house.post(MEMORIES, &body).await;
        if reply.status != 201 {
            break reply;
        }
        kept += 1;
        assert!(kept < 1_000, "the limit was never met");
    };
    refused.refused(503, "store_unavailable");
    assert!(refused.headers.contains_key("retry-after"));
    let listed = house.get(&format!("{MEMORIES}?limit=200")).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), kept);
}
