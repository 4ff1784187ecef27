//! Erasure as people type it, and a made-up word that is looked for in every file afterwards.

use std::fs;
use std::path::Path;

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
