//! What goes out, what comes back, and what never does either.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use http_body_util::BodyExt as _;
use mnemic_core::action::ActionFilter;
use mnemic_core::language::{Provider, ServerModels};
use mnemic_core::page::PageRequest;
use mnemic_server::ProxyOptions;
use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::house::{House, OWN, UPSTREAM_KEY, hasty, question, request_as, served_by};

#[tokio::test]
async fn memory_is_added_late_and_nothing_else_is_touched() {
    let house = House::new(Behaviour::Good).await;
    let id = house.remember("Ana prefers tea over coffee").await;
    let body = r#"{ "seed": 12345678901234567890, "x_unknown":[1.50], "model":"scripted",
        "tools":[{"type":"function","function":{"name":"f"}}],
        "messages":[ {"role":"system","content":"Be brief."},
            {"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"},
            {"role":"user","content":[{"type":"text","text":"What does Ana drink, tea?"},
             {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}] }"#;
    let reply = house.send(house.chat_request(body, &[("x-mnemic-agent", "planner")])).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-mnemic-memory-skipped"), None);
    let asked = house.upstream.asked(Behaviour::Good).pop().unwrap();
    let sent = String::from_utf8(asked.body.clone()).unwrap();
    let at = sent.find(r#"{"role":"system","content":"What follows"#).unwrap();
    let (before, rest) = sent.split_at(at);
    let added: Value =
        serde_json::Deserializer::from_str(rest).into_iter().next().unwrap().unwrap();
    let added = added["content"].as_str().unwrap();
    assert!(added.contains(&format!("[mem:{id}] (fact")) && added.contains("tea over coffee"));
    let after = &rest[rest.find(r#"{"role":"user","content":[{"type":"text""#).unwrap()..];
    assert_eq!(format!("{before}{after}"), body);
    assert!(before.ends_with(
        r#"{"role":"assistant","content":"Hi"},
            "#
    ));
}

#[tokio::test]
async fn keys_and_headers_stay_on_their_side() {
    let house = House::new(Behaviour::Good).await;
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]});
    let reply = house.chat(&body, &[("x-mnemic-conversation", "c-1"), ("cookie", "ours=1")]).await;
    let asked = house.upstream.asked(Behaviour::Good).pop().unwrap();
    assert_eq!(asked.headers["authorization"], format!("Bearer {UPSTREAM_KEY}"));
    let sent = format!("{:?}{}", asked.headers, String::from_utf8(asked.body).unwrap());
    assert!(
        !sent.contains(&house.operator) && !sent.contains("ours=1") && !sent.contains("x-mnemic")
    );
    let told = format!("{:?}{}", reply.headers, String::from_utf8(reply.body).unwrap());
    assert!(!told.contains(UPSTREAM_KEY) && !told.contains("theirs=1"), "{told}");
    assert_eq!(reply.headers["x-request-id"], "req-1");
    assert_eq!(reply.headers["x-mnemic-conversation"], "c-1");
}

#[tokio::test]
async fn answers_arrive_as_they_were_sent_and_are_written_down() {
    let house = House::new(Behaviour::Good).await;
    let id = house.remember("Ana prefers tea").await;
    let answer = format!("As far as I know it is tea [mem:{id}], and that is all I know of it.");
    for (conversation, is_stream) in [("whole", false), ("streamed", true)] {
        let mut body = question("What does Ana prefer?");
        if is_stream {
            body["stream"] = json!(true);
        }
        let reply = house.chat(&body, &[("x-mnemic-conversation", conversation)]).await;
        assert!(reply.status == 200 && reply.is_whole);
        if is_stream {
            let text = String::from_utf8(reply.body.clone()).unwrap();
            let events: Vec<_> = text.split_terminator("\n\n").collect();
            assert_eq!(events.len(), answer.split(' ').count() + 2);
            assert_eq!(*events.last().unwrap(), "data: [DONE]");
            assert_eq!(reply.headers["content-type"], "text/event-stream; charset=utf-8");
        } else {
            assert_eq!(reply.json()["choices"][0]["message"]["content"], answer);
        }
        let turns = house.turns_once(conversation, 2).await;
        assert_eq!(turns, ["user: What does Ana prefer?", &format!("assistant: {answer}")]);
    }
    // Each of the two runs has cited it once.
    let path = format!("{OWN}/memories/{id}");
    let mut memory = Value::Null;
    for _ in 0..200 {
        memory = house.call(Method::GET, &path, &Value::Null).await.expect(200);
        if memory["times_referenced"] == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(memory["times_referenced"], 2);
}

#[tokio::test]
async fn memory_can_be_left_out_or_only_read() {
    let house = House::new(Behaviour::Good).await;
    house.remember("Ana prefers tea").await;
    let body = question("What does Ana prefer?");
    let chat = async |mode: &str| {
        let headers = [("x-mnemic-memory", mode), ("x-mnemic-conversation", "quiet")];
        house.chat(&body, &headers).await.expect(200);
        String::from_utf8(house.upstream.asked(Behaviour::Good).pop().unwrap().body).unwrap()
    };
    assert_eq!(chat("off").await, body.to_string());
    assert!(chat("read").await.contains("[mem:"));
    house.call(Method::POST, &format!("{OWN}/memory/disable"), &Value::Null).await.expect(200);
    let reply = house.chat(&body, &[("x-mnemic-conversation", "quiet")]).await;
    assert_eq!(reply.header("x-mnemic-memory-skipped"), None);
    let sent = house.upstream.asked(Behaviour::Good).pop().unwrap().body;
    // Memories stay live while nothing is captured.
    assert!(String::from_utf8(sent).unwrap().contains("[mem:"));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(house.turns("quiet").await.0, Vec::<String>::new());
    let wrong = house.chat(&body, &[("x-mnemic-memory", "maybe")]).await;
    assert!(wrong.expect(400)["error"]["message"].as_str().unwrap().contains("off, read or write"));
    house.chat(&body, &[("x-mnemic-conversation", "a b")]).await.expect(400);
}

#[tokio::test]
async fn a_chat_goes_on_without_memory_that_is_late() {
    let upstream = Arc::new(Upstream::start());
    let models = served_by(&upstream, Behaviour::Good);
    let options = ProxyOptions { memory_deadline: Duration::ZERO, ..hasty() };
    let house = House::with(upstream, models, options).await;
    house.remember("Ana prefers tea").await;
    let body = question("What does Ana prefer?");
    let reply = house.chat(&body, &[("x-mnemic-conversation", "late")]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-mnemic-memory-skipped"), Some("deadline"));
    let sent = house.upstream.asked(Behaviour::Good).pop().unwrap().body;
    assert_eq!(String::from_utf8(sent).unwrap(), body.to_string());
    assert_eq!(house.turns_once("late", 2).await.len(), 2);
}

#[tokio::test]
async fn what_was_said_until_a_client_goes_is_written_down() {
    let house = House::new(Behaviour::Endless).await;
    let mut body = question("Tell me everything");
    body["stream"] = json!(true);
    let request = house.chat_request(&body.to_string(), &[("x-mnemic-conversation", "gone")]);
    let response = house.app.clone().oneshot(request).await.unwrap();
    let mut rest = response.into_body();
    for _ in 0..5 {
        rest.frame().await.unwrap().unwrap();
    }
    drop(rest);
    let turns = house.turns_once("gone", 2).await;
    assert_eq!(turns[0], "user: Tell me everything");
    assert!(turns[1].starts_with("assistant: on and on and "), "{turns:?}");
    assert_eq!(house.turns("gone").await.1, 1, "it is marked as cut");
}

#[tokio::test]
async fn faults_of_the_upstream_are_passed_on_as_they_are() {
    let house = House::new(Behaviour::Busy).await;
    let reply = house.chat(&question("hi"), &[("x-mnemic-conversation", "busy")]).await;
    assert_eq!(reply.status, 429);
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(reply.body, br#"{"error":{"message":"slow down","type":"rate_limit"}}"#);
    assert_eq!(house.upstream.asked(Behaviour::Busy).len(), 1, "clients try again by themselves");
    let house = House::new(Behaviour::Redirect).await;
    let error = house.chat(&question("hi"), &[]).await.expect(502);
    assert!(error["error"]["message"].as_str().unwrap().contains("redirects"));
    assert!(house.upstream.asked(Behaviour::Good).is_empty());
}

#[tokio::test]
async fn what_cannot_be_passed_on_is_refused_in_the_form_that_clients_know() {
    let upstream = Arc::new(Upstream::start());
    let house = House::with(upstream.clone(), ServerModels::default(), hasty()).await;
    let error = house.chat(&question("hi"), &[]).await.expect(400);
    assert_eq!(error["error"]["code"], "no_model");
    assert!(error["error"]["message"].as_str().unwrap().contains("OPENAI_BASE_URL"));
    let mut models = served_by(&upstream, Behaviour::Good);
    models.default = Some(Provider::Anthropic);
    models.endpoints[0].provider = Provider::Anthropic;
    let house = House::with(upstream, models, hasty()).await;
    let error = house.chat(&question("hi"), &[]).await.expect(400);
    assert!(error["error"]["message"].as_str().unwrap().contains("Anthropic"));
    let stranger = request_as("nonsense", Method::POST, "/v1/chat/completions", "{}");
    let reply = house.send(stranger).await;
    assert_eq!(reply.expect(401)["error"]["type"], "authentication_error");
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    let wrong = house.request(Method::POST, "/v1/chat/completions", "[]");
    assert_eq!(house.send(wrong).await.expect(400)["error"]["code"], "invalid_body");
    let large = " ".repeat(hasty().body_bytes_max + 1);
    let large = house.request(Method::POST, "/v1/chat/completions", large);
    assert_eq!(house.send(large).await.expect(413)["error"]["code"], "too_large");
    let wrong = house.request(Method::PUT, "/v1/models", "");
    house.send(wrong).await.expect(405);
}

#[tokio::test]
async fn models_are_listed() {
    let house = House::new(Behaviour::Good).await;
    let list = house.call(Method::GET, "/v1/models", &Value::Null).await.expect(200);
    assert_eq!(list["data"][0]["id"], "scripted");
    assert_eq!(house.upstream.asked(Behaviour::Good)[0].path, "v1/models");
}

#[tokio::test]
async fn a_chat_is_an_action_of_its_conversation() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "zanzibar"}]});
    let told = [("x-mnemic-conversation", "c-1"), ("x-mnemic-agent", "planner")];
    for (behaviour, error) in [(Behaviour::Good, None), (Behaviour::Busy, Some("Http429"))] {
        let house = House::new(behaviour).await;
        house.chat(&body, &told).await;
        house.chat(&body, &[("x-mnemic-memory", "off")]).await;
        let (filter, page) = (ActionFilter::default(), PageRequest::default());
        let found = house.mnemic.list_actions(&house.principal, &filter, &page).await.unwrap();
        assert_eq!(found.items.len(), 1, "a chat without memory is nobody's business");
        let chat = &found.items[0];
        assert_eq!((chat.action_type.as_str(), chat.session_id.as_str()), ("chat", "c-1"));
        assert_eq!((chat.agent_id.as_str(), chat.error_code.as_deref()), ("planner", error));
        assert!(!format!("{chat:?}").contains("zanzibar"));
    }
}
