//! A running `mnemic serve`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::{Home, LONG, signal, wait_for};

pub const OWN: &str = "/v1/workspaces/current";

pub struct Server {
    child: Child,
    /// What it printed, as it comes.
    lines: Receiver<String>,
    errors: PathBuf,
    pub greeting: Vec<String>,
    pub url: String,
    pub token: String,
}

impl Server {
    pub fn start(home: &Home) -> Self {
        Self::start_by(home, home.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Starts a command and waits until it has said all that it says at its start.
    pub fn start_by(home: &Home, mut command: Command) -> Self {
        let errors = home.around().join(format!("stderr-{}", uuid::Uuid::new_v4()));
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut greeting: Vec<String> = Vec::new();
        while !greeting.last().is_some_and(|line| line.to_lowercase().contains("admin token")) {
            match lines.recv_timeout(LONG) {
                Ok(line) => greeting.push(line),
                Err(e) => panic!("{e}: {greeting:?} {}", read(&errors)),
            }
        }
        let url = greeting[0].strip_prefix("Mnemic listens on ").unwrap().to_owned();
        let shown = greeting.last().and_then(|line| line.rsplit_once("keep it now): "));
        let token = shown.map_or_else(|| home.token(), |(_, token)| token.to_owned());
        Self { child, lines, errors, greeting, url, token }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stderr(&self) -> String {
        read(&self.errors)
    }

    /// What it printed after its greeting.
    pub fn later_lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    pub fn terminate(&mut self) -> ExitStatus {
        signal(self.pid(), "TERM");
        self.wait()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let child = &mut self.child;
        wait_for("the server's end", || child.try_wait().unwrap())
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.with_token(http().get(format!("{}{path}", self.url)))
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.with_token(http().post(format!("{}{path}", self.url)).json(body))
    }

    pub fn put(&self, path: &str, body: &Value) -> RequestBuilder {
        self.with_token(http().put(format!("{}{path}", self.url)).json(body))
    }

    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.with_token(http().delete(format!("{}{path}", self.url)))
    }

    fn with_token(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(&self.token).timeout(LONG)
    }

    pub async fn remember(&self, content: &str) -> (StatusCode, Value) {
        answer(self.post(&format!("{OWN}/memories"), &json!({"content": content}))).await
    }

    /// The contents of all memories of a channel.
    pub async fn contents(&self, channel: &str) -> Vec<String> {
        let mut contents = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("{OWN}/memories?limit=200&channel={channel}{cursor}");
            let (status, page) = answer(self.get(&path)).await;
            assert_eq!(status, 200, "{page}");
            let items = page["items"].as_array().unwrap();
            contents.extend(items.iter().map(|item| item["content"].as_str().unwrap().to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return contents,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client with connections of its own, because each test has a runtime of its own.
pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

pub async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    let bytes = response.bytes().await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
