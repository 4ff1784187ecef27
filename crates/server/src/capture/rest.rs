//! The layer over the routes of REST.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use mnemic_core::action::{Deed, Failure};
use mnemic_core::principal::Principal;
use mnemic_core::{Code, Mnemic};
use uuid::Uuid;

use super::{Kind, session, twin};

/// Left with an answer by routes whose records are not in the path.
#[derive(Debug, Clone)]
pub(crate) struct Targets(pub(crate) Vec<Uuid>);

/// Captures a request that does what a tool does, unless an operator looks after things.
pub(crate) async fn layer(
    State(mnemic): State<Arc<Mnemic>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let tool = route.and_then(|route| twin::of(request.method(), route));
    let kind = tool.and_then(Kind::of_tool);
    let principal = request.extensions().get::<Principal>().cloned();
    let (Some(kind), Some(principal)) = (kind, principal) else { return next.run(request).await };
    let session_id = session(request.headers());
    if principal.operator && principal.agent.is_none() && session_id.is_none() {
        return next.run(request).await;
    }
    let named = route.filter(|route| !route.contains("/conversations/")).and(params.ok());
    let id = |params: &RawPathParams| {
        params.iter().find(|(key, _)| *key == "id").and_then(|(_, id)| id.parse().ok())
    };
    let mut targets: Vec<Uuid> = named.as_ref().and_then(id).into_iter().collect();
    let started = Instant::now();
    let response = next.run(request).await;
    if let Some(Targets(others)) = response.extensions().get() {
        targets.extend(others);
    }
    let deed = Deed {
        session_id,
        agent_id: None,
        action_type: kind.action_type,
        subject: kind.subject,
        targets,
        failure: failure(&response),
        latency: started.elapsed(),
    };
    mnemic.capture(&principal, deed).await;
    response
}

fn failure(response: &Response) -> Option<Failure> {
    let status = response.status();
    if status < StatusCode::BAD_REQUEST {
        return None;
    }
    let code = response.extensions().get::<Code>().copied();
    Some(code.map_or(Failure::Status(status.as_u16()), Failure::Code))
}
