//! The endpoint client against a server that behaves well, badly and worse.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/server.rs"]
mod server;

use std::time::{Duration, Instant};

use mnemic_core::embed::{Embedder, Purpose};
use mnemic_core::error::{Code, Error, Kind};
use mnemic_models::{OpenAiEmbedder, OpenAiOptions};
use server::{Server, answer};

const KEY: &str = "sk-very-secret-0123456789";
const GOOD: &str = r#"{"data":[{"index":0,"embedding":[3,4]}]}"#;

fn options(base_url: String) -> OpenAiOptions {
    OpenAiOptions {
        base_url,
        model: "small".to_owned(),
        key: Some(KEY.to_owned()),
        dimensions: None,
        allow_private: true,
        timeout: Duration::from_secs(5),
    }
}

fn base(server: &Server) -> String {
    format!("http://127.0.0.1:{}/v1", server.port)
}

async fn connect(answers: Vec<String>) -> (Result<OpenAiEmbedder, Error>, Server) {
    let server = Server::start(answers).await;
    (OpenAiEmbedder::connect(options(base(&server))).await, server)
}

/// The error of a server whose only answer is this one.
async fn failure(only: String) -> String {
    let (result, _) = connect(vec![only]).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::ModelUnavailable);
    let text = format!("{error} {error:?}");
    assert!(!text.contains(KEY), "{text}");
    text
}

#[tokio::test]
async fn embeds_and_stamps() {
    let three = r#"{"data":[{"index":2,"embedding":[1,0]},{"index":0,"embedding":[0,5]},{"index":1,"embedding":[3,4]}]}"#;
    let (embedder, server) =
        connect(vec![answer("200 OK", "", GOOD), answer("200 OK", "", three)]).await;
    let embedder = embedder.unwrap();
    assert_eq!((embedder.stamp().name.as_str(), embedder.stamp().dimensions), ("small", 2));
    assert_eq!(embedder.stamp().hash.len(), 64);
    let texts = ["a", "", "c"].map(str::to_owned).to_vec();
    let vectors = embedder.embed(texts, Purpose::Document).await.unwrap();
    assert_eq!(vectors, [[0.0, 1.0], [0.6, 0.8], [1.0, 0.0]]);
    let requests = server.requests();
    assert!(requests[1].starts_with("POST /v1/embeddings HTTP/1.1"));
    assert!(requests[1].contains(&format!("Bearer {KEY}")));
    assert!(requests[1].ends_with(r#"{"model":"small","input":["a"," ","c"]}"#));
    assert!(embedder.embed(Vec::new(), Purpose::Query).await.unwrap().is_empty());
    assert_eq!(server.requests().len(), 2);
    assert!(!format!("{embedder:?}").contains(KEY));
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let full = (0..64).map(|i| format!(r#"{{"index":{i},"embedding":[1,{i}]}}"#));
    let full = format!(r#"{{"data":[{}]}}"#, full.collect::<Vec<_>>().join(","));
    let (embedder, server) = connect(vec![
        answer("200 OK", "", GOOD),
        answer("200 OK", "", &full),
        answer("200 OK", "", GOOD),
    ])
    .await;
    let texts = vec!["x".to_owned(); 65];
    let vectors = embedder.unwrap().embed(texts, Purpose::Document).await.unwrap();
    assert_eq!((vectors.len(), vectors[64].as_slice()), (65, [0.6, 0.8].as_slice()));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn tries_again_when_told_to_wait() {
    let busy = answer("429 Too Many Requests", "retry-after: 1\r\n", "");
    let start = Instant::now();
    let (embedder, server) = connect(vec![busy, answer("200 OK", "", GOOD)]).await;
    embedder.unwrap();
    assert_eq!(server.requests().len(), 2);
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn gives_up_after_a_few_failures_and_at_once_on_a_refusal() {
    let (result, server) = connect(vec![answer("503 Service Unavailable", "", "")]).await;
    assert!(result.unwrap_err().to_string().contains("503"));
    assert_eq!(server.requests().len(), 2);
    let long = answer("429 Too Many Requests", "retry-after: 3600\r\n", "");
    let (result, server) = connect(vec![long]).await;
    assert!(result.unwrap_err().to_string().contains("429"));
    assert_eq!(server.requests().len(), 1);
    let (result, server) =
        connect(vec![answer("404 Not Found", "", r#"{"error":"no model"}"#)]).await;
    assert!(result.unwrap_err().to_string().ends_with("404: no model"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = Server::start(vec![answer("200 OK", "", GOOD)]).await;
    let location = format!("location: http://127.0.0.1:{}/\r\n", target.port);
    let text = failure(answer("307 Temporary Redirect", &location, "")).await;
    assert!(text.contains("redirects"), "{text}");
    assert!(target.requests().is_empty());
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let server = Server::start(vec![answer("200 OK", "", GOOD)]).await;
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "10.0.0.1"] {
        let base_url = format!("http://{host}:{}/v1", server.port);
        let options = OpenAiOptions { allow_private: false, ..options(base_url) };
        let start = Instant::now();
        let error = OpenAiEmbedder::connect(options).await.unwrap_err();
        assert!(error.to_string().contains("private"), "{host}: {error}");
        assert!(start.elapsed() < Duration::from_secs(2), "{host}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn unusable_answers_are_refused() {
    let two = r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}"#;
    let nan = r#"{"data":[{"index":0,"embedding":[NaN,1]}]}"#;
    let infinite = r#"{"data":[{"index":0,"embedding":[1e39,1]}]}"#;
    assert!(failure(answer("200 OK", "", two)).await.contains("2 vectors for 1 texts"));
    assert!(failure(answer("200 OK", "", nan)).await.contains("not a list"));
    assert!(failure(answer("200 OK", "", infinite)).await.contains("not a list"));
}

#[tokio::test]
async fn a_huge_body_is_not_read() {
    let announced = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{".to_owned();
    assert!(failure(announced).await.contains("longer than"));
    let endless = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", " ".repeat(1 << 20));
    assert!(failure(endless).await.contains("longer than"));
}

#[tokio::test]
async fn the_key_is_struck_out_of_what_the_endpoint_says() {
    let echo = format!(r#"{{"error":{{"message":"bad key {KEY}\nfor you"}}}}"#);
    let text = failure(answer("400 Bad Request", "", &echo)).await;
    assert!(text.contains("bad key … for you"), "{text}");
    assert!(
        failure(answer("401 Unauthorized", "", &echo)).await.contains("does not accept the key")
    );
}

#[tokio::test]
async fn wrong_options_are_named() {
    for (base_url, dimensions) in [
        ("not an address", None),
        ("ftp://example.org", None),
        ("https://user:word@example.org/v1", None),
        ("https://example.org/v1?key=1", None),
        ("https://example.org/v1", Some(0)),
        ("https://example.org/v1", Some(4097)),
    ] {
        let options = OpenAiOptions { dimensions, ..options(base_url.to_owned()) };
        let error = OpenAiEmbedder::connect(options).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{base_url}");
        assert!(!error.to_string().contains("word"));
    }
}

#[tokio::test]
async fn other_dimensions_than_asked_for_are_an_error() {
    let server = Server::start(vec![answer("200 OK", "", GOOD)]).await;
    let options = OpenAiOptions { dimensions: Some(256), ..options(base(&server)) };
    let error = OpenAiEmbedder::connect(options).await.unwrap_err();
    assert!(error.to_string().contains("2 dimensions instead"), "{error}");
    assert!(server.requests()[0].contains(r#""dimensions":256"#));
}
