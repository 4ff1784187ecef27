//! What is written down about every request: method, route, status and time. Never tokens,
//! bodies, queries or the ids in a path.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::metrics::upkeep;

pub async fn observe(request: Request, next: Next) -> Response {
    let (method, route) = (known(request.method()), template(&request));
    let started = Instant::now();
    let _in_flight = InFlight::enter();
    let response = next.run(request).await;
    report(method, route, response.status(), started);
    upkeep();
    response
}

fn report(method: &'static str, route: String, status: StatusCode, started: Instant) {
    let took = started.elapsed().as_secs_f64();
    let (code, took_ms) = (status.as_u16(), took * 1_000.0);
    if status.is_server_error() {
        tracing::info!(method, route, status = code, took_ms, "answered");
    } else {
        tracing::debug!(method, route, status = code, took_ms, "answered");
    }
    let labels = [("method", method.to_owned()), ("route", route)];
    metrics::histogram!("mnemic_http_request_seconds", &labels).record(took);
    let [method, route] = labels;
    let labels = [method, route, ("status", code.to_string())];
    metrics::counter!("mnemic_http_requests_total", &labels).increment(1);
}

/// The route's template, so that neither labels nor logs grow with ids.
fn template(request: &Request) -> String {
    match request.extensions().get::<MatchedPath>() {
        Some(path) => path.as_str().to_owned(),
        None if request.uri().path().starts_with("/mcp") => "/mcp".to_owned(),
        None => "none".to_owned(),
    }
}

/// Clients may send any word as a method; only those that mean something become labels.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request as long as it is worked on, also if the client goes away meanwhile.
struct InFlight;

impl InFlight {
    fn enter() -> Self {
        metrics::gauge!("mnemic_http_requests_in_flight").increment(1.0);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        metrics::gauge!("mnemic_http_requests_in_flight").decrement(1.0);
    }
}
