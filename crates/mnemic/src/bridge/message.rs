//! One line of JSON-RPC: what kind it is, and the HTTP headers that repeat parts of it.
//!
//! From 2026-07-28 on, every request says its protocol version by itself, and headers repeat
//! the version, the method and what it is about, for whatever routes by headers. Before, the
//! version is agreed once (`initialize`) and repeated in a header only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const INTERNAL_ERROR: i64 = -32603;

const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What one line turned out to be.
pub(super) enum Incoming {
    /// A request or a notification, to be forwarded.
    Message(Message),
    /// The client no longer wants the answer to the request of this id.
    Cancel(String),
    /// An answer to a request of the server, which never makes any.
    Answer,
    /// Not a message; this is to be answered.
    Wrong(Vec<u8>),
}

pub(super) struct Message {
    pub body: Vec<u8>,
    pub method: String,
    /// Absent for notifications.
    pub id: Option<Value>,
    version: Option<String>,
    name: Option<String>,
}

impl Incoming {
    pub(super) fn parse(line: &[u8]) -> Self {
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(e) => {
                return Self::Wrong(failed(None, PARSE_ERROR, &format!("this is not JSON: {e}")));
            }
        };
        let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let Some(method) = value.get("method").and_then(Value::as_str) else {
            if id.is_some() && (value.get("result").is_some() || value.get("error").is_some()) {
                return Self::Answer;
            }
            let detail = "a message is one JSON object with jsonrpc, method and params";
            return Self::Wrong(failed(id.as_ref(), INVALID_REQUEST, detail));
        };
        let params = value.get("params");
        let text = |key: &str| params?.get(key)?.as_str().map(str::to_owned);
        if method == "notifications/cancelled" {
            return match params.and_then(|params| params.get("requestId")) {
                Some(id) => Self::Cancel(id.to_string()),
                None => Self::Answer,
            };
        }
        let name = match method {
            "tools/call" | "prompts/get" => text("name"),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => text("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => text("taskId"),
            _ => None,
        };
        let meta = params.and_then(|params| params.get("_meta"));
        let version = meta.and_then(|meta| meta.get(VERSION_META)).and_then(Value::as_str);
        Self::Message(Message {
            body: line.trim_ascii().to_vec(),
            method: method.to_owned(),
            id,
            version: version.map(str::to_owned),
            name,
        })
    }
}

impl Message {
    pub(super) fn id_key(&self) -> Option<String> {
        self.id.as_ref().map(Value::to_string)
    }

    /// The headers that repeat parts of the message; `agreed` is the version that an earlier
    /// `initialize` came to.
    pub(super) fn headers(&self, agreed: Option<&str>) -> HeaderMap {
        let agreed = agreed.filter(|_| self.method != "initialize");
        let version = self.version.as_deref().or(agreed).map(str::to_owned);
        let name = self.name.as_deref().map(encoded);
        let mut headers = HeaderMap::new();
        for (header, value) in
            [(VERSION, version), (METHOD, Some(self.method.clone())), (NAME, name)]
        {
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
                headers.insert(header, value);
            }
        }
        headers
    }
}

/// What cannot stand in a header as it is travels as Base64 between two marks.
fn encoded(value: &str) -> String {
    let (start, end) = ("=?base64?", "?=");
    let plain = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with(start) && value.ends_with(end));
    if plain { value.to_owned() } else { format!("{start}{}{end}", STANDARD.encode(value)) }
}

/// An error as a line.
pub(super) fn failed(id: Option<&Value>, code: i64, detail: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": detail});
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes()
}
