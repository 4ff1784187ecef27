//! `mnemic export` and `mnemic import`: there and back to the byte, beside a server, and refused
//! where a file is not what it should be.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mnemic_test_servers::postgres;
use serde_json::Value;

use crate::migrate::{database, filled};
use crate::support::server::Server;
use crate::support::{Ended, Home, random_below, rounds};

const ROUNDS: usize = 3;

fn export(home: &Home, name: &str) -> (PathBuf, Vec<u8>) {
    let path = home.around().join(name);
    home.ok(&["export", path.to_str().unwrap()]);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn fed(home: &Home, arguments: &[&str], input: &[u8]) -> Ended {
    let mut command = home.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Whoever refuses a file does not read it to its end.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let done = Ended::of(child.wait_with_output().unwrap());
    writer.join().unwrap();
    done
}

#[test]
fn a_store_comes_back_to_the_byte() {
    let home = filled();
    let token = home.token();
    let (file, first) = export(&home, "all.jsonl");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let other = Home::new();
    let told = other.json(&["import", text(&file)]);
    assert_eq!((&told["equal"], &told["workspaces"]), (&true.into(), &3.into()), "{told}");
    assert!(first == export(&other, "again.jsonl").1, "the second export differs");
    assert_eq!(other.json(&["import", text(&file)])["written"], 0, "it may be repeated");
    let left: Vec<_> = std::fs::read_dir(other.data()).unwrap().flatten().collect();
    assert!(!left.iter().any(|it| it.file_name().to_string_lossy().starts_with("import.")));
    let found = other.ok(&["--token", &token, "recall", "gate code"]);
    assert!(found.contains("the gate code is in the Straße"), "{found}");
    for (table, rows) in [("conversations", 1), ("turns", 2), ("episodes", 1)] {
        let line = format!("{{\"table\":\"{table}\",");
        assert_eq!(String::from_utf8_lossy(&first).matches(&line).count(), rows, "{table}");
    }
    let said = other.ok(&["--token", &token, "conversation", "turns", "standup"]);
    assert!(said.contains("line 2 of it") && said.contains("line 3 of it"), "{said}");

    let third = Home::new();
    let streamed = home.command(&["export", "-"]).output().unwrap();
    assert!(streamed.stdout == first && streamed.stderr.is_empty(), "quiet in a pipe");
    fed(&third, &["import", "-"], &first).succeeded();
    assert!(first == export(&third, "third.jsonl").1);
}

/// The kept answers of what says nothing are `null`, and come along.
#[test]
fn a_store_in_which_something_was_deleted_comes_back_to_the_byte() {
    let home = Home::new();
    let node = home.ok(&["ontology", "create-node", "person", "Ann"]);
    home.ok(&["ontology", "delete-node", &node]);
    let (file, first) = export(&home, "all.jsonl");
    let other = Home::new();
    other.ok(&["import", text(&file)]);
    let (_, again) = export(&other, "again.jsonl");
    assert!(first == again, "the exports differ");
}

#[test]
fn a_store_goes_into_a_database_and_out_again() {
    let home = filled();
    let (file, first) = export(&home, "all.jsonl");
    let url = database(&home);
    assert_eq!(home.json(&["import", text(&file), "--store", &url])["equal"], true);
    let back = home.around().join("back.jsonl");
    home.ok(&["export", text(&back), "--store", &url]);
    assert!(first == std::fs::read(back).unwrap(), "the database's export differs");
}

#[test]
fn an_export_is_made_beside_a_server_and_an_import_is_not() {
    let home = filled();
    let mut server = Server::start(&home);
    let (file, first) = export(&home, "all.jsonl");
    home.ok(&["remember", "added while it was served"]);
    home.run(&["export", text(&file)]).failed(1, "--force");
    home.ok(&["export", "--force", text(&file)]);
    let second = std::fs::read(&file).unwrap();
    assert!(second.len() > first.len() && second != first);
    home.run(&["import", text(&file)]).failed(1, "stop it first");
    assert!(server.terminate().success());
}

#[test]
fn what_differs_is_overwritten_by_force_alone() {
    let home = filled();
    let (file, first) = export(&home, "all.jsonl");
    let id = home.ok(&["remember", "changed later"]);
    home.run(&["import", text(&file)]).failed(1, "--force");
    assert!(home.ok(&["memory", "get", &id]).contains("changed later"));
    home.ok(&["import", "--force", text(&file)]);
    assert!(first == export(&home, "again.jsonl").1);
    let other = Home::new();
    other.ok(&["remember", "of somebody else"]);
    let theirs = export(&other, "theirs.jsonl").1;
    for arguments in [&["import", text(&file)][..], &["import", "--force", text(&file)]] {
        other.run(arguments).failed(1, "does not have");
    }
    assert!(theirs == export(&other, "after.jsonl").1, "somebody else's store was changed");
}

#[test]
fn what_is_wrong_with_a_file_is_said_and_every_store_stays_as_it_is() {
    let home = filled();
    let (file, whole) = export(&home, "all.jsonl");
    home.ok(&["remember", "newer than the file"]);
    let before = export(&home, "before.jsonl").1;
    let url = database(&home);
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let middle = lines.len() / 2;
    let (head, tail) = (lines[..middle].concat(), lines[middle + 1..].concat());
    let newer = String::from_utf8(whole.clone()).unwrap();
    let newer = newer.replacen("\"version\":1", "\"version\":9", 1).into_bytes();
    for (number, (bytes, words)) in [
        (head.clone(), format!("the file ends in line {middle}, before")),
        (whole[..head.len() + 9].to_vec(), format!("the file ends in line {}", middle + 1)),
        (
            [&head[..], b"{\"table\": oops}\n", &tail].concat(),
            format!("line {}: is not JSON", middle + 1),
        ),
        (newer, "line 1: the file was written by a newer version".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        std::fs::write(&file, bytes).unwrap();
        let words = format!("{}: {words}", text(&file));
        for target in [&[][..], &["--store", &url]] {
            let refused = home.run(&[&["import", "--force", text(&file)], target].concat());
            refused.failed(1, &words);
            assert!(refused.stderr.contains("; nothing was imported"), "{refused:?}");
        }
        assert!(before == export(&home, &format!("after{number}.jsonl")).1, "{words}");
    }
    let empty = home.ok(&["export", "-", "--store", &url]);
    assert!(empty.lines().count() == 2 && empty.contains("\"rows\":0"), "{empty}");
}

/// Whenever it is killed, the next one finishes it.
#[test]
fn an_import_may_be_broken_off_at_any_moment() {
    let home = filled();
    let (file, first) = export(&home, "all.jsonl");
    for round in 0..rounds().unwrap_or(ROUNDS) {
        let other = Home::new();
        let mut import = other.command(&["import", text(&file)]);
        let mut child = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random_below(250_000)));
        let _ = child.kill();
        child.wait().unwrap();
        other.ok(&["import", text(&file)]);
        assert!(first == export(&other, "again.jsonl").1, "round {round}");
        let left = std::fs::read_dir(other.data()).unwrap().flatten();
        let names: Vec<_> = left.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|it| it.starts_with("import.")), "{names:?}");
    }
}

