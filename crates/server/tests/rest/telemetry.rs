//! Actions, sequences and traces over REST: reported, captured and listed.

use std::io::Write as _;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::house::{House, Reply, id_of};

const OWN: &str = "/v1/workspaces/current";
const ID: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";

fn action(session: &str, action_type: &str, error: Option<&str>) -> Value {
    let outcome = if error.is_some() { "failure" } else { "success" };
    json!({"session_id": session, "action_type": action_type, "outcome": outcome,
           "error_code": error, "agent_id": "booker"})
}

async fn listed(house: &House, query: &str) -> Vec<Value> {
    let page = house.get(&format!("{OWN}/actions?{query}")).await.expect(200);
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn actions_are_reported_grouped_and_listed() {
    let house = House::new().await;
    let path = format!("{OWN}/actions");
    let mut one = action("run-1", "update_reservation", Some("mod.PaymentError: 12.50 of Ana"));
    one["id"] = json!(ID);
    one["at"] = json!("2026-01-01T10:00:00Z");
    one["node_type"] = json!("reservation");
    let captured = house.post(&path, &one).await.expect(201);
    assert_eq!(captured, json!({"recorded": 1, "duplicates": 0, "ids": [ID]}));
    let mut later = action("run-1", "send_mail", None);
    later["at"] = json!("2026-01-01T10:05:00Z");
    let captured = house.post(&path, &json!([one, later])).await.expect(201);
    assert_eq!((&captured["recorded"], &captured["duplicates"]), (&json!(1), &json!(1)));
    let found = listed(&house, "session_id=run-1&outcome=failure").await;
    assert_eq!(found.len(), 1);
    for (field, expected) in [
        ("id", json!(ID)),
        ("agent_id", json!("booker")),
        ("action_type", json!("update_reservation")),
        ("node_type", json!("reservation")),
        ("error_code", json!("PaymentError")),
        ("at", json!("2026-01-01T10:00:00Z")),
        ("sequence_id", json!(null)),
    ] {
        assert_eq!(found[0][field], expected, "{field}");
    }
    house.act(&format!("{OWN}/jobs/sequences/run")).await.expect(200);
    let sequences = house.get(&format!("{OWN}/sequences?outcome=success")).await.expect(200);
    let sequence = &sequences["items"][0];
    assert_eq!(sequence["action_count"], 2, "{sequences}");
    let summary = "update_reservation on reservation failed with PaymentError, send_mail";
    assert_eq!(sequence["intent_summary"], summary);
    assert!(sequence["closed_at"].is_string());
    assert_eq!(listed(&house, &format!("sequence_id={}", id_of(sequence))).await.len(), 2);
    one["outcome"] = json!("success");
    one["error_code"] = json!(null);
    house.post(&path, &one).await.refused(409, "conflict");
    house.post(&format!("{OWN}/memory/disable"), &json!({})).await.expect(200);
    house.post(&path, &action("s", "x", None)).await.refused(409, "memory_disabled");
}

#[tokio::test]
async fn what_is_wrong_with_a_report_is_named() {
    let house = House::new().await;
    let path = format!("{OWN}/actions");
    let with = |field: &str, value: Value| {
        let mut body = action("s", "x", None);
        body[field] = value;
        body
    };
    for (body, named) in [
        (json!({}), "session_id"),
        (json!([]), "1 to 10000"),
        (with("outcome", json!("perhaps")), "outcome"),
        (with("arguments", json!({"q": "x"})), "arguments"),
        (with("node_ids", json!(["x"])), "node_ids"),
        (with("latency_ms", json!(-1)), "latency_ms"),
        (with("at", json!("yesterday")), "at"),
        (json!([with("session_id", json!("")), {"a": 1}]), "[1]"),
        (json!([action("s", "x", None), with("session_id", json!(""))]), "actions[1].session_id"),
    ] {
        let reply = house.post(&path, &body).await;
        assert_eq!(reply.status.as_u16(), 400, "{}", reply.text);
        assert!(reply.json()["detail"].to_string().contains(named), "{named}: {}", reply.text);
    }
    let many: Vec<_> = (0..10_001).map(|_| action("s", "x", None)).collect();
    let reply = house.post(&path, &json!(many)).await;
    assert!(reply.refused(400, "invalid_field").contains("1 to 10000 items, has 10001"));
    assert!(listed(&house, "").await.is_empty());
    house.post(&path, &json!(many[1..])).await.expect(201);
    for query in ["outcome=maybe", "node_id=x", "limit=0", "cursor=x", "what=1", "since=x"] {
        let reply = house.get(&format!("{path}?{query}")).await;
        assert_eq!(reply.status.as_u16(), 400, "{query}: {}", reply.text);
        let reply = house.get(&format!("{OWN}/sequences?{query}")).await;
        assert_eq!(reply.status.as_u16(), 400, "{query}: {}", reply.text);
    }
}

#[tokio::test]
async fn what_an_agent_does_over_rest_is_captured() {
    let house = House::new().await;
    let token = house.token(&json!({"role": "agent", "agent": "scout"})).await;
    let ask = async |method, path: &str, session: Option<&str>, body: Value| {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{OWN}/{path}"))
            .header("host", "localhost")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/json");
        if let Some(session) = session {
            request = request.header("mnemic-session", session);
        }
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        house.send(request.body(body).unwrap()).await
    };
    let node = json!({"type": "person", "name": "Ana"});
    let node = ask(Method::POST, "ontology/nodes", None, node).await.expect(201);
    let one = format!("ontology/nodes/{}", id_of(&node));
    ask(Method::GET, &one, Some("run-7"), Value::Null).await.expect(200);
    ask(Method::DELETE, &one, Some("run-7"), Value::Null).await.expect(204);
    ask(Method::GET, &one, Some("run-7"), Value::Null).await.refused(404, "not_found");
    ask(Method::POST, "recall", None, json!({"query": "zanzibar"})).await.expect(200);
    ask(Method::POST, "recall", None, json!({"query": 7})).await.refused(400, "invalid_field");
    ask(Method::GET, "actions", None, Value::Null).await.expect(200);
    ask(Method::GET, "settings", None, Value::Null).await.expect(200);
    house.remember("an operator looks after things").await;
    let seen: Vec<_> = listed(&house, "")
        .await
        .iter()
        .rev()
        .map(|it| {
            let word = |field: &str| it[field].as_str().unwrap_or("-").to_owned();
            ["session_id", "action_type", "node_type", "error_code"].map(word).join(" ")
        })
        .collect();
    assert_eq!(
        seen,
        [
            "scout ontology_mutation person -",
            "run-7 graph_query person -",
            "run-7 ontology_mutation person -",
            "run-7 graph_query person NodeNotFoundError",
            "scout memory_recall memory -",
            "scout memory_recall memory ValidationError",
        ]
    );
    let about = listed(&house, &format!("node_id={}", id_of(&node))).await;
    assert_eq!(about.len(), 4, "{about:?}");
    assert!(about.iter().all(|it| it["agent_id"] == "scout"));
}

pub(crate) async fn export(
    house: &House,
    kind: &str,
    encoding: Option<&str>,
    body: Vec<u8>,
) -> Reply {
    let mut request = Request::post("/v1/traces")
        .header("host", "localhost")
        .header(AUTHORIZATION, format!("Bearer {}", house.operator))
        .header(CONTENT_TYPE, kind);
    if let Some(encoding) = encoding {
        request = request.header(CONTENT_ENCODING, encoding);
    }
    house.send(request.body(Body::from(body)).unwrap()).await
}

pub(crate) fn span(id: &str, attributes: &Value, status: &Value) -> Value {
    let named = attributes.as_object().unwrap().iter();
    let named: Vec<_> =
        named.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"traceId": "5b8efff798038103d269b633813fc60c", "spanId": id, "name": "span",
           "startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": "1767225600250000000",
           "attributes": named, "status": status})
}

