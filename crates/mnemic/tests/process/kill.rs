//! SIGKILL under concurrent writes: what was acknowledged is there, once.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{OWN, Server, answer, http};
use crate::support::{Home, random_below, rounds};

const WRITERS: usize = 16;
const ROUNDS: usize = 12;

/// One write and what became of it.
struct Write {
    key: String,
    content: String,
    /// The id that was acknowledged.
    id: Option<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_exactly_once() {
    let home = Home::new();
    let rounds = rounds().unwrap_or(ROUNDS);
    let mut server = start(&home);
    let (mut acknowledged, mut retried) = (0, 0);
    for round in 0..rounds {
        let channel = format!("round-{round}");
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                tokio::spawn(write_until_it_dies(address(&server), channel.clone(), writer))
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(20 + random_below(300))).await;
        server.kill();
        let mut writes = Vec::new();
        for writer in writers {
            writes.extend(writer.await.unwrap());
        }

        server = start(&home);
        let url = address(&server);
        acknowledged += writes.iter().filter(|write| write.id.is_some()).count();
        for write in &mut writes {
            match &write.id {
                // A client that did not hear back asks again.
                None => {
                    retried += 1;
                    write.id = Some(send(&url, &channel, write).await.unwrap());
                }
                // One that has forgotten that it heard back gets the same answer.
                Some(id) if random_below(8) == 0 => {
                    assert_eq!(&send(&url, &channel, write).await.unwrap(), id);
                }
                Some(_) => {}
            }
        }
        check(&server, &channel, &writes).await;
    }
    assert!(server.terminate().success());
    home.ok(&["doctor", "--thorough"]);
    println!(
        "kill -9: {rounds} rounds, {acknowledged} writes acknowledged, {retried} sent again, \
         lost=0, doubled=0"
    );
    assert!(acknowledged > 0 && retried > 0);
}

/// Every write of the round is there once, under the id that was answered, and nothing else.
async fn check(server: &Server, channel: &str, writes: &[Write]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for content in server.contents(channel).await {
        *counts.entry(content).or_default() += 1;
    }
    for write in writes {
        let count = counts.remove(&write.content).unwrap_or(0);
        assert_eq!(count, 1, "{}: there {count} times; answered {:?}", write.content, write.id);
    }
    assert_eq!(counts, HashMap::new(), "nobody wrote these");
    let last = writes.last().unwrap();
    let path = format!("{OWN}/memories/{}", last.id.as_deref().unwrap());
    assert_eq!(answer(server.get(&path)).await.1["content"], *last.content);
}

type Address = Arc<(reqwest::Client, String, String)>;

fn address(server: &Server) -> Address {
    Arc::new((http(), format!("{}{OWN}/memories", server.url), server.token.clone()))
}

async fn write_until_it_dies(url: Address, channel: String, writer: usize) -> Vec<Write> {
    let mut writes = Vec::new();
    loop {
        let content = format!("{channel}, writer {writer}, write {}", writes.len());
        let key = uuid::Uuid::new_v4().to_string();
        let mut write = Write { key, content, id: None };
        write.id = send(&url, &channel, &write).await;
        let died = write.id.is_none();
        writes.push(write);
        if died {
            return writes;
        }
    }
}

/// The id of the memory, or nothing if no answer came.
async fn send(address: &Address, channel: &str, write: &Write) -> Option<String> {
    let (http, url, token) = &**address;
    let body = json!({"content": write.content, "channel": channel});
    let request = http.post(url).bearer_auth(token).header("idempotency-key", &write.key);
    let response = request.json(&body).send().await.ok()?;
    let status = response.status();
    let answer: Value = response.json().await.ok()?;
    assert_eq!(status, 201, "{answer}");
    Some(answer["id"].as_str().unwrap().to_owned())
}

fn start(home: &Home) -> Server {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("MNEMIC_WRITES_PER_SECOND", "1000000");
    Server::start_by(home, command)
}

/// Whenever a first start is broken off, the next one works.
#[test]
fn a_first_start_may_be_broken_off_at_any_moment() {
    for _ in 0..rounds().unwrap_or(ROUNDS) {
        let home = Home::new();
        let mut first = home.command(&["remember", "the first"]);
        let mut child = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random_below(150_000)));
        let _ = child.kill();
        child.wait().unwrap();
        home.ok(&["remember", "the second"]);
        home.ok(&["doctor"]);
    }
}
