//! Twelve ways in which an endpoint fails, and the four ways in which it is asked. What is expected
//! of each is what the documentation promises (docs/models.md).

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use mnemic_core::Code;
use mnemic_core::language::Prompt;
use mnemic_server::ProxyOptions;
use mnemic_test_servers::{Behaviour, Upstream};
use serde::Deserialize;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::house::{House, hasty, served_by};

const REPETITIONS: usize = 50;
/// Two hundred megabytes, passed on twice, are enough.
const REPETITIONS_HUGE: usize = 1;
const HUGE_BYTES: usize = 200 * 1024 * 1024;
/// What one answer may take in memory beside what the test itself holds.
const GROWTH_MAX: u64 = 96 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(20);

const QUESTION: &str = "Which of the many hot drinks that there are in the house does Ana like \
    best in the morning, and which one later in the day?";

/// How a question of ours comes out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Answered,
    Unusable,
    Unavailable,
}

/// How a chat comes out: its status, whether it comes to its end, and what is written down.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Passed {
    status: u16,
    is_whole: bool,
    turns: usize,
}

struct Case {
    behaviour: Behaviour,
    text: Asked,
    shape: Asked,
    whole: Passed,
    stream: Passed,
}

const fn passed(status: u16, is_whole: bool, turns: usize) -> Passed {
    Passed { status, is_whole, turns }
}

const fn case(
    behaviour: Behaviour,
    (text, shape): (Asked, Asked),
    whole: Passed,
    stream: Passed,
) -> Case {
    Case { behaviour, text, shape, whole, stream }
}

use Asked::{Answered, Unavailable, Unusable};

const CASES: [Case; 12] = [
    case(Behaviour::Busy, (Unavailable, Unavailable), passed(429, true, 0), passed(429, true, 0)),
    case(Behaviour::Broken, (Unavailable, Unavailable), passed(500, true, 0), passed(500, true, 0)),
    case(Behaviour::Silent, (Unavailable, Unavailable), passed(504, true, 0), passed(504, true, 0)),
    case(Behaviour::Drip, (Unavailable, Unavailable), passed(200, false, 1), passed(200, false, 1)),
    case(Behaviour::Empty, (Unusable, Unusable), passed(200, true, 1), passed(200, true, 1)),
    case(Behaviour::Blank, (Unusable, Unusable), passed(200, true, 1), passed(200, true, 1)),
    case(Behaviour::Echo, (Unusable, Unusable), passed(200, true, 2), passed(200, true, 2)),
    case(Behaviour::Half, (Unusable, Unusable), passed(200, true, 1), passed(200, true, 2)),
    case(Behaviour::Schema, (Answered, Unusable), passed(200, true, 2), passed(200, true, 2)),
    case(Behaviour::Huge, (Unavailable, Unavailable), passed(200, true, 1), passed(200, true, 2)),
    case(Behaviour::Cut, (Unavailable, Unavailable), passed(200, false, 1), passed(200, false, 2)),
    case(
        Behaviour::SlowHeaders,
        (Unavailable, Unavailable),
        passed(504, true, 0),
        passed(504, true, 0),
    ),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drink {
    text: String,
}

fn prompt(schema: Option<Value>) -> Prompt {
    let system = "You know what everybody in the house likes to drink. Answer in one sentence.";
    Prompt { system: system.to_owned(), user: QUESTION.to_owned(), tokens_max: 100, schema }
}

fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["text"],
        "properties": {"text": {"type": "string"}},
    })
}

fn outcome(error: Option<&mnemic_core::Error>) -> Asked {
    match error.map(mnemic_core::Error::code) {
        None => Answered,
        Some(Code::ModelAnswer) => Unusable,
        Some(Code::ModelUnavailable) => Unavailable,
        Some(other) => panic!("{other:?}"),
    }
}

async fn house(behaviour: Behaviour) -> Arc<House> {
    let upstream = Arc::new(Upstream::start());
    let models = served_by(&upstream, behaviour);
    let options = ProxyOptions { memory_deadline: Duration::from_secs(10), ..hasty() };
    Arc::new(House::with(upstream, models, options).await)
}

