//! A whole server whose model is a scripted endpoint.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use mnemic_core::clock::SystemClock;
use mnemic_core::embed::{EmbedderSlot, EmbedderState};
use mnemic_core::language::{ApiKey, Endpoint, Provider, Quota, ServerModels};
use mnemic_core::principal::Principal;
use mnemic_core::secret::MasterKey;
use mnemic_core::slot::SlotSpace;
use mnemic_core::{Mnemic, Parts};
use mnemic_models::{ProviderOptions, Providers};
use mnemic_server::http::origin::OriginOptions;
use mnemic_server::http::rate::RateOptions;
use mnemic_server::mcp::Profile;
use mnemic_server::{AppOptions, Limits, ProxyOptions, app};
use mnemic_store::slots::InProcessSlots;
use mnemic_store::sqlite::Options;
use mnemic_test_servers::{Behaviour, Upstream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) const UPSTREAM_KEY: &str = "sk-upstream-0123456789";
pub(crate) const OWN: &str = "/v1/workspaces/current";
const LONG: Duration = Duration::from_secs(20);
const INDEX_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) struct House {
    pub app: Router,
    pub mnemic: Arc<Mnemic>,
    pub upstream: Arc<Upstream>,
    pub operator: String,
    pub principal: Principal,
    pub dir: TempDir,
}

/// An answer, and whether its body came to its end.
pub(crate) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub is_whole: bool,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        if self.body.is_empty() { Value::Null } else { self.json() }
    }
}

pub(crate) fn hasty() -> ProxyOptions {
    ProxyOptions {
        memory_deadline: Duration::from_secs(20),
        header_timeout: Duration::from_millis(1_500),
        // Less than the pause of an endpoint that drips.
        idle_timeout: Duration::from_millis(800),
        ..ProxyOptions::default()
    }
}

/// The server's own model, at an endpoint that behaves so.
pub(crate) fn served_by(upstream: &Upstream, behaviour: Behaviour) -> ServerModels {
    let endpoint = Endpoint {
        provider: Provider::Openai,
        base_url: format!("{}/v1", upstream.url(behaviour)),
        name: Some("scripted".to_owned()),
        key: Some(ApiKey::new(UPSTREAM_KEY)),
        timeout: Duration::from_millis(2_500),
        allow_private: true,
    };
    ServerModels {
        default: Some(Provider::Openai),
        endpoints: vec![endpoint],
        allow_private: true,
        quota: Quota { requests_per_minute: None, tokens_per_minute: None },
        ..ServerModels::default()
    }
}

impl House {
    pub(crate) async fn new(behaviour: Behaviour) -> Self {
        let upstream = Arc::new(Upstream::start());
        let models = served_by(&upstream, behaviour);
        Self::with(
            upstream,
            models,
            ProxyOptions { header_timeout: LONG, idle_timeout: LONG, ..hasty() },
        )
        .await
    }

    pub(crate) async fn with(
        upstream: Arc<Upstream>,
        models: ServerModels,
        chat: ProxyOptions,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mnemic.db");
        let store =
            mnemic_store::open_embedded(&path, Options::default(), INDEX_BYTES_MAX).unwrap();
        let embedder = EmbedderSlot::new(EmbedderState::Off);
        let slots = SlotSpace::new(InProcessSlots::default());
        let providers = Providers::new(ProviderOptions::default()).unwrap();
        let parts = Parts::new(Arc::new(store), slots, embedder.clone(), Arc::new(SystemClock))
            .with_models(Arc::new(providers), models)
            .with_master_key(MasterKey::generate().unwrap());
        let mnemic = Arc::new(Mnemic::from(parts));
        let operator = mnemic.bootstrap().await.unwrap().reveal().to_owned();
        let principal = mnemic.authenticate(&operator).await.unwrap();
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
            limits: Limits { rates, chat, ..Limits::default() },
            profile: Profile::Agent,
            dotted_names: false,
        };
        let app = app(mnemic.clone(), options);
        Self { app, mnemic, upstream, operator, principal, dir }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, mut rest) = response.into_parts();
        let (mut body, mut is_whole) = (Vec::new(), true);
        while let Some(frame) = rest.frame().await {
            match frame {
                Ok(frame) => body.extend_from_slice(frame.data_ref().unwrap()),
                Err(_) => is_whole = false,
            }
        }
        Reply { status: parts.status.as_u16(), headers: parts.headers, body, is_whole }
    }

    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Body>,
    ) -> Request<Body> {
        request_as(&self.operator, method, path, body)
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.send(self.request(method, path, body)).await
    }

    pub(crate) fn chat_request(
        &self,
        body: &str,
        headers: &[(&'static str, &str)],
    ) -> Request<Body> {
        let path = "/v1/chat/completions";
        let mut request = self.request(Method::POST, path, body.to_owned());
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        request
    }

    pub(crate) async fn chat(&self, body: &Value, headers: &[(&'static str, &str)]) -> Reply {
        self.send(self.chat_request(&body.to_string(), headers)).await
    }

    pub(crate) async fn remember(&self, content: &str) -> String {
        let body = json!({"content": content, "kind": "fact"});
        let made = self.call(Method::POST, &format!("{OWN}/memories"), &body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// The turns of a conversation as `role: words`, and how often they were cut.
    pub(crate) async fn turns(&self, conversation: &str) -> (Vec<String>, usize) {
        let path = format!("{OWN}/conversations/{conversation}/turns?limit=200");
        let reply = self.call(Method::GET, &path, &Value::Null).await;
        if reply.status == 404 {
            return (vec![], 0);
        }
        let page = reply.expect(200);
        let items = page["items"].as_array().unwrap();
        let cut = items.iter().filter(|turn| turn["metadata"]["truncated"] == true).count();
        let line = |turn: &Value| {
            format!("{}: {}", turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap())
        };
        (items.iter().map(line).collect(), cut)
    }

    /// Waits until a conversation has so many turns; what is written down comes behind the answer.
    pub(crate) async fn turns_once(&self, conversation: &str, count: usize) -> Vec<String> {
        let started = Instant::now();
        loop {
            let (turns, _) = self.turns(conversation).await;
            if turns.len() >= count || started.elapsed() > Duration::from_secs(20) {
                return turns;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

pub(crate) fn question(text: &str) -> Value {
    json!({"model": "scripted", "messages": [{"role": "user", "content": text}]})
}

pub(crate) fn request_as(
    token: &str,
    method: Method,
    path: &str,
    body: impl Into<Body>,
) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header(CONTENT_TYPE, "application/json")
        .body(body.into())
        .unwrap()
}
