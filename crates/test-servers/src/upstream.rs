//! A model's endpoint that behaves as its address says: well, badly, or not at all. Real HTTP and
//! real event streams, in the dialects of OpenAI, Anthropic and Ollama.
//!
//! The first segment of the path chooses the behaviour, so that one server plays all of them:
//! `http://127.0.0.1:PORT/cut/v1` is an endpoint whose answers break off.

mod answer;
mod behaviour;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

pub use behaviour::Behaviour;

/// What an endpoint was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// Without the segment that chooses the behaviour.
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

pub struct Upstream {
    port: u16,
    asked: Arc<Mutex<Vec<(Behaviour, Asked)>>>,
}

impl Upstream {
    /// Serves on a free port of this machine until the process ends.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { port, asked }
    }

    /// Where an endpoint is that behaves so; OpenAI's dialect is below `/v1`.
    pub fn url(&self, behaviour: Behaviour) -> String {
        format!("http://127.0.0.1:{}/{}", self.port, behaviour.as_str())
    }

    /// All that an endpoint was asked so far.
    pub fn asked(&self, behaviour: Behaviour) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let of = asked.iter().filter(|(asked, _)| *asked == behaviour);
        of.map(|(_, asked)| asked.clone()).collect()
    }
}

/// One request for each connection.
fn serve(mut stream: TcpStream, seen: &Mutex<Vec<(Behaviour, Asked)>>) {
    let Some((behaviour, asked)) = read(&stream) else { return };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push((behaviour, asked.clone()));
    // A client that has had enough breaks off, which is no fault of ours.
    let _ = behaviour.play(&mut stream, &asked);
}

fn read(stream: &TcpStream) -> Option<(Behaviour, Asked)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, rest) = line.split_once(' ')?;
    let (_, path) = rest.split_once('/')?;
    let path = path.split(' ').next()?;
    let (behaviour, path) = path.split_once('/')?;
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked = Asked { method: method.to_owned(), path: path.to_owned(), headers, body };
    Some((Behaviour::named(behaviour)?, asked))
}
