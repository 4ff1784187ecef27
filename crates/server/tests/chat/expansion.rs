//! Recall whose question a model is asked about first, against an endpoint that behaves well, badly
//! and worse.

use std::sync::Arc;

use axum::http::Method;
use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::{Value, json};

use crate::house::{House, OWN, hasty, served_by};

const ASKED: &str = "what would our guest like first thing in the morning?";
const TOLD: &str = "Ana prefers tea";

async fn house(behaviour: Behaviour) -> House {
    let upstream = Arc::new(Upstream::start());
    let models = served_by(&upstream, behaviour);
    let house = House::with(upstream, models, hasty()).await;
    house.remember(TOLD).await;
    house
}

async fn recall(house: &House, more: Value) -> Value {
    let mut body = json!({"query": ASKED});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.call(Method::POST, &format!("{OWN}/recall"), &body).await.expect(200)
}

fn texts(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().unwrap();
    items.iter().map(|item| item["text"].as_str().unwrap()).collect()
}

fn degraded(answer: &Value) -> Vec<&str> {
    let parts = answer["degraded"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    parts.filter(|part| part.starts_with("expansion: ")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_tells_what_to_look_for_where_it_is_wanted() {
    let house = house(Behaviour::Good).await;
    for unasked in [json!({"explain": true}), json!({"explain": true, "expand": false})] {
        let plain = recall(&house, unasked).await;
        assert!(texts(&plain).is_empty() && plain.get("expansion").is_none(), "{plain}");
    }
    assert!(house.upstream.asked(Behaviour::Good).is_empty(), "nobody was asked");
    let found = recall(&house, json!({"expand": true, "explain": true})).await;
    assert_eq!(texts(&found), [TOLD], "{found}");
    assert!(degraded(&found).is_empty(), "{found}");
    let expansion = &found["expansion"];
    assert_eq!(expansion["keywords"], json!(["tea", "kettle"]), "{found}");
    assert_eq!(expansion["by"], "openai:scripted");
    let features = found["items"][0]["why"]["features"].as_array().unwrap();
    assert!(features.iter().any(|it| it["feature"] == "statement"), "{found}");
    let asked = house.upstream.asked(Behaviour::Good);
    assert_eq!(asked.len(), 1, "one call for all of it");
    let prompt = asked[0].json().to_string();
    assert!(prompt.contains("first thing in the morning") && !prompt.contains(TOLD), "{prompt}");
    let quiet = recall(&house, json!({"expand": true})).await;
    assert!(texts(&quiet) == [TOLD] && quiet.get("expansion").is_none(), "{quiet}");
    let without =
        recall(&house, json!({"expand": true, "without": ["statement"], "explain": true}));
    let without = without.await;
    let features = &without["items"][0]["why"]["features"];
    assert!(!features.to_string().contains("statement"), "{without}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_can_want_it_always() {
    let house = house(Behaviour::Good).await;
    let path = format!("{OWN}/settings");
    let body = json!({"recall": {"expand": true}});
    let settings = house.call(Method::PUT, &path, &body).await.expect(200);
    assert_eq!(settings["recall"]["expand"], true, "{settings}");
    assert_eq!(texts(&recall(&house, json!({})).await), [TOLD]);
    assert!(texts(&recall(&house, json!({"expand": false})).await).is_empty());
    assert_eq!(house.upstream.asked(Behaviour::Good).len(), 1);
    let context = json!({"query": ASKED});
    house.call(Method::POST, &format!("{OWN}/context"), &context).await.expect(200);
    assert_eq!(house.upstream.asked(Behaviour::Good).len(), 1, "a context has no time for it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_usable_guess_recall_goes_on() {
    for behaviour in [
        Behaviour::Schema,
        Behaviour::Empty,
        Behaviour::Blank,
        Behaviour::Echo,
        Behaviour::Half,
        Behaviour::Broken,
        Behaviour::Silent,
        Behaviour::Cut,
    ] {
        let house = house(behaviour).await;
        let answer = recall(&house, json!({"query": "tea", "expand": true, "explain": true})).await;
        assert_eq!(texts(&answer), [TOLD], "{behaviour:?}");
        assert_eq!(degraded(&answer).len(), 1, "{behaviour:?} {answer}");
        assert!(answer.get("expansion").is_none(), "{behaviour:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_the_answer_says_so() {
    let house = house(Behaviour::Good).await;
    let body = json!({"model": {"provider": "off"}});
    house.call(Method::PUT, &format!("{OWN}/settings"), &body).await.expect(200);
    let answer = recall(&house, json!({"query": "tea", "expand": true})).await;
    assert_eq!(texts(&answer), [TOLD]);
    let said = degraded(&answer);
    assert!(said.len() == 1 && said[0].contains("no language model"), "{answer}");
    assert!(degraded(&recall(&house, json!({"query": "tea"})).await).is_empty());
    assert!(house.upstream.asked(Behaviour::Good).is_empty());
}
