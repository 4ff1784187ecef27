//! The key to a workspace's model, as those who run the program meet it.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::{Value, json};

use crate::support::server::{Server, answer};
use crate::support::{Ended, Home};

const CANARY: &str = "sk-canary-qzvoxulk-0123456789";

fn set_key(mut command: Command) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{CANARY}").unwrap();
    Ended::of(child.wait_with_output().unwrap())
}

fn settings(upstream: &Upstream) -> String {
    let url = format!("{}/v1", upstream.url(Behaviour::Good));
    json!({"model": {"provider": "openai", "base_url": url, "name": "scripted"}}).to_string()
}

fn question() -> Value {
    json!({"model": "scripted", "messages": [{"role": "user", "content": "What is it?"}]})
}

/// Files that hold the canary, or a part of it.
fn holders(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holders(&path));
        } else if std::fs::read(&path).unwrap().windows(8).any(|bytes| bytes == b"qzvoxulk") {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_key_is_used_and_seen_nowhere() {
    let (home, upstream) = (Home::new(), Upstream::start());
    let loud = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("MNEMIC_LOG", "trace").env("MNEMIC_MODEL_ALLOW_PRIVATE", "true");
        command
    };
    let server = Server::start_by(&home, loud(&["serve", "--listen", "127.0.0.1:0"]));
    let mode = std::fs::metadata(home.data().join("secret.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    home.ok(&["workspace", "settings", &settings(&upstream)]);
    let set = set_key(loud(&["model", "set-key"]));
    assert!(!format!("{set:?}").contains("qzvoxulk"), "{set:?}");
    assert!(set.succeeded().contains("key       set"));
    let (status, _) = answer(server.post("/v1/chat/completions", &question())).await;
    assert_eq!(status, 200);
    let asked = upstream.asked(Behaviour::Good).pop().unwrap();
    assert_eq!(asked.headers["authorization"], format!("Bearer {CANARY}"));
    let shown = home.json(&["model", "show"]);
    assert_eq!((&shown["key_set"], &shown["source"]), (&json!(true), &json!("workspace")));
    assert!(!shown.to_string().contains("qzvoxulk"));
    let export = home.around().join("export");
    home.ok(&["export", export.to_str().unwrap()]);
    home.ok(&["backup", home.around().join("backup").to_str().unwrap()]);
    let log = server.stderr();
    drop(server);
    assert!(!log.is_empty() && !log.contains("qzvoxulk"));
    assert_eq!(holders(home.around()), Vec::<String>::new());
    assert!(std::fs::read_to_string(&export).unwrap().contains("\"secrets\""));
}

#[tokio::test]
async fn another_master_key_is_said_and_stops_nothing_else() {
    let (home, upstream) = (Home::new(), Upstream::start());
    home.ok(&["workspace", "settings", &settings(&upstream)]);
    set_key(home.command(&["model", "set-key"])).succeeded();
    let mut wrong = home.command(&["model", "show", "--json"]);
    wrong.env("MNEMIC_SECRET_KEY", "0".repeat(64)).env("MNEMIC_MODEL_ALLOW_PRIVATE", "true");
    let shown: Value =
        serde_json::from_str(&Ended::of(wrong.output().unwrap()).succeeded()).unwrap();
    assert!(shown["problem"].as_str().unwrap().contains("MNEMIC_SECRET_KEY"), "{shown}");
    assert_eq!(shown["key_set"], true);
    let mut remember = home.command(&["remember", "tea"]);
    remember.env("MNEMIC_SECRET_KEY", "0".repeat(64));
    Ended::of(remember.output().unwrap()).succeeded();
    let mut broken = home.command(&["remember", "tea"]);
    broken.env("MNEMIC_SECRET_KEY", "qzvoxulk");
    let refused = Ended::of(broken.output().unwrap());
    refused.failed(1, "32 bytes");
    assert!(!refused.stderr.contains("qzvoxulk"));
    home.ok(&["model", "delete-key"]);
    home.run(&["model", "delete-key"]).failed(1, "no such key");
}

#[test]
fn a_model_is_asked_what_to_look_for_where_it_is_wanted() {
    let (home, upstream) = (Home::new(), Upstream::start());
    home.ok(&["remember", "Ana prefers tea"]);
    let asked = ["recall", "what would our guest like first thing in the morning?", "--expand"];
    let alone = home.json(&asked);
    assert!(alone["degraded"].to_string().contains("no language model"), "{alone}");
    home.ok(&["workspace", "settings", &settings(&upstream)]);
    let recall = |arguments: &[&str]| {
        let mut command = home.command(&[&asked[..], arguments].concat());
        command.env("MNEMIC_MODEL_ALLOW_PRIVATE", "true");
        Ended::of(command.output().unwrap())
    };
    let shown = recall(&["--explain"]);
    let told = format!("{shown:?}");
    assert!(shown.succeeded().contains("Ana prefers tea"), "{told}");
    assert!(told.contains("openai:scripted") && told.contains("keywords: tea, kettle"), "{told}");
    assert_eq!(upstream.asked(Behaviour::Good).len(), 1);
}
