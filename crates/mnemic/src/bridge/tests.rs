//! The bridge between a client on a pipe and servers made by hand, which can die on demand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::{Connect, Endpoint, run_with};

const PATIENCE: Duration = Duration::from_secs(10);

/// A request as a server saw it.
#[derive(Debug, Clone)]
struct Seen {
    headers: HashMap<String, String>,
    body: Value,
}

impl Seen {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What a server does about a request.
enum Reaction {
    Answer(Value),
    Status(u16, Value),
    Stream(String),
    /// Closes the connection without a word.
    Die,
    /// Waits for this before it answers.
    After(Arc<Notify>, Value),
    Hang,
}

struct Server {
    endpoint: Endpoint,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start(react: impl Fn(usize, &Seen) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (react, log) = (Arc::new(react), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (react, log) = (Arc::clone(&react), Arc::clone(&log));
                tokio::spawn(async move {
                    let _ = answer(stream, |request| {
                        let mut log = log.lock().unwrap();
                        log.push(request.clone());
                        react(log.len(), request)
                    })
                    .await;
                });
            }
        });
        Self { endpoint: Endpoint { url, token: "secret".to_owned() }, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// One request per connection is all that the tests need.
async fn answer(stream: TcpStream, react: impl FnOnce(&Seen) -> Reaction) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.trim().split_once(": ") {
            Some((name, value)) => {
                headers.insert(name.to_lowercase(), value.to_owned());
            }
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let reaction = react(&Seen { headers, body });
    let (status, kind, body) = match reaction {
        Reaction::Die => return Ok(()),
        Reaction::Hang => return std::future::pending().await,
        Reaction::Answer(value) => (200, "application/json", value.to_string()),
        Reaction::Status(status, value) => (status, "application/json", value.to_string()),
        Reaction::Stream(text) => (200, "text/event-stream", text),
        Reaction::After(gate, value) => {
            gate.notified().await;
            (200, "application/json", value.to_string())
        }
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    stream.flush().await
}

/// Gives out these endpoints one after another, the last one for ever.
#[derive(Clone, Default)]
struct Route {
    endpoints: Arc<Mutex<Vec<Endpoint>>>,
}

impl Route {
    fn over(servers: &[&Server]) -> Self {
        let endpoints = servers.iter().rev().map(|server| server.endpoint.clone()).collect();
        Self { endpoints: Arc::new(Mutex::new(endpoints)) }
    }
}

impl Connect for Route {
    async fn endpoint(&self) -> Result<Endpoint> {
        let mut endpoints = self.endpoints.lock().unwrap();
        match endpoints.len() {
            0 => bail!("nobody is there"),
            1 => Ok(endpoints[0].clone()),
            _ => Ok(endpoints.pop().unwrap()),
        }
    }
}

/// Sends these lines, closes the input and returns every line of the output.
async fn talk(lines: &[&str], route: Route, patience: Duration) -> Vec<Value> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let input = lines.join("\n");
    let (output, mut answers) = tokio::io::duplex(1 << 20);
    let mut text = String::new();
    let (done, read) = tokio::join!(
        run_with(patience, input.as_bytes(), output, route),
        answers.read_to_string(&mut text)
    );
    done.unwrap();
    read.unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result(request: &Seen) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": {"saw": request.body["method"]}})
}

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_remember"}}"#;

#[tokio::test]
async fn a_call_outlives_its_owner_under_the_same_key() {
    let first = Server::start(|_, _| Reaction::Die).await;
    let second = Server::start(|_, request| Reaction::Answer(result(request))).await;
    let answers = talk(&[CALL], Route::over(&[&first, &second]), PATIENCE).await;
    assert_eq!(answers, [json!({"jsonrpc": "2.0", "id": 7, "result": {"saw": "tools/call"}})]);
    let (before, after) = (first.seen(), second.seen());
    assert!(!before[0].header("idempotency-key").is_empty());
    assert_eq!(before[0].header("idempotency-key"), after[0].header("idempotency-key"));
    assert_eq!(after[0].header("authorization"), "Bearer secret");
}

#[tokio::test]
async fn every_call_has_a_key_of_its_own() {
    let server = Server::start(|_, request| Reaction::Answer(result(request))).await;
    let again = CALL.replace("\"id\":7", "\"id\":8");
    talk(&[CALL, &again], Route::over(&[&server]), PATIENCE).await;
    let seen = server.seen();
    assert_ne!(seen[0].header("idempotency-key"), seen[1].header("idempotency-key"));
}

#[tokio::test]
async fn when_nobody_comes_the_client_is_told_in_time() {
    let answers = talk(&[CALL], Route::default(), Duration::from_millis(200)).await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], 7);
    let message = answers[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("nobody is there"), "{message}");
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_rest_goes_on() {
    let server = Server::start(|_, request| Reaction::Answer(result(request))).await;
    let deep = "[".repeat(10_000);
    let lines = ["no json", "", "[]", r#"{"id":"x"}"#, &deep, CALL];
    let mut answers = talk(&lines, Route::over(&[&server]), PATIENCE).await;
    let place = answers.iter().position(|answer| answer["id"] == 7).unwrap();
    answers.remove(place);
    let codes: Vec<_> = answers.iter().map(|a| (&a["id"], &a["error"]["code"])).collect();
    let (null, x) = (Value::Null, json!("x"));
    let (parse, invalid) = (json!(-32700), json!(-32600));
    assert_eq!(codes, [(&null, &parse), (&null, &invalid), (&x, &invalid), (&null, &parse)]);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_slow_call_does_not_hold_up_a_quick_one() {
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let server = Server::start(move |_, request| {
        if request.body["id"] == 7 {
            return Reaction::After(Arc::clone(&gate), result(request));
        }
        opened.notify_one();
        Reaction::Answer(result(request))
    })
    .await;
    let quick = r#"{"jsonrpc":"2.0","id":"b","method":"ping"}"#;
    let answers = talk(&[CALL, quick], Route::over(&[&server]), PATIENCE).await;
    let mut ids: Vec<_> = answers.iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"b\"", "7"]);
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_without_an_answer() {
    let server = Server::start(|_, _| Reaction::Hang).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let lines = [CALL, cancel];
    let talked = talk(&lines, Route::over(&[&server]), PATIENCE);
    let answers = tokio::time::timeout(PATIENCE, talked).await.unwrap();
    assert_eq!(answers, [] as [Value; 0]);
}

#[tokio::test]
async fn the_agreed_version_is_repeated_from_then_on() {
    let server = Server::start(|count, request| {
        Reaction::Answer(match count {
            1 => json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}),
            _ => result(request),
        })
    })
    .await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (mut client, input) = tokio::io::duplex(1 << 16);
    let (output, answers) = tokio::io::duplex(1 << 16);
    let bridge = tokio::spawn(run_with(PATIENCE, input, output, Route::over(&[&server])));
    let mut answers = BufReader::new(answers).lines();
    let first =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}}"#;
    client.write_all(format!("{first}\n").as_bytes()).await.unwrap();
    answers.next_line().await.unwrap().unwrap();
    client.write_all(format!("{CALL}\n").as_bytes()).await.unwrap();
    answers.next_line().await.unwrap().unwrap();
    drop(client);
    bridge.await.unwrap().unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].header("mcp-protocol-version"), "");
    assert_eq!(seen[1].header("mcp-protocol-version"), "2025-11-25");
}

