//! The providers against an endpoint that behaves well, badly and worse.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use mnemic_core::error::{Code, Error};
use mnemic_core::language::{ApiKey, Endpoint, Models as _, Prompt, Provider};
use mnemic_models::{ProviderOptions, Providers};
use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::json;

const KEY: &str = "sk-very-secret-0123456789";
const DIALECTS: [Provider; 3] = [Provider::Openai, Provider::Anthropic, Provider::Ollama];

fn endpoint(upstream: &Upstream, provider: Provider, behaviour: Behaviour) -> Endpoint {
    let base = upstream.url(behaviour);
    Endpoint {
        provider,
        base_url: if provider == Provider::Openai { format!("{base}/v1") } else { base },
        name: Some("small".to_owned()),
        key: Some(ApiKey::new(KEY)),
        timeout: Duration::from_millis(1_500),
        allow_private: true,
    }
}

fn plain() -> Prompt {
    Prompt {
        system: "Answer briefly.".to_owned(),
        user: "What does Ana drink?".to_owned(),
        tokens_max: 100,
        schema: None,
    }
}

fn shaped() -> Prompt {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["text"],
        "properties": {"text": {"type": "string"}},
    });
    Prompt { schema: Some(schema), ..plain() }
}

fn providers() -> Providers {
    Providers::new(ProviderOptions::default()).unwrap()
}

async fn failure(endpoint: &Endpoint) -> Error {
    let started = Instant::now();
    let error = providers().open(endpoint).unwrap().complete(&plain()).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(4), "{error}");
    let text = format!("{error} {error:?} {endpoint:?}");
    assert!(!text.contains(KEY), "{text}");
    error
}

#[tokio::test]
async fn every_dialect_gets_texts_and_shapes() {
    let upstream = Upstream::start();
    for provider in DIALECTS {
        let endpoint = endpoint(&upstream, provider, Behaviour::Good);
        let model = providers().open(&endpoint).unwrap();
        assert_eq!(model.label(), format!("{}:small", provider.as_str()));
        let answer = model.complete_counted(&plain()).await.unwrap();
        assert!(answer.text.starts_with("It is tea"), "{}", answer.text);
        assert_eq!(answer.tokens, Some(15));
        let shaped = model.complete(&shaped()).await.unwrap();
        let value: serde_json::Value = serde_json::from_str(&shaped).unwrap();
        assert_eq!(value, json!({"text": "tea"}), "{provider:?}");
    }
}

#[tokio::test]
async fn every_dialect_is_spoken_as_its_provider_wants_it() {
    let upstream = Upstream::start();
    for provider in DIALECTS {
        let endpoint = endpoint(&upstream, provider, Behaviour::Good);
        providers().open(&endpoint).unwrap().complete(&shaped()).await.unwrap();
    }
    let asked = upstream.asked(Behaviour::Good);
    let [openai, anthropic, ollama] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(openai.path, "v1/chat/completions");
    assert_eq!(openai.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(openai.json()["response_format"]["json_schema"]["strict"], true);
    assert_eq!(openai.json()["max_tokens"], 100);
    assert_eq!(anthropic.path, "v1/messages");
    assert_eq!(anthropic.headers["x-api-key"], KEY);
    assert_eq!(anthropic.headers["anthropic-version"], "2023-06-01");
    assert_eq!(anthropic.json()["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert!(!anthropic.headers.contains_key("authorization"));
    assert_eq!(ollama.path, "api/chat");
    assert_eq!(ollama.json()["format"]["type"], "object");
    assert_eq!(ollama.json()["options"]["num_predict"], 100);
}

#[tokio::test]
async fn an_endpoint_that_takes_no_schema_is_told_in_words_and_that_is_remembered() {
    let upstream = Upstream::start();
    let endpoint = endpoint(&upstream, Provider::Openai, Behaviour::NoSchema);
    let providers = providers();
    for asked in [2, 3] {
        let answer = providers.open(&endpoint).unwrap().complete(&shaped()).await.unwrap();
        assert_eq!(answer, r#"{"text":"tea"}"#);
        assert_eq!(upstream.asked(Behaviour::NoSchema).len(), asked);
    }
    let last = upstream.asked(Behaviour::NoSchema).pop().unwrap().json();
    assert!(last.get("response_format").is_none());
    assert!(last["messages"][0]["content"].as_str().unwrap().contains("additionalProperties"));
}

#[tokio::test]
async fn answers_that_are_none_are_failures_in_every_dialect() {
    let upstream = Upstream::start();
    for provider in DIALECTS {
        for behaviour in [Behaviour::Empty, Behaviour::Blank, Behaviour::Half, Behaviour::Length] {
            let error = failure(&endpoint(&upstream, provider, behaviour)).await;
            assert_eq!(error.code(), Code::ModelAnswer, "{provider:?} {behaviour:?}: {error}");
        }
        for behaviour in [Behaviour::Silent, Behaviour::Cut, Behaviour::Huge, Behaviour::Redirect] {
            let error = failure(&endpoint(&upstream, provider, behaviour)).await;
            assert_eq!(error.code(), Code::ModelUnavailable, "{provider:?} {behaviour:?}");
        }
    }
    assert!(upstream.asked(Behaviour::Good).is_empty(), "no redirect was followed");
}

#[tokio::test]
async fn what_is_temporary_is_tried_again_and_the_pause_asked_for_is_kept() {
    let upstream = Upstream::start();
    let patient = |behaviour| Endpoint {
        timeout: Duration::from_secs(10),
        ..endpoint(&upstream, Provider::Openai, behaviour)
    };
    let error = failure(&patient(Behaviour::Broken)).await;
    assert!(error.to_string().ends_with("500: it broke"), "{error}");
    assert_eq!(upstream.asked(Behaviour::Broken).len(), 3);
    let started = Instant::now();
    let error = failure(&patient(Behaviour::Busy)).await;
    assert!(error.to_string().contains("429"), "{error}");
    assert_eq!(upstream.asked(Behaviour::Busy).len(), 3);
    assert!(started.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn private_addresses_are_refused_unless_allowed() {
    let upstream = Upstream::start();
    for provider in DIALECTS {
        let endpoint =
            Endpoint { allow_private: false, ..endpoint(&upstream, provider, Behaviour::Good) };
        let error = providers().open(&endpoint).err().unwrap();
        assert!(error.to_string().contains("private"), "{error}");
        let named =
            Endpoint { base_url: endpoint.base_url.replace("127.0.0.1", "localhost"), ..endpoint };
        let error = failure(&named).await;
        assert!(error.to_string().contains("private"), "{error}");
    }
    assert!(upstream.asked(Behaviour::Good).is_empty());
}
