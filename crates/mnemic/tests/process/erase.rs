//! Erasure as people type it, and a made-up word that is looked for in every file afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;

use crate::support::mcp::Mcp;
use crate::support::{Ended, Home};

const WORD: &str = "qzvoxulk";

#[test]
fn an_erasure_shows_its_receipt() {
    let home = Home::new();
    let id = home.ok(&["remember", "tea is at four"]);
    let shown = home.ok(&["forget", &id, "--hard"]);
    assert!(shown.starts_with(&format!("erased memory {id}")), "{shown}");
    assert!(shown.contains("memories") && shown.contains("receipt "), "{shown}");
    home.run(&["remember", "tea is at four"]).failed(1, "revive");
    let id = home.ok(&["remember", "tea is at four", "--revive"]);
    let receipt = home.json(&["forget", &id, "--hard"]);
    assert_eq!(receipt["counts"]["memories"], 1);
    assert_eq!(receipt["files"], "rewritten");
    let node = home.ok(&["ontology", "create-node", "person", "Ana"]);
    let shown = home.ok(&["ontology", "delete-node", &node, "--hard"]);
    assert!(shown.starts_with(&format!("erased node {node}")), "{shown}");
    home.run(&["ontology", "create-node", "person", "Ana"]).failed(1, "erased");
    home.run(&["remember", "sings", "--entity", "ana"]).failed(1, "erased");
    home.ok(&["ontology", "create-node", "person", "Ana", "--revive"]);
    home.run(&["erase", "conversation", "c1"]).failed(1, "no such conversation");
    home.run(&["erase", "user", "nobody"]).failed(1, "no such user");
}

