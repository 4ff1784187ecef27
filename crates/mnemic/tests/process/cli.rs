//! Everyday commands, with and without a server.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::server::Server;
use crate::support::{Ended, Home};

/// What a command line is run on: a directory, with or without somebody who serves it.
struct Stage {
    home: Home,
    server: Option<Server>,
}

const STAGES: [fn() -> Stage; 2] = [alone, served];

fn alone() -> Stage {
    Stage { home: Home::new(), server: None }
}

fn served() -> Stage {
    let home = Home::new();
    let server = Server::start(&home);
    Stage { home, server: Some(server) }
}

impl Stage {
    /// Nothing may have started a second owner or ended the first.
    fn check(self) {
        if let Some(mut server) = self.server {
            assert_eq!(self.home.owner_pid(), Some(server.pid()));
            assert!(server.terminate().success());
        } else {
            assert_eq!(self.home.owner(), None);
        }
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {value}"))
}

#[test]
fn the_graph_is_made_walked_and_tidied() {
    for stage in STAGES {
        let stage = stage();
        let home = &stage.home;
        let ana = home.ok(&["ontology", "create-node", "person", "Ana Díaz", "--alias", "Ana"]);
        assert_eq!(home.ok(&["ontology", "create-node", "person", "ANA"]), ana, "the id alone");
        let acme = home.ok(&["ontology", "create-node", "company", "Acme", "--connection", "crm"]);
        let from = ["--from", "2020-01-01T00:00:00Z"];
        let edge = ["ontology", "create-edge", &ana, "WORKS_FOR", &acme, from[0], from[1]];
        let edge = home.ok(&edge);
        let shown = home.ok(&["ontology", "traverse", &ana, "--depth", "2", "--type", "company"]);
        assert!(shown.contains("WORKS_FOR") && shown.contains("  company  Acme"), "{shown}");
        let past = ["ontology", "traverse", &ana, "--as-of", "2019-01-01T00:00:00Z"];
        assert_eq!(home.json(&past)["edges"].as_array().unwrap().len(), 0);
        let found = home.json(&["ontology", "search", "ana", "--type", "person"]);
        assert_eq!(text(&found, "/items/0/node/id"), ana);
        let shown = home.ok(&["recall", "what of Ana?", "--technique", "entities"]);
        assert!(shown.contains("person  Ana Díaz") && shown.contains(&ana), "{shown}");
        assert!(shown.contains("WORKS_FOR → Acme"), "{shown}");
        let found = home.json(&["recall", "what of Ana?"]);
        assert_eq!(text(&found, "/entities/0/neighbours/0/id"), acme);
        let changed = home.json(&["ontology", "update-node", &ana, r#"{"description": "x"}"#]);
        assert_eq!(text(&changed, "/description"), "x");
        let ended = home.run(&["ontology", "create-edge", &ana, "it's", &acme]);
        assert!(ended.stderr.contains("relation: `it's`"), "{}", ended.stderr);
        let split = home.ok(&["ontology", "split", &ana, "Ana B.", "--alias", "Ana"]);
        assert!(home.ok(&["ontology", "merge", &split, &ana]).contains("Ana B."));
        assert!(home.ok(&["ontology", "get-node", &ana]).contains("Ana Díaz"));
        home.ok(&["ontology", "delete-edge", &edge]);
        let erased = home.ok(&["ontology", "delete-connection", "crm"]);
        assert!(erased.starts_with("erased connection crm"), "{erased}");
        home.ok(&["ontology", "delete-node", &ana, "--hard"]);
        stage.check();
    }
}

#[test]
fn a_memory_lives_its_life() {
    for stage in STAGES {
        let stage = stage();
        let home = &stage.home;
        let id = home.ok(&["remember", "the harbour opens at six"]);
        assert_eq!(id.len(), 36, "the id alone: {id}");
        let found = home.ok(&["recall", "when does the harbour open"]);
        assert!(found.contains("the harbour opens at six") && found.contains(&id), "{found}");
        let found = home.json(&["recall", "harbour", "--explain", "--limit", "1"]);
        assert_eq!(found["entities"], serde_json::json!([]));
        assert_eq!(text(&found, "/items/0/id"), id);
        assert_eq!(text(&found, "/items/0/why/found_by/0/technique"), "words");
        home.ok(&["goal", "add", "Repaint the harbour"]);
        let parts = ["recall", "harbour", "--include", "goals,policies", "--include", "patterns"];
        let shown = home.ok(&parts);
        assert!(shown.contains("Repaint the harbour") && !shown.contains(&id), "{shown}");
        let found = home.json(&["recall", "harbour", "--include", "memories"]);
        assert_eq!(text(&found, "/items/0/id"), id);
        assert_eq!(found["goals"], serde_json::json!([]));

        assert_eq!(text(&home.json(&["promote", &id]), "/kind"), "fact");
        assert_eq!(home.json(&["memory", "pin", &id])["pinned"], true);
        assert!(home.ok(&["memory", "list", "--pinned"]).contains(&id));
        assert_eq!(home.json(&["memory", "unpin", &id])["pinned"], false);
        let weight = |value: &Value| value["weight"].as_f64().unwrap();
        let before = weight(&home.json(&["memory", "get", &id]));
        assert!(weight(&home.json(&["memory", "weight", &id, "-0.25"])) < before);

        let counted = home.json(&["run", "run-1", &format!("as [mem:{id}] says")]);
        assert_eq!(text(&counted, "/counted/0"), id);
        let again = home.ok(&["run", "run-1", &format!("as [mem:{id}] says")]);
        assert_eq!(again, format!("ignored {id}: already counted"));

        let newer = home.json(&["memory", "supersede", &id, "the harbour opens at seven"]);
        let newer = text(&newer, "/id");
        assert_ne!(newer, id);
        assert_eq!(text(&home.json(&["memory", "get", &id]), "/superseded_by"), newer);

        assert!(home.ok(&["forget", newer]).contains("memory restore"));
        home.run(&["memory", "get", newer]).failed(1, "no such memory");
        assert!(home.ok(&["memory", "list", "--deleted"]).contains(newer));
        home.ok(&["memory", "restore", newer]);
        assert!(home.ok(&["memory", "list", "--query", "seven"]).contains(newer));
        home.ok(&["forget", newer, "--hard"]);
        home.run(&["memory", "restore", newer]).failed(1, "no such memory");

        assert_eq!(home.ok(&["memory", "recommended-pins"]), "");
        assert_eq!(home.json(&["memory", "stale"])["items"], Value::Array(vec![]));
        let purged = home.ok(&["memory", "purge", "--older-than", "30", "--dry-run"]);
        assert_eq!(purged, "would erase 0 stale memories");
        stage.check();
    }
}

#[test]
fn options_and_standard_input_reach_the_memory() {
    let home = Home::new();
    let mut child = home
        .command(&["remember", "-", "--fact", "--channel", "ops", "--domain", "net", "--json"])
        .args(["--topic", "dns", "--confidence", "0.5"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"two lines\nof text").unwrap();
    let made: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let wanted = ["two lines\nof text", "fact", "ops", "net", "dns"];
    let fields = ["/content", "/kind", "/channel", "/domain", "/topic"];
    assert_eq!(fields.map(|field| text(&made, field)), wanted);
    assert_eq!(made["confidence"], 0.5);
    let shown = home.ok(&["memory", "list", "--channel", "ops", "--kind", "fact"]);
    assert_eq!(shown.lines().count(), 1, "one memory, one line: {shown}");
    let newer = home.ok(&["remember", "newer", "--fact", "--supersedes", text(&made, "/id")]);
    assert_eq!(text(&home.json(&["memory", "get", text(&made, "/id")]), "/superseded_by"), newer);
}

#[test]
fn lists_go_on_where_they_stopped() {
    let home = Home::new();
    for number in 0..3 {
        home.ok(&["remember", &format!("number {number}")]);
    }
    let first = home.json(&["memory", "list", "--limit", "2"]);
    let cursor = text(&first, "/next_cursor");
    let rest = home.ok(&["memory", "list", "--limit", "2", "--cursor", cursor]);
    assert!(rest.contains("number 0") && rest.lines().count() == 1, "{rest}");
    let shown = home.run(&["memory", "list", "--limit", "2"]);
    assert!(shown.stderr.contains("--cursor"), "{shown:?}");
}

#[test]
fn workspaces_keep_apart() {
    for stage in STAGES {
        let stage = stage();
        let home = &stage.home;
        home.ok(&["remember", "belongs to the default workspace"]);
        let id = home.ok(&["workspace", "create", "other"]);
        let list = home.ok(&["workspace", "list"]);
        assert!(list.contains("default") && list.contains(&id), "{list}");
        home.run(&["workspace", "create", "other"]).failed(1, "other");

        let token = home.ok(&["token", "create", "--workspace", "other", "--role", "member"]);
        let with = |arguments: &[&str]| home.ok(&[arguments, &["--token", &token]].concat());
        assert_eq!(with(&["memory", "list"]), "");
        with(&["remember", "belongs to the other"]);
        assert!(!home.ok(&["memory", "list"]).contains("the other"));
        let denied = home.run(&["workspace", "create", "third", "--token", &token]);
        assert_eq!(denied.code, Some(1), "{denied:?}");

        let tokens = home.json(&["token", "list"]);
        let of_other = |token: &&Value| token["workspace"] == "other";
        let listed = tokens.as_array().unwrap().iter().find(of_other).unwrap();
        assert!(!home.ok(&["token", "list"]).contains(&token));
        home.ok(&["token", "revoke", text(listed, "/id")]);
        home.run(&["memory", "list", "--token", &token]).failed(1, "revoked");

        assert!(home.ok(&["workspace", "delete", "other"]).contains("--hard"));
        home.run(&["workspace", "delete", "other"]).failed(1, "no workspace called `other`");
        assert!(home.ok(&["workspace", "delete", &id, "--hard"]).contains("0 left"));
        stage.check();
    }
}

#[test]
fn settings_and_the_switch_reach_the_workspace() {
    for stage in STAGES {
        let stage = stage();
        let home = &stage.home;
        assert!(home.ok(&["workspace", "settings"]).contains("memory          on"));
        let set = home.json(&["workspace", "settings", r#"{"memory":{"retention_days":30}}"#]);
        assert_eq!(set.pointer("/memory/retention_days"), Some(&30.into()));
        home.run(&["workspace", "settings", "{"]).failed(1, "JSON");
        home.run(&["workspace", "settings", r#"{"memory":{"days":1}}"#]).failed(1, "days");

        assert!(home.ok(&["workspace", "disable-memory"]).contains("memory          off"));
        assert!(home.ok(&["workspace", "list"]).contains("memory off"));
        assert!(home.ok(&["workspace", "enable-memory"]).contains("memory          on"));
        stage.check();
    }
}

#[test]
fn jobs_and_the_doctor_report() {
    for stage in STAGES {
        let stage = stage();
        let home = &stage.home;
        home.ok(&["remember", "something to look at"]);
        assert!(home.ok(&["jobs", "list"]).contains("reembed"));
        assert!(home.json(&["jobs", "list"])["items"].is_array());
        for job in ["consolidate", "rollup", "decay", "cleanup"] {
            home.ok(&["jobs", "run", job, "--dry-run"]);
            home.ok(&["jobs", "run", job]);
        }
        assert_eq!(home.ok(&["review", "list"]), "");
        let nobody = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
        home.run(&["review", "resolve", nobody, "keep_new"]).failed(1, "no such review");
        home.run(&["jobs", "run", "nonsense"]).failed(1, "nonsense");
        for doctor in [&["doctor"][..], &["doctor", "--thorough"]] {
            let report = home.json(doctor);
            let findings = report["findings"].as_array().unwrap();
            assert!(findings.len() >= 3 && findings.iter().all(|f| f["ok"] == true), "{report}");
        }
        assert!(home.ok(&["doctor"]).lines().all(|line| line.starts_with("ok")));
        stage.check();
    }
}

#[test]
fn a_server_is_reached_by_its_address() {
    let served = served();
    let server = served.server.as_ref().unwrap();
    // A home of its own, so that nothing can come from the data directory.
    let away = Home::new();
    let reach = |token: &str, arguments: &[&str]| -> Ended {
        let mut command = away.command(arguments);
        command.env_remove("MNEMIC_DATA_DIR").args(["--url", &server.url, "--token", token]);
        Ended::of(command.output().unwrap())
    };
    let id = reach(&server.token, &["remember", "from afar"]).succeeded();
    assert!(served.home.ok(&["memory", "list"]).contains(&id));
    assert!(reach(&server.token, &["doctor"]).succeeded().contains("ok"));
    reach("mnemic_wrong", &["memory", "list"]).failed(1, "token");
    let without = ["memory", "list", "--url", &server.url];
    away.run(&without).failed(1, "--token");
    assert!(!away.data().exists(), "nothing is made where nothing is used");
    served.check();
}

#[test]
fn an_address_where_nobody_answers_is_named() {
    let home = Home::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let ended = home.run(&["recall", "x", "--url", &url, "--token", "t"]);
    ended.failed(1, &url);
}

#[test]
fn wrong_usage_is_told_from_failure() {
    let home = Home::new();
    for wrong in [
        &["remember"][..],
        &["remember", "a", "b"],
        &["forget", "not-an-id"],
        &["nonsense"],
        &["recall", "x", "--limit", "many"],
        &["memory"],
        &["serve", "--nonsense"],
        &["token", "create"],
    ] {
        home.run(wrong).failed(2, "--help");
    }
    let parts = "memories, turns, entities, strategies, goals, policies, patterns";
    home.run(&["recall", "x", "--include", "memoirs"]).failed(2, parts);
    home.run(&[]).failed(2, "Usage");
    assert!(!home.data().exists());
    let id = uuid::Uuid::nil().to_string();
    home.run(&["promote", &id]).failed(1, "no such memory");
    home.run(&["promote", &id, "--json"]).failed(1, "no such memory");
    home.run(&["remember", ""]).failed(1, "content");
    home.run(&["recall", "x", "--as-of", "tomorrow"]).failed(1, "`tomorrow` is not a time");
    home.run(&["remember", "x", "--confidence", "7"]).failed(1, "confidence");
    home.run(&["memory", "list", "--cursor", "nonsense"]).failed(1, "cursor");
    assert_eq!(home.run(&["--version"]).code, Some(0));
    assert_eq!(home.run(&["--help"]).code, Some(0));
}

/// A reader that goes away, as `head` does, is no reason to complain.
#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    home.ok(&["remember", "something"]);
    let mut child = home
        .command(&["memory", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

/// Stored text cannot give orders to a terminal.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let home = Home::new();
    let kept = home.run(&["remember", "red \u{1b}[31mtext\u{7}"]);
    if kept.code == Some(0) {
        let shown = home.ok(&["memory", "list"]);
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    } else {
        kept.failed(1, "invisible character");
    }
}

#[test]
fn without_a_data_directory_the_users_own_is_taken() {
    let home = Home::new();
    let mut command = home.through(Command::new(crate::support::BINARY), &["remember", "here"]);
    command.env_remove("MNEMIC_DATA_DIR").env_remove("XDG_DATA_HOME");
    Ended::of(command.output().unwrap()).succeeded();
    assert!(home.around().join(".local/share/mnemic/mnemic.db").is_file());
}
