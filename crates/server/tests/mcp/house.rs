//! A whole server in a temporary directory, and clients of both eras.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use mnemic_core::Mnemic;
use mnemic_core::clock::SystemClock;
use mnemic_core::embed::{EmbedderSlot, EmbedderState};
use mnemic_core::principal::Principal;
use mnemic_core::slot::SlotSpace;
use mnemic_core::token::NewToken;
use mnemic_server::http::origin::OriginOptions;
use mnemic_server::http::rate::RateOptions;
use mnemic_server::mcp::Profile;
use mnemic_server::{AppOptions, Limits, app};
use mnemic_store::slots::InProcessSlots;
use mnemic_store::sqlite::Options;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

const INDEX_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) struct House {
    pub mnemic: Arc<Mnemic>,
    pub app: Router,
    /// An operator's token, of the workspace `default`.
    pub operator: String,
    _dir: TempDir,
}

pub(crate) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25, after its handshake.
    Before,
    /// 2026-07-28.
    Today,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Before, Self::Today];

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Before => "2025-11-25",
            Self::Today => "2026-07-28",
        }
    }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(false).await
    }

    pub(crate) async fn with(dotted_names: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mnemic.db");
        let store =
            mnemic_store::open_embedded(&path, Options::default(), INDEX_BYTES_MAX).unwrap();
        let embedder = EmbedderSlot::new(EmbedderState::Off);
        let slots = SlotSpace::new(InProcessSlots::default());
        let mnemic =
            Arc::new(Mnemic::new(Arc::new(store), slots, embedder.clone(), Arc::new(SystemClock)));
        let operator = mnemic.bootstrap().await.unwrap().reveal().to_owned();
        // Tests ask faster than anybody would.
        let plenty = NonZeroU32::MAX;
        let rates = RateOptions {
            reads_per_second: plenty,
            writes_per_second: plenty,
            strangers_per_second: plenty,
        };
        let options = AppOptions {
            instance: "instance-1".to_owned(),
            embedder,
            origin: OriginOptions { on_loopback: true, ..OriginOptions::default() },
            limits: Limits { rates, ..Limits::default() },
            profile: Profile::Agent,
            dotted_names,
        };
        Self { app: app(Arc::clone(&mnemic), options), mnemic, operator, _dir: dir }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Reply { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    /// A POST as the protocol wants it, but for what `change` does to it.
    pub(crate) async fn post(
        &self,
        body: String,
        change: impl FnOnce(axum::http::request::Builder) -> axum::http::request::Builder,
    ) -> Reply {
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        self.send(change(request).body(Body::from(body)).unwrap()).await
    }

    pub(crate) fn client(&self, era: Era) -> Client<'_> {
        Client { house: self, era, token: self.operator.clone(), path: "/mcp", key: None }
    }

    pub(crate) async fn operator(&self) -> Principal {
        self.mnemic.authenticate(&self.operator).await.unwrap()
    }

    /// A user who has a token.
    pub(crate) async fn user(&self, name: &str) {
        let wish = NewToken {
            role: "member".to_owned(),
            user: Some(name.to_owned()),
            ..NewToken::default()
        };
        self.mnemic.create_token(&self.operator().await, wish).await.unwrap();
    }

    /// The token of an agent of this name.
    pub(crate) async fn agent(&self, name: &str) -> String {
        let wish = NewToken {
            role: "agent".to_owned(),
            agent: Some(name.to_owned()),
            ..NewToken::default()
        };
        let (_, secret) = self.mnemic.create_token(&self.operator().await, wish).await.unwrap();
        secret.reveal().to_owned()
    }

    /// The token of somebody with this role, in another workspace if one is named.
    pub(crate) async fn token(&self, workspace: Option<&str>, role: &str) -> String {
        let workspace = workspace.map(str::to_owned);
        let wish = NewToken { workspace, role: role.to_owned(), ..NewToken::default() };
        let (_, secret) = self.mnemic.create_token(&self.operator().await, wish).await.unwrap();
        secret.reveal().to_owned()
    }
}

#[derive(Clone)]
pub(crate) struct Client<'h> {
    house: &'h House,
    pub era: Era,
    pub token: String,
    pub path: &'static str,
    /// The idempotency key of every call.
    pub key: Option<&'static str>,
}

impl Client<'_> {
    /// One request and its answer.
    pub(crate) async fn ask(&self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Today {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.era.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let reply = self
            .house
            .post(body.to_string(), |mut request| {
                request = request
                    .uri(self.path)
                    .header("authorization", format!("Bearer {}", self.token))
                    .header("mcp-protocol-version", self.era.version());
                if self.era == Era::Today {
                    request = request.header("mcp-method", method);
                    if let Some(name) = name {
                        request = request.header("mcp-name", name);
                    }
                }
                match self.key {
                    Some(key) => request.header("idempotency-key", key),
                    None => request,
                }
            })
            .await;
        assert_eq!(reply.headers["content-type"], "application/json", "{}", reply.text);
        assert!(!reply.headers.contains_key("mcp-session-id"), "no state is kept");
        let answer = reply.json();
        assert_eq!(answer["id"], 1, "{answer}");
        answer
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The structured content of a call that must succeed.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].take()
    }

    /// The text of a call that must fail as a tool, and its code.
    pub(crate) async fn failed(&self, tool: &str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none(), "it would not fit the schema");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let code = result["_meta"]["mnemic/error"]["code"].as_str().unwrap().to_owned();
        (text, code)
    }

    pub(crate) async fn remember(&self, content: &str) -> String {
        let memory = self.done("memory_remember", json!({"content": content})).await;
        memory["id"].as_str().unwrap().to_owned()
    }
}
