//! `mnemic backup` and `mnemic restore`: under load, after a kill, and refused where something
//! would be lost.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{OWN, Server, http};
use crate::support::{Ended, Home, random_below, rounds};

/// Backups under load.
const LOAD_ROUNDS: usize = 20;
/// Restores that are killed.
const KILL_ROUNDS: usize = 6;
const WRITERS: usize = 8;
/// A backup begins when this many are there, and somewhat more.
const ACKNOWLEDGED_MIN: usize = 50;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn made(home: &Home, name: &str) -> PathBuf {
    let path = home.around().join(name);
    home.ok(&["backup", text(&path)]);
    path
}

/// What was acknowledged.
type Log = Arc<Mutex<Vec<String>>>;

fn written(writer: usize, number: usize) -> String {
    format!("writer {writer}, write {number}")
}

async fn write_until_it_dies(url: String, token: String, log: Log, writer: usize) {
    let http = http();
    for number in 0.. {
        let content = written(writer, number);
        let body = json!({"content": content, "channel": "load"});
        let sent = http.post(format!("{url}{OWN}/memories")).bearer_auth(&token).json(&body);
        match sent.send().await {
            Ok(answer) if answer.status() == 201 => log.lock().unwrap().push(content),
            _ => return,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_has_all_that_was_acknowledged_before_it() {
    let rounds = rounds().unwrap_or(LOAD_ROUNDS);
    let (mut before_all, mut during_all, mut kept_all) = (0, 0, 0);
    for round in 0..rounds {
        let home = Home::new();
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("MNEMIC_WRITES_PER_SECOND", "1000000");
        let mut server = Server::start_by(&home, command);
        let log = Log::default();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (url, token) = (server.url.clone(), server.token.clone());
                tokio::spawn(write_until_it_dies(url, token, log.clone(), writer))
            })
            .collect();
        let enough = ACKNOWLEDGED_MIN + usize::try_from(random_below(100)).unwrap();
        while log.lock().unwrap().len() < enough {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let before = log.lock().unwrap().clone();
        let file = home.around().join("backup.db");
        let backup = home.command(&["backup", text(&file)]);
        let done = tokio::process::Command::from(backup).output().await.unwrap();
        Ended::of(done).succeeded();
        during_all += log.lock().unwrap().len() - before.len();
        tokio::time::sleep(Duration::from_millis(random_below(50))).await;
        server.kill();
        for writer in writers {
            writer.await.unwrap();
        }

        // Into a new directory, or over the one whose server was killed.
        let target = if round % 2 == 0 { Home::new() } else { home };
        target.ok(&["restore", "--force", text(&file)]);
        let mut server = Server::start(&target);
        let kept = server.contents("load").await;
        assert!(server.terminate().success());
        let lost: Vec<_> = before.iter().filter(|it| !kept.contains(it)).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?}");
        assert_one_state(&kept);
        assert_whole_transactions(&target);
        target.ok(&["doctor", "--thorough"]);
        before_all += before.len();
        kept_all += kept.len();
    }
    println!(
        "backup under load: {rounds} rounds, {before_all} acknowledged before a backup and \
         {during_all} while it was made, {kept_all} in the backups, lost=0"
    );
    assert!(during_all > 0, "no backup was made under load");
}

/// Each writer waits for its answer: if a copy has one of its writes, it has all before it.
fn assert_one_state(kept: &[String]) {
    let mut kept: BTreeSet<&str> = kept.iter().map(String::as_str).collect();
    for writer in 0..WRITERS {
        for number in 0.. {
            if !kept.remove(&*written(writer, number)) {
                break;
            }
        }
    }
    assert!(kept.is_empty(), "nobody wrote these, or not before what is missing: {kept:?}");
}

/// A memory and the entry that says it was made are written in one transaction.
fn assert_whole_transactions(home: &Home) {
    let lines = home.ok(&["export", "-"]);
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(table) = line["table"].as_str() {
            rows.entry(table.to_owned()).or_default().push(line["row"].clone());
        }
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let made: BTreeSet<_> = rows["memories"].iter().map(|row| text(&row["id"])).collect();
    let audited: BTreeSet<_> = rows["audit"]
        .iter()
        .filter(|row| row["operation"] == "memory.create")
        .flat_map(|row| row["record_ids"].as_array().unwrap().iter().map(text))
        .collect();
    assert_eq!(made, audited);
}

#[test]
fn a_backup_is_private_whole_and_never_replaces_by_accident() {
    let home = Home::new();
    home.ok(&["remember", "the first"]);
    let file = made(&home, "b.db");
    let sum = home.around().join("b.db.sha256");
    for path in [&file, &sum] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let checked = std::process::Command::new("sha256sum")
        .args(["--check", "--quiet", "b.db.sha256"])
        .current_dir(home.around())
        .status();
    if let Ok(checked) = checked {
        assert!(checked.success());
    }
    let first = std::fs::read(&file).unwrap();
    home.ok(&["remember", "the second"]);
    home.run(&["backup", text(&file)]).failed(1, "--force");
    assert!(first == std::fs::read(&file).unwrap());
    let told = home.json(&["backup", "--force", text(&file)]);
    let written = std::fs::read_to_string(&sum).unwrap();
    assert!(written.starts_with(told["sha256"].as_str().unwrap()), "{told}");
    let nowhere = home.run(&["backup", "absent/b.db"]);
    nowhere.failed(1, "cannot be made");
    home.run(&["backup", "x", "--store", "postgres://u:hush@h/d"]).failed(1, "pg_dump");
    Home::new().run(&["backup", "x"]).failed(1, "no store in");
    let left = std::fs::read_dir(home.around()).unwrap().flatten();
    assert!(left.into_iter().all(|it| !it.file_name().to_string_lossy().contains("partial")));
}

#[test]
fn what_is_restored_takes_the_place_of_all_that_was_there() {
    let home = Home::new();
    home.ok(&["remember", "of the past"]);
    let token = home.token();
    let file = made(&home, "b.db");
    home.ok(&["remember", "of today"]);
    home.run(&["restore", text(&file)]).failed(1, "--force replaces it; nothing was changed");
    assert!(home.ok(&["memory", "list"]).contains("of today"));
    let told = home.json(&["restore", "--force", text(&file)]);
    let expected = (&true.into(), &true.into());
    assert_eq!((&told["replaced"], &told["checksum_compared"]), expected, "{told}");
    let listed = home.ok(&["memory", "list"]);
    assert!(listed.contains("of the past") && !listed.contains("of today"), "{listed}");

    let fresh = Home::new();
    std::fs::remove_file(home.around().join("b.db.sha256")).unwrap();
    let done = Ended::of(fresh.command(&["restore", text(&file)]).output().unwrap());
    assert!(done.stderr.contains("only its structure"), "{done:?}");
    assert_eq!(done.code, Some(0));
    let mode = std::fs::metadata(fresh.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(fresh.ok(&["--token", &token, "memory", "list"]).contains("of the past"));
    let left: Vec<_> = std::fs::read_dir(fresh.data()).unwrap().flatten().collect();
    assert!(!left.iter().any(|it| it.file_name().to_string_lossy().contains("restoring")));
}

#[test]
fn a_backup_that_is_none_changes_nothing() {
    let home = Home::new();
    home.ok(&["remember", "stays"]);
    let file = made(&home, "b.db");
    let whole = std::fs::read(&file).unwrap();
    let try_with = |bytes: &[u8], words: &str| {
        std::fs::write(&file, bytes).unwrap();
        home.run(&["restore", "--force", text(&file)]).failed(1, words);
        assert!(home.ok(&["memory", "list"]).contains("stays"));
    };
    let at = whole.windows(5).position(|it| it == b"stays").unwrap();
    let mut flipped = whole.clone();
    flipped[at] = b'S';
    try_with(&flipped, "changed or damaged");
    let sum = home.around().join("b.db.sha256");
    for other in ["", "0000  b.db\n"] {
        std::fs::write(&sum, other).unwrap();
        try_with(&whole, "b.db.sha256 says");
    }
    std::fs::remove_file(sum).unwrap();
    try_with(&whole[..whole.len() / 2], "damaged or no backup");
    try_with(b"a letter to somebody", "damaged or no backup");
    try_with(b"", "nothing was changed");
    home.run(&["restore", "absent"]).failed(1, "no backup");
    let own = home.database();
    home.run(&["restore", "--force", text(&own)]).failed(1, "the store itself");

    std::fs::write(&file, &whole).unwrap();
    let mut server = Server::start(&home);
    home.run(&["restore", "--force", text(&file)]).failed(1, "stop it first");
    assert!(server.terminate().success());
    home.ok(&["doctor", "--thorough"]);
}

/// A damaged store is what backups are for.
#[test]
fn a_damaged_store_is_replaced() {
    let home = Home::new();
    home.ok(&["remember", "before the damage"]);
    let file = made(&home, "b.db");
    std::fs::write(home.database(), b"not a database at all").unwrap();
    home.run(&["restore", text(&file)]).failed(1, "--force replaces it");
    assert_eq!(std::fs::read(home.database()).unwrap(), b"not a database at all");
    home.ok(&["restore", "--force", text(&file)]);
    assert!(home.ok(&["memory", "list"]).contains("before the damage"));
    std::fs::remove_file(home.database()).unwrap();
    home.ok(&["restore", text(&file)]);
    assert!(home.ok(&["memory", "list"]).contains("before the damage"));
}

/// Whenever it is killed, either store is there, whole.
#[test]
fn a_restore_may_be_broken_off_at_any_moment() {
    let home = Home::new();
    home.ok(&["remember", "of the past"]);
    let past = made(&home, "past.db");
    home.ok(&["remember", "of today"]);
    let today = made(&home, "today.db");
    for round in 0..rounds().unwrap_or(KILL_ROUNDS) {
        let file = if round % 2 == 0 { &past } else { &today };
        let mut restore = home.command(&["restore", "--force", text(file)]);
        let mut child = restore.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random_below(250_000)));
        let _ = child.kill();
        child.wait().unwrap();
        assert!(home.ok(&["memory", "list"]).contains("of the past"), "round {round}");
        home.ok(&["doctor", "--thorough"]);
    }
    home.ok(&["restore", "--force", text(&today)]);
    assert!(home.ok(&["memory", "list"]).contains("of today"));
    let left = std::fs::read_dir(home.data()).unwrap().flatten();
    let names: Vec<_> = left.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|it| it.ends_with(".replaced") || it.ends_with(".restoring")));
}
