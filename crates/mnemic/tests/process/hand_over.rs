//! Owners that come, go, hang or lie.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::mcp::Mcp;
use crate::support::server::Server;
use crate::support::{Ended, Home, signal, wait_for};

/// A program that happens to listen where an owner once did, and keeps what it is sent.
struct Stranger {
    address: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Stranger {
    fn listen(address: &str) -> Self {
        let listener = wait_for("the address", || TcpListener::bind(address).ok());
        let address = listener.local_addr().unwrap().to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = Arc::clone(&log);
                std::thread::spawn(move || hear(stream, &log));
            }
        });
        Self { address, heard }
    }

    /// It may have been spoken to, but not with a secret or anything to remember.
    fn check(&self, secrets: &[&str]) {
        let heard = String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned();
        for secret in secrets {
            assert!(!heard.contains(secret), "the stranger heard: {heard}");
        }
    }
}

/// Hears everything, and answers every request as a server of ours might.
fn hear(mut stream: std::net::TcpStream, log: &Mutex<Vec<u8>>) {
    use std::io::Write as _;
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        log.lock().unwrap().extend(&buffer[..read]);
        if buffer[..read].windows(4).any(|window| window == b"\r\n\r\n") {
            let body = r#"{"status":"ok","instance":"a stranger"}"#;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    }
}

#[test]
fn a_stale_owner_file_leads_no_secret_astray() {
    let home = Home::new();
    home.ok(&["remember", "before"]);
    let token = home.token();
    let stranger = Stranger::listen("127.0.0.1:0");
    let url = format!("http://{}", stranger.address);
    let lie = json!({"pid": 1, "url": url, "instance": "long gone", "permanent": false});
    for text in [lie.to_string(), "not JSON".to_owned(), String::new()] {
        std::fs::write(home.data().join("owner.json"), text).unwrap();
        home.ok(&["remember", "a confidence"]);
    }
    std::fs::write(home.data().join("owner.json"), lie.to_string()).unwrap();
    let server = Server::start(&home);
    // Even while somebody holds the directory, only its holder is believed.
    let told = std::fs::read(home.data().join("owner.json")).unwrap();
    std::fs::write(home.data().join("owner.json"), lie.to_string()).unwrap();
    let mut waits = home.command(&["remember", "a confidence"]);
    let mut waits = waits.stdout(Stdio::null()).spawn().unwrap();
    wait_for("the stranger to be asked", || {
        (!stranger.heard.lock().unwrap().is_empty()).then_some(())
    });
    std::fs::write(home.data().join("owner.json"), told).unwrap();
    assert!(waits.wait().unwrap().success());
    drop(server);
    stranger.check(&[&token, "confidence"]);
}

#[test]
fn a_port_taken_over_by_a_stranger_gets_no_token() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let mut mcp = Mcp::start(&home).unwrap();
    mcp.remember("through the server", "x").unwrap();
    server.kill();
    let stranger = Stranger::listen(server.url.strip_prefix("http://").unwrap());
    mcp.remember("a confidence", "x").unwrap();
    stranger.check(&[&server.token, "confidence"]);
    assert_eq!(home.owner_pid(), Some(mcp.pid()));
}

#[test]
fn a_server_takes_over_from_an_agent_that_goes_on_through_it() {
    let home = Home::new();
    let mut mcp = Mcp::start(&home).unwrap();
    mcp.remember("as the owner", "x").unwrap();
    assert_eq!(home.owner_pid(), Some(mcp.pid()));
    let mut server = Server::start(&home);
    assert_eq!(home.owner().unwrap()["permanent"], true);
    mcp.remember("through the server", "x").unwrap();
    assert_eq!(home.owner_pid(), Some(server.pid()));
    assert!(server.terminate().success());
    mcp.remember("as the owner again", "x").unwrap();
    assert_eq!(home.owner_pid(), Some(mcp.pid()));
    assert!(mcp.close().success());
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 3);
    assert_eq!(home.owner(), None);
}

#[test]
fn an_agent_that_leaves_hands_over_to_the_others() {
    let home = Home::new();
    let mut agents: Vec<_> = (0..3).map(|_| Mcp::start(&home).unwrap()).collect();
    for round in 0..3 {
        for (place, mcp) in agents.iter_mut().enumerate() {
            mcp.remember(&format!("round {round}, place {place}"), "x").unwrap();
        }
        let owner = home.owner_pid().unwrap();
        let place = agents.iter().position(|mcp| mcp.pid() == owner).unwrap();
        assert!(agents.remove(place).close().success());
    }
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 3 + 2 + 1);
}

/// An agent that is told to end in the middle of things does not take others with it.
#[test]
fn a_terminated_agent_hands_over_to_the_others() {
    let home = Home::new();
    let owner = Mcp::start(&home).unwrap();
    let mut other = Mcp::start(&home).unwrap();
    other.remember("through the owner", "x").unwrap();
    assert_eq!(home.owner_pid(), Some(owner.pid()));
    signal(owner.pid(), "TERM");
    other.remember("by itself", "x").unwrap();
    assert_eq!(home.owner_pid(), Some(other.pid()));
}

/// An owner that neither answers nor dies is waited for, but not forever.
#[test]
fn an_owner_that_hangs_is_reported_in_time() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut mcp = Mcp::start(&home).unwrap();
    mcp.remember("while it runs", "x").unwrap();
    signal(server.pid(), "STOP");
    let started = Instant::now();
    let waiting = ["remember", "serve"].map(|name| {
        let arguments = [name, if name == "serve" { "--listen=127.0.0.1:0" } else { "hello" }];
        home.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for _ in 0..3 {
        let call = json!({"name": "memory_remember", "arguments": {"content": "while it hangs"}});
        mcp.ask("tools/call", &call).unwrap();
    }
    for _ in 0..3 {
        let answer = mcp.answer().unwrap();
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("does not answer"), "{answer}");
    }
    for child in waiting {
        let ended = Ended::of(child.wait_with_output().unwrap());
        ended.failed(1, "another process holds");
    }
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
    signal(server.pid(), "CONT");
    mcp.remember("when it goes on", "x").unwrap();
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 2);
}

#[test]
fn a_directory_without_its_database_starts_anew() {
    let home = Home::new();
    home.ok(&["remember", "the past"]);
    let old = home.token();
    std::fs::remove_file(home.database()).unwrap();
    home.ok(&["remember", "the future"]);
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 1);
    assert_ne!(home.token(), old);
}

#[test]
fn a_lost_or_revoked_token_is_made_anew() {
    let home = Home::new();
    home.ok(&["remember", "kept"]);
    let tokens = home.json(&["token", "list"]);
    home.ok(&["token", "revoke", tokens[0]["id"].as_str().unwrap()]);
    assert!(home.ok(&["memory", "list"]).contains("kept"));
    std::fs::remove_file(home.data().join("token")).unwrap();
    assert!(home.ok(&["memory", "list"]).contains("kept"));
    let server = Server::start(&home);
    assert!(home.ok(&["memory", "list"]).contains("kept"));
    drop(server);
}
