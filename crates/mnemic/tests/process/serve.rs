//! Starting and stopping a server.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::Home;
use crate::support::server::{OWN, Server, answer, http};

#[tokio::test]
async fn the_first_start_prints_the_token_and_later_ones_do_not() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let shown = server.greeting.join("\n");
    assert_eq!(shown.matches(&server.token).count(), 1, "{shown}");
    assert!(!server.url.ends_with(":0"), "{shown}");
    assert_eq!(server.remember("the first").await.0, 201);
    assert!(server.terminate().success());
    assert_eq!(server.later_lines(), Vec::<String>::new());

    let mut server = Server::start(&home);
    let shown = server.greeting.join("\n");
    assert!(!shown.contains(&server.token), "{shown}");
    assert!(shown.contains("data/token"), "{shown}");
    assert_eq!(server.remember("the second").await.0, 201);
    assert!(server.terminate().success());
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let home = Home::new();
    let _server = Server::start(&home);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.data()), 0o700);
    for file in std::fs::read_dir(home.data()).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn being_told_to_stop_finishes_what_is_under_way() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let body = json!({"content": "said at the last moment"}).to_string();
    let (start, rest) = body.split_at(5);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {OWN}/memories HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        server.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The interim answer says that the request is being worked on.
    let mut interim = [0; 12];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100");
    stream.write_all(start.as_bytes()).await.unwrap();
    crate::support::signal(server.pid(), "TERM");
    // It takes no new connections from now on, but the one it has is served.
    while http().get(&server.url).send().await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stream.write_all(rest.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.contains("HTTP/1.1 201"), "{text}");
    assert!(server.wait().success());
    let kept = home.ok(&["memory", "list"]);
    assert!(kept.contains("said at the last moment"), "{kept}");
}

#[test]
fn an_interrupt_stops_it_as_well() {
    let home = Home::new();
    let mut server = Server::start(&home);
    crate::support::signal(server.pid(), "INT");
    assert!(server.wait().success());
}

#[test]
fn a_second_server_on_the_directory_is_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let port = server.url.rsplit(':').next().unwrap();
    let same_address = format!("127.0.0.1:{port}");
    for listen in ["127.0.0.1:0", &same_address] {
        let second = home.run(&["serve", "--listen", listen]);
        second.failed(1, "already serves");
        assert!(second.stderr.contains(&server.pid().to_string()), "{second:?}");
    }
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = Home::new().run(&["serve", "--listen", &address]);
    ended.failed(1, &format!("cannot listen on {address}"));
    Home::new().run(&["serve", "--listen", "nowhere"]).failed(1, "cannot listen on nowhere");
}

#[tokio::test]
async fn strangers_are_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let url = format!("{}{OWN}/memories", server.url);
    assert_eq!(answer(http().get(&url)).await.0, 401);
    let yields = http().post(format!("{}/internal/yield", server.url));
    assert_eq!(answer(yields).await.0, 401);
    let yields = server.post("/internal/yield", &json!({}));
    assert_eq!(answer(yields).await.0, 409, "a server does not yield");
    assert_eq!(server.remember("still there").await.0, 201);
}