fn repetitions(behaviour: Behaviour) -> usize {
    if behaviour == Behaviour::Huge { REPETITIONS_HUGE } else { REPETITIONS }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_fail_as_promised() {
    for case in &CASES {
        let (started, before) = (Instant::now(), resident());
        // Each on a house of its own, whose breaker has not seen the failures of the other.
        let (text, shape) = tokio::join!(ask_texts(case.behaviour), ask_shapes(case.behaviour));
        for text in text {
            assert_eq!(text, case.text, "{:?}", case.behaviour);
        }
        for shape in shape {
            assert_eq!(shape, case.shape, "{:?}, with a shape", case.behaviour);
        }
        assert!(started.elapsed() < PATIENCE, "{:?}: {:?}", case.behaviour, started.elapsed());
        let grown = resident().saturating_sub(before);
        assert!(grown < 4 * GROWTH_MAX, "{:?} took {grown} bytes", case.behaviour);
    }
}

async fn ask_texts(behaviour: Behaviour) -> Vec<Asked> {
    let house = house(behaviour).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..REPETITIONS {
        let (house, scope) = (house.clone(), house.principal.scope());
        tasks.spawn(async move {
            let text = house.mnemic.ask_model(scope, &prompt(None)).await;
            outcome(text.as_ref().err())
        });
    }
    tasks.join_all().await
}

async fn ask_shapes(behaviour: Behaviour) -> Vec<Asked> {
    let house = house(behaviour).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..REPETITIONS {
        let (house, scope) = (house.clone(), house.principal.scope());
        tasks.spawn(async move {
            let check = |drink: &Drink| match drink.text.as_str() {
                "" => Err("text is empty".to_owned()),
                _ => Ok(()),
            };
            let prompt = prompt(Some(schema()));
            let shaped = house.mnemic.ask_model_json::<Drink>(scope, &prompt, check).await;
            outcome(shaped.as_ref().err())
        });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_that_come_at_once_fail_as_promised() {
    for case in &CASES {
        check_chats(case, false, case.whole).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_that_are_streamed_fail_as_promised() {
    for case in &CASES {
        check_chats(case, true, case.stream).await;
    }
}

async fn check_chats(case: &Case, is_stream: bool, expected: Passed) {
    let (house, started) = (house(case.behaviour).await, Instant::now());
    let before = resident();
    let mut tasks = tokio::task::JoinSet::new();
    for i in 0..repetitions(case.behaviour) {
        let house = house.clone();
        tasks.spawn(async move { chat(&house, &format!("c-{i}"), is_stream).await });
    }
    let what = format!("{:?}, stream: {is_stream}", case.behaviour);
    for (i, (status, is_whole, bytes)) in tasks.join_all().await.into_iter().enumerate() {
        assert_eq!((status, is_whole), (expected.status, expected.is_whole), "{what} {i}");
        if case.behaviour == Behaviour::Huge {
            assert!(bytes >= HUGE_BYTES, "{what}: {bytes}");
        }
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < GROWTH_MAX, "{what} took {grown} bytes");
    for i in 0..repetitions(case.behaviour) {
        let turns = house.turns_once(&format!("c-{i}"), expected.turns).await;
        assert_eq!(turns.len(), expected.turns, "{what} {i}");
    }
    assert!(started.elapsed() < PATIENCE, "{what}: {:?}", started.elapsed());
}

/// The status, whether the body came to its end, and how long it was. Nothing of it is kept.
async fn chat(house: &House, conversation: &str, is_stream: bool) -> (u16, bool, usize) {
    let body = json!({
        "model": "scripted", "stream": is_stream,
        "messages": [{"role": "user", "content": QUESTION}],
    });
    let request = house.chat_request(&body.to_string(), &[("x-mnemic-conversation", conversation)]);
    let response = house.app.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let (mut rest, mut bytes, mut is_whole) = (response.into_body(), 0, true);
    while let Some(frame) = rest.frame().await {
        match frame {
            Ok(frame) => bytes += frame.data_ref().unwrap().len(),
            Err(_) => is_whole = false,
        }
    }
    (status, is_whole, bytes)
}

/// What this process holds in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}