#[test]
fn a_bad_file_is_refused_and_nothing_is_made() {
    let home = filled();
    let (_, whole) = export(&home, "all.jsonl");
    let other = Home::new();
    let half = &whole[..whole.len() / 2];
    fed(&other, &["import", "-"], half).failed(1, "standard input: the file ends in line");
    let mut damaged = whole.clone();
    let at = whole.windows(5).position(|it| it == b"entry").unwrap();
    damaged[at] = b'E';
    fed(&other, &["import", "-"], &damaged).failed(1, "`sha256`");
    let newer = String::from_utf8(whole).unwrap().replacen("\"version\":1", "\"version\":9", 1);
    fed(&other, &["import", "-"], newer.as_bytes()).failed(1, "newer version");
    fed(&other, &["import", "-"], b"a,b\n1,2\n").failed(1, "no JSON");
    fed(&other, &["import", "-"], b"{\"x\":1}").failed(1, "Expected is one of");
    fed(&other, &["import", "-", "--format", "mnemic"], b"{}\n").failed(1, "no export of mnemic");
    other.run(&["import", "absent"]).failed(1, "absent cannot be read");
    assert!(!other.database().exists(), "a store was made");
    other.run(&["export", "x"]).failed(1, "no store in");
    let secret = "postgres://u:hush@127.0.0.1:1/x";
    let refused = home.run(&["export", "x", "--store", secret]);
    refused.failed(1, "check that it runs");
    assert!(!refused.stderr.contains("hush"), "{refused:?}");
    assert!(!home.around().join("x").exists());
    let bare = postgres().tcp_url(&postgres().database("template1"));
    home.run(&["export", "x", "--store", &bare]).failed(1, "mnemic db setup");
}