fn tool(name: &str) -> Value {
    json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
           "gen_ai.conversation.id": "chat-1", "gen_ai.agent.name": "booker",
           "gen_ai.tool.call.arguments": "zanzibar"})
}

pub(crate) fn trace(spans: &[Value]) -> Vec<u8> {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string().into_bytes()
}

#[tokio::test]
async fn spans_of_tool_calls_become_actions_once() {
    let house = House::new().await;
    let mut failed = tool("book");
    failed["error.type"] = json!("PaymentError");
    let other = json!({"gen_ai.operation.name": "chat"});
    let spans = [
        span("eee19b7ec3c1b174", &tool("search"), &json!({})),
        span("eee19b7ec3c1b175", &failed, &json!({"code": 2, "message": "zanzibar"})),
        span("eee19b7ec3c1b176", &other, &json!({})),
    ];
    let body = trace(&spans);
    assert_eq!(export(&house, "application/json", None, body.clone()).await.expect(200), json!({}));
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(&body).unwrap();
    let packed = packed.finish().unwrap();
    let kind = "application/json; charset=utf-8";
    assert_eq!(export(&house, kind, Some("gzip"), packed).await.expect(200), json!({}));
    let found = listed(&house, "session_id=chat-1").await;
    assert_eq!(found.len(), 2, "a retry counts once: {found:?}");
    let failure = found.iter().find(|it| it["action_type"] == "book").unwrap();
    assert_eq!(
        (&failure["error_code"], &failure["latency_ms"]),
        (&json!("PaymentError"), &json!(250))
    );
    assert_eq!(
        (&failure["agent_id"], &failure["at"]),
        (&json!("booker"), &json!("2026-01-01T00:00:00Z"))
    );
    assert!(!json!(found).to_string().contains("zanzibar"));
    let nameless = json!({"gen_ai.operation.name": "execute_tool"});
    let mixed = trace(&[
        span("eee19b7ec3c1b177", &nameless, &json!({})),
        span("eee19b7ec3c1b178", &tool("mail"), &json!({})),
    ]);
    let partial = export(&house, "application/json", None, mixed).await.expect(200);
    assert_eq!(partial["partialSuccess"]["rejectedSpans"], "1", "{partial}");
    assert!(partial["partialSuccess"]["errorMessage"].to_string().contains("gen_ai.tool.name"));
    assert_eq!(listed(&house, "session_id=chat-1").await.len(), 3);
}

