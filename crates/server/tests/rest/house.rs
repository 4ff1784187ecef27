//! A whole server in a temporary directory, without a socket.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use mnemic_core::Mnemic;
use mnemic_core::clock::{Clock, SystemClock};
use mnemic_core::embed::{EmbedderSlot, EmbedderState};
use mnemic_core::slot::SlotSpace;
use mnemic_core::store::Store;
use mnemic_server::http::origin::OriginOptions;
use mnemic_server::http::rate::RateOptions;
use mnemic_server::mcp::Profile;
use mnemic_server::{AppOptions, Limits, app};
use mnemic_store::postgres::{self, setup};
use mnemic_store::slots::InProcessSlots;
use mnemic_store::sqlite::Options;
use mnemic_test_servers::postgres as server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

const INDEX_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) struct House {
    pub app: Router,
    pub embedder: EmbedderSlot,
    /// An operator's token, of the workspace `default`.
    pub operator: String,
    /// The id of the workspace `default`.
    pub workspace: String,
    pub clock: Arc<LateClock>,
    pub rows: Rows,
}

/// Where the rows are.
pub(crate) enum Rows {
    /// In this directory.
    Embedded(TempDir),
    /// In the database of this name.
    Shared(String),
}

/// The machine's own clock, and how many seconds it is ahead.
#[derive(Default)]
pub(crate) struct LateClock(AtomicI64);

impl LateClock {
    pub(crate) fn forward(&self, minutes: i64) {
        self.0.fetch_add(60 * minutes, Ordering::Relaxed);
    }
}

impl Clock for LateClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + SignedDuration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

pub(crate) struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// The body, if the status is the one expected.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// The detail of a problem with this status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.headers[CONTENT_TYPE], "application/problem+json");
        let body = self.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status, "{body}");
        assert_eq!(body["type"], format!("/docs/errors#{code}"), "{body}");
        body["detail"].as_str().unwrap().to_owned()
    }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(unhurried(), Options::default()).await
    }

    /// On a database of its own, with the user that servers connect as.
    pub(crate) async fn on_postgres() -> Self {
        Self::on_database(server().database("template1")).await
    }

    /// Another server on the same database.
    pub(crate) async fn beside(&self) -> Self {
        let Rows::Shared(name) = &self.rows else { panic!("nobody else has this directory") };
        Self::on_database(name.clone()).await
    }

    async fn on_database(name: String) -> Self {
        let role = setup(&server().owner_url(&name), false).await.unwrap().role;
        let url = server().url(&role, &name);
        let store = mnemic_store::open_postgres(&url, postgres::Options::default()).await.unwrap();
        Self::over(Arc::new(store), unhurried(), Rows::Shared(name)).await
    }

    pub(crate) async fn with(limits: Limits, store: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store =
            mnemic_store::open_embedded(&dir.path().join("mnemic.db"), store, INDEX_BYTES_MAX)
                .unwrap();
        Self::over(Arc::new(store), limits, Rows::Embedded(dir)).await
    }

    async fn over(store: Arc<dyn Store>, limits: Limits, rows: Rows) -> Self {
        let embedder = EmbedderSlot::new(EmbedderState::Off);
        let slots = SlotSpace::new(InProcessSlots::default());
        let clock = Arc::new(LateClock::default());
        let mnemic = Arc::new(Mnemic::new(store, slots, embedder.clone(), clock.clone()));
        let operator = mnemic.bootstrap().await.unwrap().reveal().to_owned();
        let options = AppOptions {
            instance: "instance-1".to_owned(),
            embedder: embedder.clone(),
            origin: OriginOptions { on_loopback: true, ..OriginOptions::default() },
            limits,
            profile: Profile::Agent,
            dotted_names: false,
        };
        let mut house = Self {
            app: app(mnemic, options),
            embedder,
            operator,
            workspace: String::new(),
            clock,
            rows,
        };
        let own = house.get("/v1/workspaces/current").await.expect(200);
        house.workspace.push_str(id_of(&own));
        house
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, text }
    }

    /// With the token, or without any.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        self.send(request.body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, Some(&self.operator), None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, Some(&self.operator), None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path, Some(&self.operator), Some(body)).await
    }

    /// A POST that says all in its path.
    pub(crate) async fn act(&self, path: &str) -> Reply {
        self.call(Method::POST, path, Some(&self.operator), None).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PATCH, path, Some(&self.operator), Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PUT, path, Some(&self.operator), Some(body)).await
    }

    /// A POST to the memories whose body is exactly these bytes.
    pub(crate) async fn post_raw(
        &self,
        content_type: Option<&str>,
        body: impl Into<Body>,
    ) -> Reply {
        let mut request = Request::post("/v1/workspaces/current/memories")
            .header("host", "localhost")
            .header(AUTHORIZATION, format!("Bearer {}", self.operator));
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    /// A POST with an `Idempotency-Key`.
    pub(crate) async fn post_keyed(&self, path: &str, key: &str, body: &Value) -> Reply {
        let request = Request::post(path)
            .header("host", "localhost")
            .header(AUTHORIZATION, format!("Bearer {}", self.operator))
            .header("Idempotency-Key", key)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        self.send(request).await
    }

    pub(crate) async fn remember(&self, content: &str) -> Value {
        let body = json!({"content": content});
        self.post("/v1/workspaces/current/memories", &body).await.expect(201)
    }

    /// Another workspace, and the token of an admin of it who is no operator.
    pub(crate) async fn neighbour(&self, name: &str) -> (String, String) {
        let workspace = self.post("/v1/workspaces", &json!({"name": name})).await.expect(201);
        let token = self.token(&json!({"workspace": name, "role": "admin"})).await;
        (workspace["id"].as_str().unwrap().to_owned(), token)
    }

    pub(crate) async fn token(&self, wish: &Value) -> String {
        let made = self.post("/v1/tokens", wish).await.expect(201);
        made["token"].as_str().unwrap().to_owned()
    }

    /// A token that was good once.
    pub(crate) async fn revoked_token(&self) -> String {
        let made = self.post("/v1/tokens", &json!({"role": "admin"})).await.expect(201);
        let id = made["id"].as_str().unwrap();
        self.delete(&format!("/v1/tokens/{id}")).await.expect(204);
        made["token"].as_str().unwrap().to_owned()
    }
}

/// Tests ask faster than anybody would; those that are about rates set their own.
fn unhurried() -> Limits {
    let plenty = NonZeroU32::MAX;
    let rates = RateOptions {
        reads_per_second: plenty,
        writes_per_second: plenty,
        strangers_per_second: plenty,
    };
    Limits { rates, ..Limits::default() }
}

pub(crate) fn id_of(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}