#[test]
fn what_others_exported_comes_in_once() {
    let home = Home::new();
    let count = |home: &Home| home.json(&["memory", "list"])["items"].as_array().unwrap().len();
    let lines = b"{\"type\":\"entity\",\"name\":\"Ana\",\"entityType\":\"person\",\
        \"observations\":[\"drinks tea\",\"rows\"]}\n\
        {\"type\":\"relation\",\"from\":\"Ana\",\"to\":\"Bo\",\"relationType\":\"knows\"}\n";
    let mem0 =
        b"{\"results\":[{\"id\":\"m1\",\"memory\":\"Likes the harbour\",\"user_id\":\"bo\"}]}";
    let graph = b"{\"nodes\":[{\"uuid\":\"a\",\"name\":\"Ana\"}],\"edges\":[{\"uuid\":\"e1\",\
        \"fact\":\"Ana owns a boat\",\"source_node_uuid\":\"a\",\
        \"valid_at\":\"2024-01-01T00:00:00Z\",\"invalid_at\":\"2025-01-01T00:00:00Z\"}]}";
    for (input, made) in [(&lines[..], 3), (mem0, 1), (graph, 1)] {
        let told = fed(&home, &["import", "-", "--json"], input).succeeded();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["imported"], made, "{told}");
    }
    assert_eq!(count(&home), 5);
    let listed = home.json(&["memory", "list", "--query", "boat"]);
    let boat = &listed["items"][0];
    assert_eq!((&boat["kind"], &boat["source"]), (&"fact".into(), &"graphiti".into()), "{boat}");
    assert_eq!(boat["valid_to"], "2025-01-01T00:00:00Z");
    assert_eq!(boat["entities"][0], "Ana");

    // What was forgotten or replaced since does not come back either.
    let tea = home.json(&["memory", "list", "--query", "tea"])["items"][0]["id"].clone();
    home.ok(&["forget", tea.as_str().unwrap()]);
    let rows = home.json(&["memory", "list", "--query", "rows"])["items"][0]["id"].clone();
    home.ok(&["memory", "supersede", rows.as_str().unwrap(), "Ana: sails"]);
    for input in [&lines[..], mem0, graph] {
        let told = fed(&home, &["import", "-"], input).succeeded();
        assert!(told.starts_with("imported 0 memories"), "{told}");
    }
    assert_eq!(count(&home), 4);
    let refused = fed(&home, &["import", "-", "--store", "postgres://u@h/d"], mem0);
    refused.failed(1, "--url");
}

#[test]
fn conversations_of_others_come_in_once_and_grow() {
    let home = Home::new();
    let node = |id: &str, parent: &str, role: &str, said: &str| {
        format!(
            "\"{id}\":{{\"id\":\"{id}\",\"parent\":{parent},\"children\":[],\"message\":{{\"author\":\
             {{\"role\":\"{role}\"}},\"create_time\":1700000000.25,\"content\":{{\"content_type\":\
             \"text\",\"parts\":[\"{said}\"]}}}}}}"
        )
    };
    let file = |nodes: &[String], last: &str| {
        format!(
            "[{{\"title\":\"Boats\",\"conversation_id\":\"c1\",\"current_node\":\"{last}\",\
             \"mapping\":{{{}}}}}]",
            nodes.join(",")
        )
    };
    let mut nodes = vec![
        node("a", "null", "user", "Which boat?"),
        node("b", "\"a\"", "assistant", "A red one."),
    ];
    let first = file(&nodes, "b");
    nodes.push(node("c", "\"b\"", "user", "Thanks!"));
    let grown = file(&nodes, "c");
    for (input, imported, turns) in [(&first, 1, 2), (&first, 0, 0), (&grown, 1, 1), (&grown, 0, 0)]
    {
        let told = fed(&home, &["import", "-", "--json"], input.as_bytes()).succeeded();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(
            (&told["imported"], &told["turns"]),
            (&imported.into(), &turns.into()),
            "{told}"
        );
    }
    let listed = home.json(&["conversation", "list"]);
    let boats = &listed["items"][0];
    assert_eq!((&boats["id"], &boats["title"]), (&"chatgpt-c1".into(), &"Boats".into()), "{boats}");
    let turns = home.json(&["conversation", "turns", "chatgpt-c1"]);
    assert_eq!(turns["items"][2]["content"], "Thanks!");
    assert_eq!(turns["items"][0]["timestamp"], "2023-11-14T22:13:20.25Z");

    home.ok(&["erase", "conversation", "chatgpt-c1"]);
    let told = fed(&home, &["import", "-"], grown.as_bytes()).succeeded();
    assert!(
        told.contains("imported 0 conversations") && told.contains("1 had been erased"),
        "{told}"
    );
    let claude = b"[{\"uuid\":\"u1\",\"name\":\"Tea\",\"chat_messages\":[{\"sender\":\"human\",\
        \"text\":\"Green?\",\"created_at\":\"2024-05-06T07:08:09Z\"}]},\
        {\"uuid\":\"u2\",\"name\":\"Bad\",\"chat_messages\":[{\"text\":\"who?\"}]}]";
    fed(&home, &["import", "-"], claude).failed(1, "conversation 2, message 1");
    let listed = home.json(&["conversation", "list"]);
    assert!(listed["items"].as_array().unwrap().is_empty(), "nothing was stored: {listed}");
}