#[tokio::test]
async fn traces_come_in_protocol_buffers_too() {
    let house = House::new().await;
    let mut span = field(1, &[7; 16]);
    span.extend(field(2, &[8; 8]));
    span.extend([57]);
    span.extend(1_767_225_600_000_000_000_u64.to_le_bytes());
    for (key, value) in [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "search")]
    {
        let any = field(1, value.as_bytes());
        span.extend(field(9, &[field(1, key.as_bytes()), field(2, &any)].concat()));
    }
    let request = field(1, &field(2, &field(2, &span)));
    let reply = export(&house, "application/x-protobuf", None, request).await;
    assert_eq!((reply.status.as_u16(), reply.text.as_str()), (200, ""));
    assert_eq!(reply.headers[CONTENT_TYPE], "application/x-protobuf");
    let found = listed(&house, "").await;
    assert_eq!(found[0]["action_type"], "search");
    assert_eq!(found[0]["session_id"], "07".repeat(16), "the trace is the session");
    let broken = export(&house, "application/x-protobuf", None, vec![10, 200]).await;
    assert_eq!(broken.status.as_u16(), 400);
    let broken = export(&house, "application/json", None, b"{".to_vec()).await;
    assert_eq!(broken.status.as_u16(), 400);
    assert!(broken.json()["message"].to_string().contains("ExportTraceServiceRequest"));
    export(&house, "text/plain", None, vec![]).await.refused(415, "unsupported_media_type");
    let encoding = export(&house, "application/json", Some("br"), vec![]).await;
    encoding.refused(415, "unsupported_media_type");
    let noise = export(&house, "application/json", Some("gzip"), b"noise".to_vec()).await;
    noise.refused(400, "invalid_body");
    house.post(&format!("{OWN}/memory/disable"), &json!({})).await.expect(200);
    let off = trace(&[self::span("eee19b7ec3c1b179", &tool("x"), &json!({}))]);
    let off = export(&house, "application/json", None, off).await.expect(200);
    assert_eq!(off["partialSuccess"]["rejectedSpans"], "1");
}

/// A field of bytes in the wire format, shorter than 16,384 bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let [low, _] = (length & 0x7f).to_le_bytes();
    let [high, _] = (length >> 7).to_le_bytes();
    [&[(number << 3) | 2, low | 0x80, high][..], bytes].concat()
}