#[tokio::test]
async fn requests_of_today_carry_their_headers() {
    let server = Server::start(|_, request| Reaction::Answer(result(request))).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let read = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"mem://é",{meta}}}}}"#
    );
    talk(&[&read], Route::over(&[&server]), PATIENCE).await;
    let seen = server.seen();
    assert_eq!(seen[0].header("mcp-protocol-version"), "2026-07-28");
    assert_eq!(seen[0].header("mcp-method"), "resources/read");
    assert_eq!(seen[0].header("mcp-name"), "=?base64?bWVtOi8vw6k=?=");
}

#[tokio::test]
async fn refusals_reach_the_request_that_they_are_about() {
    let refused = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}});
    let problem = json!({"title": "t", "status": 401, "detail": "a token is needed"});
    let server = Server::start(move |count, _| match count {
        1 => Reaction::Status(401, problem.clone()),
        _ => Reaction::Status(400, refused.clone()),
    })
    .await;
    let route = Route::over(&[&server]);
    let answers = talk(&[CALL], route.clone(), PATIENCE).await;
    assert_eq!(answers[0]["id"], 7);
    assert!(answers[0]["error"]["message"].as_str().unwrap().contains("a token is needed"));
    let answers = talk(&[CALL], route, PATIENCE).await;
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["message"]), (&json!(7), &json!("no")));
}

#[tokio::test]
async fn a_busy_server_is_asked_again_under_the_same_key() {
    let server = Server::start(|count, request| match count {
        1 => Reaction::Status(503, json!({"detail": "later"})),
        _ => Reaction::Answer(result(request)),
    })
    .await;
    let answers = talk(&[CALL], Route::over(&[&server]), PATIENCE).await;
    assert_eq!(answers[0]["result"]["saw"], "tools/call");
    let seen = server.seen();
    assert_eq!(seen[0].header("idempotency-key"), seen[1].header("idempotency-key"));
}

#[tokio::test]
async fn streams_are_passed_on_and_a_torn_one_is_asked_for_again() {
    let server = Server::start(|count, request| {
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress"});
        let answer =
            if count > 1 { format!("data: {}\n\n", result(request)) } else { String::new() };
        Reaction::Stream(format!("data: {progress}\n\n{answer}"))
    })
    .await;
    let answers = talk(&[CALL], Route::over(&[&server]), PATIENCE).await;
    let methods: Vec<_> = answers.iter().map(|answer| answer["method"].as_str()).collect();
    assert_eq!(methods, [Some("notifications/progress"), Some("notifications/progress"), None]);
    assert_eq!(answers[2]["id"], 7);
}
