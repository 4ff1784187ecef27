//! `mnemic migrate`: there and back, again after a kill, and refused where it would do harm.

use std::process::Stdio;

use mnemic_test_servers::postgres;
use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::server::{OWN, Server, answer};
use crate::support::{Ended, Home, is_root, wait_for};

const QUERIES: [&str; 4] = ["gate code", "Straße", "日本語", "swordfish7 entry"];

/// The address to serve a fresh database with.
pub fn database(home: &Home) -> String {
    let owner = postgres().tcp_url(&postgres().database("template1"));
    let done = home.json(&["db", "setup", "--store", &owner]);
    done["url"].as_str().unwrap().to_owned()
}

fn migrate(home: &Home, to: &str) -> Value {
    home.json(&["migrate", "--to", to])
}

/// A store with something in most tables, and in a hidden workspace.
pub fn filled() -> Home {
    let home = Home::new();
    home.ok(&["remember", "the gate code is in the Straße, 日本語 too"]);
    for number in 0..30 {
        home.ok(&["remember", "--fact", &format!("swordfish{number} is entry {number}")]);
    }
    let gone = home.ok(&["remember", "a thing to be forgotten"]);
    home.ok(&["forget", &gone]);
    let old = home.ok(&["remember", "the lamp is green"]);
    home.ok(&["memory", "supersede", &old, "the lamp is red"]);
    let cited = home.ok(&["remember", "cited once"]);
    home.ok(&["run", "run-1", &format!("as [mem:{cited}] says")]);
    home.ok(&["domain", "create", "harbour"]);
    home.ok(&["grant", "set", "member", "harbour", "read"]);
    home.ok(&["policy", "create", "No boat leaves in fog", "--domain", "harbour"]);
    home.ok(&["conversation", "create", "standup", "--title", "Montag früh", "--channel", "team"]);
    for number in 0..4 {
        let (line, at) =
            (format!("line {number} of it"), format!("2024-01-0{}T08:00:00Z", number + 1));
        home.ok(&["conversation", "say", "standup", &line, "--speaker", "Ana", "--at", &at]);
    }
    home.ok(&["conversation", "summarize", "standup", "--retain-last", "2"]);
    for name in ["team", "hidden"] {
        home.ok(&["workspace", "create", name]);
        let token = home.ok(&["token", "create", "--workspace", name, "--role", "member"]);
        home.ok(&["--token", &token, "remember", "the secret of a team"]);
    }
    home.ok(&["workspace", "delete", "hidden"]);
    home
}

