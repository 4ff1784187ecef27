//! The whole server as one router: every surface behind the same limits and checks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get};
use axum::{Json, Router};
use mnemic_core::Mnemic;
use mnemic_core::embed::EmbedderSlot;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;

use crate::capture;
use crate::http::auth::{Gate, meter, require_token};
use crate::http::body::{self, BodyOptions};
use crate::http::load::{Places, hurry, shed};
use crate::http::origin::{self, OriginOptions};
use crate::http::rate::{RateLimits, RateOptions};
use crate::http::{metrics, observe, problem};
use crate::mcp::{self, McpOptions};
use crate::proxy::{self, ProxyOptions};
use crate::rest;

/// Limits on requests. Limits on connections are the server's.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many requests are worked on at once; more are refused.
    pub requests_max: usize,
    pub request_timeout: Duration,
    /// For jobs run by hand and thorough checks.
    pub job_timeout: Duration,
    pub body: BodyOptions,
    pub rates: RateOptions,
    /// Of chats that are passed on.
    pub chat: ProxyOptions,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_max: 512,
            request_timeout: Duration::from_mins(1),
            job_timeout: Duration::from_hours(1),
            body: BodyOptions::default(),
            rates: RateOptions::default(),
            chat: ProxyOptions::default(),
        }
    }
}

#[derive(Clone)]
pub struct AppOptions {
    /// Names this process, so that others can tell whom they reached.
    pub instance: String,
    /// The same slot that the facade has, for `/readyz`.
    pub embedder: EmbedderSlot,
    pub origin: OriginOptions,
    pub limits: Limits,
    pub profile: mcp::Profile,
    /// List MCP tools as `memory.recall` instead of `memory_recall`.
    pub dotted_names: bool,
}

/// REST with its document, MCP at `/mcp`, the chat proxy and the probes, behind one set of limits.
pub fn app(mnemic: Arc<Mnemic>, options: AppOptions) -> Router {
    metrics::install();
    let health = rest::Health::new(Arc::clone(&mnemic), options.embedder, options.instance);
    let (open, mut document) = rest::open(Arc::new(health)).split_for_parts();
    let gate = Gate {
        mnemic: Arc::clone(&mnemic),
        rates: Arc::new(RateLimits::new(options.limits.rates)),
        proves_caller: rest::proves_caller,
    };
    let limits = &options.limits;
    let places = Places::new(limits.requests_max);
    let (v1, described) = v1(&gate, limits, &places);
    document.merge(described);
    let document = Arc::new(rest::describe(document));
    let openapi = get(move || {
        let document = Arc::clone(&document);
        async move { Json((*document).clone()) }
    });
    let open = open
        .route("/openapi.json", openapi)
        .method_not_allowed_fallback(rest::method_not_allowed)
        .layer(from_fn_with_state(limits.request_timeout, hurry));
    let mcp_options = McpOptions {
        profile: options.profile,
        dotted_names: options.dotted_names,
        body_bytes_max: limits.body.bytes_max,
        // Hosts and origins are checked for the whole app, below.
        allowed_hosts: vec![],
        ..McpOptions::default()
    };
    let chats = chats(proxy::router(Arc::clone(&mnemic), limits.chat), &gate, limits, &places);
    let router = open
        .merge(v1)
        .merge(chats)
        .nest("/mcp", mcp(mcp::router(mnemic, mcp_options), gate, limits, places))
        .fallback(rest::no_such_address);
    finish(router, options.origin)
}

/// What needs a token. The layers run from the last to the first: who is calling is settled
/// before the path, the body or anything else is looked at.
fn v1(gate: &Gate, limits: &Limits, places: &Places) -> (Router, OpenApi) {
    let quick = rest::quick().layer(from_fn_with_state(limits.request_timeout, hurry));
    let slow = rest::slow().layer(from_fn_with_state(limits.job_timeout, hurry));
    let (routes, document) = quick.merge(slow).split_for_parts();
    let router = routes
        .method_not_allowed_fallback(rest::method_not_allowed)
        // An address that leads nowhere asks for a token, too.
        .route("/v1", any(rest::no_such_address))
        .route("/v1/{*path}", any(rest::no_such_address))
        .layer(from_fn_with_state(Arc::clone(&gate.mnemic), capture::layer))
        .layer(from_fn(rest::own_workspace_only))
        .layer(from_fn_with_state(gate.clone(), require_token))
        .layer(from_fn_with_state(limits.body, guard))
        .layer(from_fn_with_state(places.clone(), shed))
        .with_state(Arc::clone(&gate.mnemic));
    (router, document)
}

/// Reports of what agents did come in batches, and may be so many times as large as others.
const BULK_FACTOR: usize = 8;

async fn guard(State(options): State<BodyOptions>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_bulk = path.ends_with("/actions") || path == rest::TRACES;
    let factor = if is_bulk { BULK_FACTOR } else { 1 };
    let options = BodyOptions { bytes_max: options.bytes_max.saturating_mul(factor), ..options };
    body::guard(State(options), request, next).await
}

/// The same limits for MCP, which refuses in its own form what has no token or is too large.
fn mcp(router: Router, gate: Gate, limits: &Limits, places: Places) -> Router {
    let body = BodyOptions { bytes_max: limits.body.bytes_max.saturating_mul(2), ..limits.body };
    router
        .layer(from_fn(without_origin))
        .layer(from_fn_with_state(limits.request_timeout, hurry))
        .layer(from_fn_with_state(gate, meter))
        .layer(from_fn_with_state(body, body::guard))
        .layer(from_fn_with_state(places, shed))
}

/// The same for chats, which answer in OpenAI's form and have a time and a size of their own.
fn chats(router: Router, gate: &Gate, limits: &Limits, places: &Places) -> Router {
    let body = BodyOptions { bytes_max: limits.chat.body_bytes_max, ..limits.body };
    router
        .layer(from_fn_with_state(gate.clone(), meter))
        .layer(from_fn_with_state(body, body::guard))
        .layer(from_fn_with_state(places.clone(), shed))
}

/// The protocol library has a list of origins of its own, which knows less than the check that
/// the request has passed by then.
async fn without_origin(mut request: Request, next: Next) -> Response {
    request.headers_mut().remove(ORIGIN);
    next.run(request).await
}

/// What holds for every answer, whoever gives it.
fn finish(router: Router, origin: OriginOptions) -> Router {
    router
        .layer(from_fn_with_state(Arc::new(origin), origin::check))
        .layer(CatchPanicLayer::custom(problem::after_panic))
        .layer(from_fn(harden))
        .layer(from_fn(observe::observe))
}

/// Answers are what they say they are, and what is behind a token is kept by nobody.
async fn harden(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_private = path.starts_with("/v1") || path.starts_with("/mcp");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_private {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}