/// Whatever is in the data directory: the database and its log, but also what owners leave there.
#[test]
fn a_made_up_word_is_in_no_file_of_the_data_directory() {
    let home = Home::new();
    let token = home.ok(&["token", "create", "--role", "member", "--user", WORD]);
    let as_user = |arguments: &[&str]| {
        let ended = home.command(arguments).env("MNEMIC_TOKEN", &token).output().unwrap();
        Ended::of(ended).succeeded()
    };
    home.ok(&["workspace", "settings", r#"{"audit": {"level": "verbose"}}"#]);
    as_user(&["remember", &format!("the song of {WORD}"), "--topic", WORD]);
    as_user(&["ontology", "create-node", "person", WORD, "--alias", &format!("{WORD} two")]);
    as_user(&["recall", WORD]);
    let id = home.ok(&["remember", &format!("another song of {WORD}")]);
    assert!(holds(home.data(), WORD));
    home.ok(&["forget", &id, "--hard"]);
    let receipt = home.json(&["erase", "user", WORD]);
    assert_eq!(receipt["counts"]["memories"], 1);
    assert_eq!(receipt["counts"]["nodes"], 1);
    assert!(!holds(home.data(), WORD), "at once");
    home.ok(&["remember", "something else"]);
    assert!(!holds(home.data(), WORD), "after another start");
    assert!(holds(home.data(), "something else"));
}

fn holds(directory: &Path, word: &str) -> bool {
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, word);
        }
        let held = fs::read(&path).unwrap();
        held.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

/// A store with a memory and a node that go, and one of each that stay.
fn furnished() -> (Home, String, String) {
    let home = Home::new();
    let memory = home.ok(&["remember", &format!("the {WORD} is in the cellar")]);
    let node = home.ok(&["ontology", "create-node", "thing", WORD]);
    home.ok(&["remember", "the ladder is in the attic"]);
    home.ok(&["ontology", "create-node", "thing", "ladder"]);
    (home, memory, node)
}

fn erase_both(home: &Home, memory: &str, node: &str) {
    home.ok(&["forget", memory, "--hard"]);
    home.ok(&["ontology", "delete-node", node, "--hard"]);
}

/// What is back is erased again, what was not erased is there, and storing it is refused as before.
fn check_gone(home: &Home) {
    assert!(!home.ok(&["export", "-"]).contains(WORD));
    assert!(home.ok(&["recall", "where is the ladder?"]).contains("attic"));
    assert!(home.ok(&["ontology", "search", "ladder"]).contains("ladder"));
    home.run(&["remember", &format!("the {WORD} is in the cellar")]).failed(1, "revive");
    home.run(&["ontology", "create-node", "thing", WORD]).failed(1, "erased");
    assert!(!home.data().join("graves.json").exists());
}

#[test]
fn a_restored_backup_brings_nothing_back() {
    let (home, memory, node) = furnished();
    let file = home.around().join("backup.db");
    home.ok(&["backup", file.to_str().unwrap()]);
    erase_both(&home, &memory, &node);
    let restored = home.run(&["restore", file.to_str().unwrap(), "--force"]);
    assert!(restored.stderr.contains("2 records in it had been erased since"), "{restored:?}");
    check_gone(&home);
    let restored = home.json(&["restore", file.to_str().unwrap(), "--force"]);
    assert_eq!(restored["erased_again"], 2, "and not the next time either");
    check_gone(&home);
}

/// What waits in the directory while a backup is restored. A look at the directory catches the
/// file while it is there; where nobody looked in time, restoring again makes it again.
fn interrupted(home: &Home, file: &Path) -> PathBuf {
    let (graves, waiting) = (home.data().join("graves.json"), home.around().join("graves.json"));
    loop {
        let mut restore = home.command(&["restore", file.to_str().unwrap(), "--force"]);
        let mut child = restore.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut caught = false;
        while !caught && child.try_wait().unwrap().is_none() {
            caught = fs::copy(&graves, &waiting).is_ok();
        }
        assert!(child.wait().unwrap().success());
        if caught {
            return waiting;
        }
    }
}

/// The restoring process was killed behind the copy: the database is the old one, and the
/// tombstones wait in their file.
#[test]
fn who_opens_a_restored_store_lays_the_tombstones_that_wait() {
    let (home, memory, node) = furnished();
    let file = home.around().join("backup.db");
    home.ok(&["backup", file.to_str().unwrap()]);
    erase_both(&home, &memory, &node);
    let waiting = interrupted(&home, &file);
    let untouched = Home::new();
    untouched.ok(&["restore", file.to_str().unwrap()]);
    assert!(untouched.ok(&["export", "-"]).contains(WORD), "nobody was there to ask");
    fs::copy(&waiting, untouched.data().join("graves.json")).unwrap();
    untouched.ok(&["memory", "list"]);
    check_gone(&untouched);
}

/// The backup has a tombstone of its own, which must not take the place of those that wait.
#[test]
fn tombstones_that_wait_outlast_another_restore() {
    let (home, memory, node) = furnished();
    let early = home.ok(&["remember", "gone before the backup"]);
    home.ok(&["forget", &early, "--hard"]);
    let file = home.around().join("backup.db");
    home.ok(&["backup", file.to_str().unwrap()]);
    erase_both(&home, &memory, &node);
    let waiting = interrupted(&home, &file);
    let other = Home::new();
    other.ok(&["restore", file.to_str().unwrap()]);
    fs::copy(&waiting, other.data().join("graves.json")).unwrap();
    other.ok(&["restore", file.to_str().unwrap(), "--force"]);
    check_gone(&other);
}

#[test]
fn a_repeated_import_brings_nothing_back() {
    let (home, memory, node) = furnished();
    let file = home.around().join("all.jsonl");
    home.ok(&["export", file.to_str().unwrap()]);
    erase_both(&home, &memory, &node);
    let imported = home.run(&["import", file.to_str().unwrap(), "--force"]);
    assert!(imported.stderr.contains("2 records in it had been erased since"), "{imported:?}");
    check_gone(&home);
}

fn run_as(home: &Home, token: &str, arguments: &[&str]) -> Ended {
    Ended::of(home.command(arguments).env("MNEMIC_TOKEN", token).output().unwrap())
}

/// A store that writes down every word, with a user and a conversation that go, and a token that
/// is revoked; and what puts its state of before back.
struct Peopled {
    home: Home,
    user: String,
    revoked: String,
    kept: String,
}

impl Peopled {
    fn new() -> Self {
        let home = Home::new();
        home.ok(&["workspace", "settings", r#"{"audit": {"level": "verbose"}}"#]);
        let token = |user| home.ok(&["token", "create", "--role", "member", "--user", user]);
        let (user, revoked, kept) = (token(WORD), token("rupert"), token("kay"));
        run_as(&home, &user, &["remember", "tea is at four"]).succeeded();
        home.ok(&["remember", "the bell rings at noon"]);
        let mut mcp = Mcp::start(&home).unwrap();
        let recall =
            json!({"query": format!("bell {WORD}"), "conversation_id": format!("c-{WORD}")});
        let answer = mcp.call("memory_recall", &recall).unwrap();
        assert!(answer.to_string().contains("the bell rings"), "{answer}");
        mcp.close();
        Self { home, user, revoked, kept }
    }

    fn erase(&self) {
        let Self { home, .. } = self;
        home.ok(&["erase", "user", WORD]);
        let receipt = home.json(&["erase", "conversation", &format!("c-{WORD}")]);
        assert_eq!(receipt["counts"]["audit_details"], 1, "{receipt}");
        assert_eq!(
            (&receipt["counts"]["sightings"], &receipt["tombstones"]),
            (&1.into(), &1.into())
        );
        let tokens = home.json(&["token", "list"]);
        let named = |token: &&serde_json::Value| token["user"] == "rupert";
        let rupert = tokens.as_array().unwrap().iter().find(named).unwrap();
        home.ok(&["token", "revoke", rupert["id"].as_str().unwrap()]);
        self.check();
    }

    fn check(&self) {
        let Self { home, user, revoked, kept } = self;
        assert!(!holds(home.data(), WORD));
        for token in [user, revoked] {
            run_as(home, token, &["memory", "list"]).failed(1, "token");
        }
        assert!(run_as(home, kept, &["memory", "list"]).succeeded().contains("the bell rings"));
        assert!(!home.ok(&["export", "-"]).contains(WORD));
        assert!(!home.data().join("graves.json").exists());
    }
}

#[test]
fn a_restored_backup_brings_no_user_token_or_conversation_back() {
    let peopled = Peopled::new();
    let home = &peopled.home;
    let file = home.around().join("backup.db");
    let file = file.to_str().unwrap();
    home.ok(&["backup", file]);
    peopled.erase();
    for _ in 0..2 {
        let restored = home.json(&["restore", file, "--force"]);
        assert_eq!(restored["erased_again"], 2, "a memory and a token");
        peopled.check();
    }
}

#[test]
fn a_repeated_import_brings_no_user_token_or_conversation_back() {
    let peopled = Peopled::new();
    let home = &peopled.home;
    let file = home.around().join("all.jsonl");
    let file = file.to_str().unwrap();
    home.ok(&["export", file]);
    peopled.erase();
    home.ok(&["import", file, "--force"]);
    peopled.check();
}

/// Neither a start, nor an import that is refused, nor a backup that has somebody new of the name.
#[test]
fn who_has_the_name_of_an_erased_user_is_somebody_else() {
    let peopled = Peopled::new();
    let home = &peopled.home;
    let (export, file) = (home.around().join("all.jsonl"), home.around().join("backup.db"));
    home.ok(&["export", export.to_str().unwrap()]);
    peopled.erase();
    let token = home.ok(&["token", "create", "--role", "member", "--user", WORD]);
    run_as(home, &token, &["remember", "coffee is at five"]).succeeded();
    let check = || {
        let listed = run_as(home, &token, &["memory", "list"]).succeeded();
        assert!(listed.contains("coffee is at five") && !listed.contains("tea"), "{listed}");
        assert!(home.ok(&["audit"]).contains(WORD));
    };
    check();
    home.run(&["import", export.to_str().unwrap()]).failed(1, "--force");
    check();
    home.ok(&["backup", file.to_str().unwrap()]);
    home.ok(&["restore", file.to_str().unwrap(), "--force"]);
    check();
    run_as(home, &peopled.user, &["memory", "list"]).failed(1, "token");
}

#[test]
fn what_others_exported_comes_in_without_what_was_erased() {
    let home = Home::new();
    let file = home.around().join("mem0.json");
    let records = serde_json::json!({"results": [
        {"id": "1", "memory": format!("likes {WORD}")}, {"id": "2", "memory": "likes tea"}]});
    fs::write(&file, records.to_string()).unwrap();
    let first = home.json(&["import", file.to_str().unwrap()]);
    assert_eq!((&first["imported"], &first["erased"]), (&2.into(), &0.into()));
    let found = home.json(&["memory", "list", "--query", WORD]);
    let id = found["items"][0]["id"].as_str().unwrap();
    home.ok(&["forget", id, "--hard"]);
    let again = home.json(&["import", file.to_str().unwrap()]);
    let counts = (&again["imported"], &again["known"], &again["erased"]);
    assert_eq!(counts, (&0.into(), &1.into(), &1.into()));
}