async fn recalled(server: &Server) -> Vec<Value> {
    let mut all = Vec::new();
    for query in QUERIES {
        let asked = json!({"query": query, "limit": 5});
        let (status, bundle) = answer(server.post(&format!("{OWN}/recall"), &asked)).await;
        assert_eq!(status, 200, "{bundle}");
        let items = bundle["items"].as_array().unwrap();
        assert!(!items.is_empty(), "{query}");
        all.push(items.iter().map(|item| json!([item["id"], item["text"]])).collect());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_goes_there_and_back_and_answers_the_same() {
    let home = filled();
    let token = home.token();
    let url = database(&home);
    let before = std::fs::read(home.database()).unwrap();
    let there = migrate(&home, &url);
    assert_eq!((&there["equal"], &there["workspaces"]), (&json!(true), &json!(3)), "{there}");
    assert!(before == std::fs::read(home.database()).unwrap(), "the source was written to");

    let second = Home::new();
    let to = second.data().to_str().unwrap();
    let back = home.json(&["migrate", "--store", &url, "--to", to]);
    assert_eq!((&back["equal"], &back["rows"]), (&json!(true), &there["rows"]), "{back}");
    let sums = |told: &Value| -> Vec<_> {
        let parts = told["parts"].as_array().unwrap();
        parts.iter().map(|part| (part["table"].clone(), part["target_checksum"].clone())).collect()
    };
    assert_eq!(sums(&there), sums(&back));

    let (mut here, mut returned) = (Server::start(&home), Server::start(&second));
    let third = Home::new();
    std::fs::create_dir_all(third.data()).unwrap();
    std::fs::write(third.data().join("token"), &token).unwrap();
    let served = third.command(&["serve", "--listen", "127.0.0.1:0", "--store", &url]);
    let mut shared = Server::start_by(&third, served);
    assert!(shared.greeting.last().unwrap().contains("was shown"), "{:?}", shared.greeting);
    let answers = recalled(&here).await;
    assert_eq!(answers, recalled(&returned).await);
    assert_eq!(answers, recalled(&shared).await);
    // The old token works at either end.
    returned.token.clone_from(&token);
    assert_eq!(answers, recalled(&returned).await);
    for server in [&mut here, &mut returned, &mut shared] {
        server.terminate();
    }
}

#[test]
fn people_are_told_what_was_moved_and_what_is_next() {
    let home = filled();
    let done = Ended::of(home.command(&["migrate", "--to", &database(&home)]).output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    for words in ["default", "memories", "hidden", "equal"] {
        assert!(done.stdout.contains(words), "{words}: {done:?}");
    }
    assert!(done.stderr.contains("serve --store"), "{done:?}");
    assert!(!done.stderr.contains("copying"), "no bar in a pipe: {done:?}");
}

#[test]
fn a_killed_migration_is_finished_by_the_next() {
    let home = filled();
    let url = database(&home);
    let plain = || home.command(&["migrate", "--json", "--to", &url]);
    for _ in 0..3 {
        let mut child = plain().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(
            20 + crate::support::random_below(300),
        ));
        let _ = child.kill();
        child.wait().unwrap();
    }
    // Whoever was killed may still be at its last statement in the database.
    let told = wait_for("the database to let go", || {
        let done = Ended::of(plain().output().unwrap());
        (done.code == Some(0)).then_some(done.stdout)
    });
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["equal"], true);
    assert_eq!(migrate(&home, &url)["written"], 0);
}

#[test]
fn who_would_lose_something_is_refused() {
    let home = filled();
    let url = database(&home);
    migrate(&home, &url);
    home.ok(&["remember", "added later"]);
    assert_eq!(migrate(&home, &url)["equal"], true, "what was added follows without force");
    let id = home.ok(&["remember", "changed later"]);
    migrate(&home, &url);
    home.ok(&["memory", "pin", &id]);
    home.run(&["migrate", "--to", &url]).failed(1, "--force");
    assert_eq!(home.json(&["migrate", "--force", "--to", &url])["equal"], true);

    let other = Home::new();
    other.ok(&["remember", "of somebody else"]);
    for force in [&[][..], &["--force"]] {
        let arguments = [&["migrate", "--to", &url], force].concat();
        other.run(&arguments).failed(1, "workspaces that the source does not have");
    }
}

#[test]
fn a_running_server_is_not_disturbed_and_a_passing_process_makes_room() {
    let home = Home::new();
    let mut mcp = Mcp::start(&home).unwrap();
    mcp.remember("through a passing owner", "x").unwrap();
    let url = database(&home);
    assert_eq!(migrate(&home, &url)["equal"], true);
    drop(mcp);
    let mut server = Server::start(&home);
    home.run(&["migrate", "--to", &url]).failed(1, "stop it first");
    let to = home.data().to_str().unwrap().to_owned();
    home.run(&["migrate", "--store", &url, "--to", &to]).failed(1, "stop it first");
    server.terminate();
}

#[test]
fn wrong_ends_are_named_and_nothing_is_made() {
    let home = Home::new();
    let nowhere = home.around().join("nowhere");
    home.run(&["migrate", "--to", "postgres://u:hush@127.0.0.1:1/x"]).failed(1, "no store in");
    assert!(!home.data().exists(), "a directory was made");
    home.ok(&["remember", "something"]);
    let bare = postgres().tcp_url(&postgres().database("template1"));
    for (to, words) in [
        ("mysql://u:hush@h/x", "postgres://user@host/name"),
        ("postgres://u:hush@127.0.0.1:1/x", "check that it runs"),
        (&*bare, "mnemic db setup"),
        (nowhere.to_str().unwrap(), "both ends are directories"),
    ] {
        let refused = home.run(&["migrate", "--to", to]);
        refused.failed(1, words);
        assert!(!refused.stderr.contains("hush"), "{refused:?}");
    }
    assert!(!nowhere.exists());
    let url = database(&home);
    home.run(&["migrate", "--store", &url, "--to", &url]).failed(1, "the same database");
    home.run(&["--url", "http://127.0.0.1:1", "migrate", "--to", &url]).failed(1, "--url");
    let blocked = home.around().join("file");
    std::fs::write(&blocked, "").unwrap();
    let inside = blocked.join("x");
    let refused = home.run(&["migrate", "--store", &url, "--to", inside.to_str().unwrap()]);
    refused.failed(1, "cannot be made");
    if !is_root() {
        let closed = home.around().join("closed");
        std::fs::create_dir(&closed).unwrap();
        let mut mode = std::fs::metadata(&closed).unwrap().permissions();
        mode.set_readonly(true);
        std::fs::set_permissions(&closed, mode).unwrap();
        let refused = home.run(&["migrate", "--store", &url, "--to", closed.to_str().unwrap()]);
        refused.failed(1, "check the permissions");
    }
}
