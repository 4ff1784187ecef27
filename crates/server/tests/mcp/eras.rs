//! How each era of the protocol begins, and that neither needs a memory of the other requests.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::house::{Era, House};

#[tokio::test]
async fn the_era_before_shakes_hands_without_a_session() {
    let house = House::new().await;
    let client = house.client(Era::Before);
    let hello = |version: &str| {
        json!({"protocolVersion": version, "capabilities": {},
               "clientInfo": {"name": "test", "version": "1"}})
    };
    for version in ["2025-11-25", "2025-06-18"] {
        let body =
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello(version)});
        let reply = house
            .post(body.to_string(), |request| {
                request.header("authorization", format!("Bearer {}", house.operator))
            })
            .await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(!reply.headers.contains_key("mcp-session-id"));
        let result = &reply.json()["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "mnemic");
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.contains("memory_recall"), "{instructions}");
        for part in ["tools", "prompts", "resources"] {
            assert!(result["capabilities"][part].is_object(), "{result}");
        }
    }
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let reply = house
        .post(notification.to_string(), |request| {
            request
                .header("authorization", format!("Bearer {}", house.operator))
                .header("mcp-protocol-version", "2025-11-25")
        })
        .await;
    assert_eq!((reply.status, reply.text.as_str()), (202, ""));
    let tools = client.result("tools/list", json!({})).await;
    assert!(tools.get("resultType").is_none(), "a word of the next era");
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn an_unknown_future_version_is_offered_the_last_handshake() {
    let house = House::new().await;
    let params = json!({"protocolVersion": "2099-01-01", "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let reply = house
        .post(body.to_string(), |request| {
            request.header("authorization", format!("Bearer {}", house.operator))
        })
        .await;
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25", "{}", reply.text);
}

#[tokio::test]
async fn today_every_request_stands_alone() {
    let house = House::new().await;
    let client = house.client(Era::Today);
    let found = client.result("server/discover", json!({})).await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    let tools = client.result("tools/list", json!({})).await;
    assert_eq!(tools["resultType"], "complete");
    assert!(tools["ttlMs"].is_number() && tools["cacheScope"] == "private", "what is ours is ours");
}

#[tokio::test]
async fn today_headers_must_repeat_the_body() {
    let house = House::new().await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                      "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "memory_get", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    for name in [None, Some("memory_forget")] {
        let reply = house
            .post(body.to_string(), |request| {
                let request = request
                    .header("authorization", format!("Bearer {}", house.operator))
                    .header("mcp-protocol-version", "2026-07-28")
                    .header("mcp-method", "tools/call");
                if let Some(name) = name { request.header("mcp-name", name) } else { request }
            })
            .await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        assert_eq!(reply.json()["id"], 5);
    }
}

#[tokio::test]
async fn there_is_no_stream_to_open_and_no_session_to_end() {
    let house = House::new().await;
    for method in ["GET", "DELETE"] {
        let request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("authorization", format!("Bearer {}", house.operator))
            .body(Body::empty())
            .unwrap();
        let reply = house.send(request).await;
        assert_eq!(reply.status, 405, "{}", reply.text);
        assert_eq!(reply.headers["allow"], "POST");
        assert!(reply.json()["error"].is_object());
    }
}

#[tokio::test]
async fn what_one_era_stores_the_other_reads() {
    let house = House::new().await;
    let id = house.client(Era::Before).remember("the deploy window is Tuesday").await;
    let memory = house.client(Era::Today).done("memory_get", json!({"id": id})).await;
    assert_eq!(memory["content"], "the deploy window is Tuesday");
}
