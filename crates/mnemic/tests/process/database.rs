//! Servers on a PostgreSQL database that they share.

use std::process::Command;

use mnemic_test_servers::postgres;
use serde_json::{Value, json};

use crate::support::Home;
use crate::support::server::{OWN, Server, answer};

pub(crate) fn setup(home: &Home, owner: &str) -> Value {
    let done = home.command(&["db", "setup", "--json", "--store", owner]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

pub(crate) fn serve(home: &Home, url: &str) -> Command {
    home.command(&["serve", "--listen", "127.0.0.1:0", "--store", url])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_writes_the_other_recalls_at_once() {
    let (first, second) = (Home::new(), Home::new());
    let database = postgres().database("template1");
    let owner = postgres().tcp_url(&database);
    let prepared = setup(&first, &owner);
    let url = prepared["url"].as_str().unwrap();
    let one = Server::start_by(&first, serve(&first, url));
    std::fs::create_dir_all(second.data()).unwrap();
    std::fs::write(second.data().join("token"), &one.token).unwrap();
    let two = Server::start_by(&second, serve(&second, url));
    assert!(two.greeting.last().unwrap().contains("was shown"), "{:?}", two.greeting);
    for number in 0..10 {
        let (from, to) = if number % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let content = format!("the gate code is swordfish{number}");
        assert_eq!(from.remember(&content).await.0, 201);
        let asked = json!({"query": format!("swordfish{number}")});
        let (status, bundle) = answer(to.post(&format!("{OWN}/recall"), &asked)).await;
        assert_eq!(status, 200, "{bundle}");
        assert!(bundle.to_string().contains(&content), "{bundle}");
    }
    let again = setup(&first, &owner);
    assert_eq!((&again["url"], &again["migrations_applied"]), (&Value::Null, &json!(0)));
}

#[test]
fn an_owner_is_not_served_and_told_why() {
    let home = Home::new();
    let database = postgres().database("template1");
    let owner = postgres().tcp_url(&database);
    setup(&home, &owner);
    let refused = serve(&home, &owner).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("is a superuser") && said.contains("mnemic db setup"), "{said}");
}

#[test]
fn the_doctor_says_what_a_server_would_refuse() {
    let home = Home::new();
    let database = postgres().database("template1");
    let owner = postgres().tcp_url(&database);
    let doctor = |url: &str, further: &[&str]| {
        let mut command = home.command(&["doctor", "--store", url]);
        let done = command.args(further).output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.success(), String::from_utf8(said).unwrap())
    };
    let bare = doctor(&owner, &[]);
    assert!(
        !bare.0 && bare.1.contains("WRONG  database") && bare.1.contains("db setup"),
        "{bare:?}"
    );
    let url = setup(&home, &owner)["url"].as_str().unwrap().to_owned();
    let (well, said) = doctor(&url, &["--thorough"]);
    assert!(well && said.contains("ok     database"), "{said}");
    let (well, said) = doctor(&owner, &[]);
    assert!(!well && said.contains("is a superuser"), "{said}");
    assert!(!said.contains("for-tests-only"), "{said}");
    let workspace = "00000000-0000-0000-0000-000000000001";
    postgres().run(
        &database,
        &format!(
            "SET search_path = mnemic;
             INSERT INTO workspaces VALUES ('{workspace}', 'w', '{{}}', 1, now(), now());
             INSERT INTO word_documents VALUES ('{workspace}', gen_random_uuid(), '', 1, '[]', 'memory')"
        ),
    );
    assert!(doctor(&url, &[]).0, "only a thorough look reads the rows");
    let (well, said) = doctor(&url, &["--thorough"]);
    assert!(!well && said.contains("words"), "{said}");
}
