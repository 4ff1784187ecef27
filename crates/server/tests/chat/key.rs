//! A workspace's own model and the key to it, which goes in and comes out nowhere but at the
//! endpoint that it was given for.

use axum::http::Method;
use mnemic_core::language::Prompt;
use mnemic_core::language::ServerModels;
use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::house::{House, OWN, hasty, question, request_as};

const CANARY: &str = "sk-canary-qzvoxulk-0123456789";

async fn house() -> House {
    let upstream = Arc::new(Upstream::start());
    let models = ServerModels { allow_private: true, ..ServerModels::default() };
    House::with(upstream, models, hasty()).await
}

async fn choose(house: &House, provider: &str, behaviour: Behaviour) -> Value {
    let url = house.upstream.url(behaviour);
    let url = if provider == "anthropic" { url } else { format!("{url}/v1") };
    let model = json!({"provider": provider, "base_url": url, "name": "scripted"});
    house.call(Method::PUT, &format!("{OWN}/settings"), &json!({"model": model})).await.expect(200)
}

fn key_path() -> String {
    format!("{OWN}/model/key")
}

async fn model(house: &House) -> Value {
    house.call(Method::GET, &format!("{OWN}/model"), &Value::Null).await.expect(200)
}

fn prompt() -> Prompt {
    Prompt { user: "What is it?".to_owned(), tokens_max: 10, ..Prompt::default() }
}

#[tokio::test]
async fn a_workspace_brings_its_own_key() {
    let house = house().await;
    let scope = house.principal.scope();
    assert_eq!(model(&house).await["provider"], Value::Null);
    assert!(house.mnemic.ask_model(scope, &prompt()).await.unwrap().is_none());
    let early = house.call(Method::PUT, &key_path(), &json!({"key": CANARY})).await;
    assert!(early.expect(409)["detail"].as_str().unwrap().contains("model.provider"));

    choose(&house, "anthropic", Behaviour::Good).await;
    let set = house.call(Method::PUT, &key_path(), &json!({"key": CANARY})).await.expect(200);
    assert_eq!((&set["key_set"], &set["source"]), (&json!(true), &json!("workspace")));
    let (answer, label) = house.mnemic.ask_model(scope, &prompt()).await.unwrap().unwrap();
    assert!(answer.starts_with("It is tea"));
    assert_eq!(label, "anthropic:scripted");
    assert_eq!(house.upstream.asked(Behaviour::Good)[0].headers["x-api-key"], CANARY);

    choose(&house, "openai", Behaviour::Good).await;
    let moved = model(&house).await;
    assert!(moved["problem"].as_str().unwrap().contains("set it again"), "{moved}");
    house.mnemic.ask_model(scope, &prompt()).await.unwrap_err();
    house.chat(&question("hi"), &[]).await.expect(400);
    assert_eq!(house.upstream.asked(Behaviour::Good).len(), 1, "the key went nowhere else");
    house.call(Method::PUT, &key_path(), &json!({"key": CANARY})).await.expect(200);
    house.chat(&question("hi"), &[]).await.expect(200);
    let asked = house.upstream.asked(Behaviour::Good).pop().unwrap();
    assert_eq!(asked.headers["authorization"], format!("Bearer {CANARY}"));

    house.call(Method::DELETE, &key_path(), &Value::Null).await.expect(204);
    house.call(Method::DELETE, &key_path(), &Value::Null).await.expect(404);
    assert_eq!(model(&house).await["key_set"], false);
    house.chat(&question("hi"), &[]).await.expect(200);
    let asked = house.upstream.asked(Behaviour::Good).pop().unwrap();
    assert!(!asked.headers.contains_key("authorization"));
}

#[tokio::test]
async fn the_key_is_seen_nowhere() {
    let house = house().await;
    let verbose = json!({"audit": {"level": "verbose"}});
    house.call(Method::PUT, &format!("{OWN}/settings"), &verbose).await.expect(200);
    choose(&house, "openai", Behaviour::Good).await;
    let mut told = Vec::new();
    for body in [
        json!({"key": CANARY}),
        json!({"key": [CANARY]}),
        json!(CANARY),
        json!({"key": CANARY, CANARY: 1}),
        json!({"key": format!("{CANARY} {CANARY}")}),
    ] {
        told.push(house.call(Method::PUT, &key_path(), &body).await);
    }
    assert_eq!(
        told.iter().map(|reply| reply.status).collect::<Vec<_>>(),
        [200, 400, 400, 400, 400]
    );
    house.chat(&question("hi"), &[("x-mnemic-conversation", "c")]).await.expect(200);
    house.turns_once("c", 2).await;
    for path in ["", "/settings", "/model", "/audit?limit=200", "/conversations"] {
        told.push(house.call(Method::GET, &format!("{OWN}{path}"), &Value::Null).await);
    }
    for reply in told {
        let text = format!("{:?} {}", reply.headers, String::from_utf8(reply.body).unwrap());
        assert!(!text.contains("qzvoxulk"), "{text}");
    }
    house.mnemic.close().await;
    let mut bytes_read = 0;
    for entry in std::fs::read_dir(house.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        bytes_read += bytes.len();
        assert!(!bytes.windows(8).any(|it| it == b"qzvoxulk"), "{}", path.display());
    }
    assert!(bytes_read > 100_000, "a file that holds nothing proves nothing");
}

#[tokio::test]
async fn only_admins_set_keys_and_everybody_may_know_the_model() {
    let house = house().await;
    choose(&house, "openai", Behaviour::Good).await;
    for role in ["member", "agent", "intern"] {
        let made = house.call(Method::POST, "/v1/tokens", &json!({"role": role})).await.expect(201);
        let token = made["token"].as_str().unwrap();
        let body = json!({"key": CANARY}).to_string();
        let set = request_as(token, Method::PUT, &key_path(), body);
        house.send(set).await.expect(403);
        let delete = request_as(token, Method::DELETE, &key_path(), "");
        house.send(delete).await.expect(403);
        let show = request_as(token, Method::GET, &format!("{OWN}/model"), "");
        assert_eq!(house.send(show).await.expect(200)["name"], "scripted");
    }
}

#[tokio::test]
async fn settings_can_be_given_back_to_the_server() {
    let house = house().await;
    choose(&house, "openai", Behaviour::Good).await;
    let path = format!("{OWN}/settings");
    let only = json!({"model": {"timeout_seconds": 9}});
    let settings = house.call(Method::PUT, &path, &only).await.expect(200);
    assert_eq!(settings["model"]["provider"], "openai");
    assert_eq!(settings["model"]["timeout_seconds"], 9);
    let back = json!({"model": {"provider": null, "base_url": null}});
    let settings = house.call(Method::PUT, &path, &back).await.expect(200);
    assert_eq!(settings["model"]["provider"], Value::Null);
    for wrong in [
        json!({"provider": "mistral"}),
        json!({"key": CANARY}),
        json!({"provider": "openai", "base_url": format!("https://u:{CANARY}@a/v1")}),
        json!({"timeout_seconds": 0}),
    ] {
        let reply = house.call(Method::PUT, &path, &json!({"model": wrong})).await;
        let text = reply.expect(400).to_string();
        assert!(!text.contains("qzvoxulk"), "{text}");
    }
}
