//! Slots: in one process, and in a Redis that servers share and that goes away.

use std::time::{Duration, Instant};

use mnemic_test_servers::{Redis, postgres};
use serde_json::{Value, json};

use crate::database::{serve, setup};
use crate::support::server::{OWN, Server, answer};
use crate::support::{Ended, Home};

async fn put(server: &Server, slot: &str, value: &Value) -> (u16, Value) {
    let path = format!("{OWN}/conversations/c-1/slots/{slot}");
    let started = Instant::now();
    let (status, body) = answer(server.put(&path, &json!({"value": value}))).await;
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    (status.as_u16(), body)
}

async fn get(server: &Server, slot: &str) -> (u16, Value) {
    let path = format!("{OWN}/conversations/c-1/slots/{slot}");
    let (status, body) = answer(server.get(&path)).await;
    (status.as_u16(), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_share_slots_in_redis_and_serve_all_else_without_it() {
    let (first, second) = (Home::new(), Home::new());
    let redis = Redis::start();
    let owner = postgres().tcp_url(&postgres().database("template1"));
    let prepared = setup(&first, &owner);
    let url = prepared["url"].as_str().unwrap();
    let with_redis = |home: &Home, by_flag: bool| {
        let mut command = serve(home, url);
        if by_flag {
            command.args(["--redis", &redis.url()]);
        } else {
            command.env("MNEMIC_REDIS", redis.url());
        }
        command.env("MNEMIC_LOG", "trace");
        command
    };
    let one = Server::start_by(&first, with_redis(&first, true));
    std::fs::create_dir_all(second.data()).unwrap();
    std::fs::write(second.data().join("token"), &one.token).unwrap();
    let two = Server::start_by(&second, with_redis(&second, false));

    for number in 0..10 {
        let (from, to) = if number % 2 == 0 { (&one, &two) } else { (&two, &one) };
        assert_eq!(put(from, "plan", &json!({"step": number})).await.0, 200);
        assert_eq!(get(to, "plan").await.1["value"], json!({"step": number}));
    }

    redis.crash();
    for server in [&one, &two] {
        let (status, problem) = put(server, "plan", &json!(1)).await;
        assert_eq!((status, &problem["code"]), (503, &json!("slots_unavailable")), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("everything else serves"));
        assert_eq!(get(server, "plan").await.0, 503);
        assert_eq!(server.remember("while Redis is away").await.0, 201);
        let (status, ready) = answer(server.get("/readyz")).await;
        assert_eq!((status.as_u16(), &ready["slots"]), (200, &json!("away")), "{ready}");
        let (_, report) = answer(server.get("/v1/doctor")).await;
        let findings = report["findings"].as_array().unwrap();
        let slots = findings.iter().find(|finding| finding["part"] == "slots").unwrap();
        assert_eq!(slots["ok"], false, "{report}");
        let hard = answer(server.delete(&format!("{OWN}?hard=true"))).await;
        assert_eq!(hard.0, 503, "no half of a workspace is erased");
    }
    assert_eq!(one.remember("the workspace is still whole").await.0, 201);

    redis.restart();
    for server in [&one, &two] {
        let started = Instant::now();
        while put(server, "plan", &json!("back")).await.0 != 200 {
            assert!(started.elapsed() < Duration::from_secs(10), "it never came back");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(get(server, "plan").await.1["value"], "back");
    }
    let (status, cleared) = answer(two.delete(&format!("{OWN}/conversations/c-1/slots"))).await;
    assert_eq!((status.as_u16(), cleared), (200, json!({"cleared": 1})));
    assert_eq!(get(&one, "plan").await.0, 404);
    for server in [&one, &two] {
        let log = server.stderr();
        assert!(log.contains("slots_unavailable"), "the log says nothing of it");
        assert!(!log.contains(redis.password()), "the log holds the password");
    }
}

#[test]
fn slots_are_used_by_command() {
    let home = Home::new();
    let alone = home.run(&["slot", "set", "c-1", "plan", "1"]);
    alone.failed(1, "mnemic serve");
    let _server = Server::start(&home);
    let set = ["slot", "set", "c-1", "plan", "{\"step\": [1, null]}", "--ttl", "60"];
    assert!(home.ok(&set).starts_with("plan until "));
    home.ok(&["slot", "set", "c-1", "note", "\"a\\u001b[2Jb\\u0085\""]);
    assert_eq!(home.ok(&["slot", "get", "c-1", "plan"]), "{\"step\":[1,null]}");
    let listed = home.ok(&["slot", "list", "c-1"]);
    assert_eq!(listed, "note  \"a\\u001b[2Jb\\u0085\"\nplan  {\"step\":[1,null]}");
    assert_eq!(home.json(&["slot", "get", "c-1", "plan"])["ttl_seconds"], 60);
    assert_eq!(home.ok(&["slot", "delete", "c-1", "note"]), "deleted note");
    assert_eq!(home.ok(&["slot", "clear", "c-1"]), "cleared 1 slots");
    home.run(&["slot", "get", "c-1", "plan"]).failed(1, "no such slot");
    home.run(&["slot", "set", "c-1", "plan", "a text"]).failed(1, "must be JSON");
    for arguments in [["delete", "c-1", ".."], ["get", "a:b", "plan"], ["get", "c-1", ""]] {
        let [verb, conversation, slot] = arguments;
        home.run(&["slot", verb, conversation, slot]).failed(1, ": ");
    }
}

#[test]
fn a_command_keeps_slots_in_redis_without_a_server() {
    let (home, redis) = (Home::new(), Redis::start());
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("MNEMIC_REDIS", redis.url());
        Ended::of(command.output().unwrap())
    };
    run(&["slot", "set", "c-1", "plan", "[2]"]).succeeded();
    assert_eq!(run(&["slot", "get", "c-1", "plan"]).succeeded(), "[2]");
}

#[test]
fn wrong_settings_of_slots_are_named_without_their_password() {
    let home = Home::new();
    let file = home.around().join("mnemic.toml");
    for (text, words) in [
        ("[slots]\nredis = \"redis://:hunter2@\"", "address of Redis"),
        ("[slots]\nredis = \"redis://:hunter2@h", "line 2 (redis)"),
        ("[slots]\nredis = [\"redis://:hunter2@h\"]", "line 2 (redis)"),
        ("[slots]\nttl_seconds = 0", "between 1 and 2592000"),
        ("[slots]\nttl = 5", "ttl"),
    ] {
        std::fs::write(&file, text).unwrap();
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        let ended = Ended::of(command.env("MNEMIC_CONFIG", &file).output().unwrap());
        ended.failed(1, words);
        assert!(!ended.stderr.contains("hunter2"), "{ended:?}");
    }
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let ended = Ended::of(command.args(["--redis", "http://:hunter2@h"]).output().unwrap());
    ended.failed(1, "redis://");
    assert!(!ended.stderr.contains("hunter2"), "{ended:?}");
}
