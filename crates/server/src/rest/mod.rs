//! The REST surface: one file per noun, each route with its part of the OpenAPI document.
#![allow(unused_qualifications, reason = "the OpenAPI macros qualify the names they are given")]

mod action;
mod audit;
mod benchmark;
mod context;
mod conversation;
mod domain;
mod episode;
mod erasure;
mod errors;
mod extract;
mod goal;
mod grant;
mod graph;
mod health;
mod job;
mod json;
mod memory;
mod memory_care;
mod metric;
mod model;
mod node;
mod parameters;
mod past;
mod pattern;
mod policy;
mod profile;
mod recall;
mod responses;
mod review;
mod run;
mod scratchpad;
mod sequence;
mod session;
mod slot;
mod strategy;
mod timeline;
mod token;
mod tool;
mod trace;
mod workspace;

use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mnemic_core::ids::WorkspaceId;
use mnemic_core::principal::Principal;
use mnemic_core::{Code, Error, Mnemic};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use crate::http::problem::Problem;

pub(crate) use health::Health;
pub(crate) use trace::TRACES;

/// Stands for the id of the token's own workspace in a path.
pub(crate) const CURRENT: &str = "current";
const WORKSPACE_ROUTE: &str = "/v1/workspaces/{ws}";

/// Routes that need a token and are done within an ordinary request's time.
pub(crate) fn quick() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .merge(workspace::router())
        .merge(memory::router())
        .merge(memory_care::router())
        .merge(node::router())
        .merge(graph::router())
        .merge(audit::router())
        .merge(conversation::router())
        .merge(episode::router())
        .merge(domain::router())
        .merge(grant::router())
        .merge(policy::router())
        .merge(review::router())
        .merge(run::router())
        .merge(recall::router())
        .merge(context::router())
        .merge(slot::router())
        .merge(goal::router())
        .merge(strategy::router())
        .merge(tool::router())
        .merge(pattern::router())
        .merge(past::router())
        .merge(profile::router())
        .merge(scratchpad::router())
        .merge(session::router())
        .merge(timeline::router())
        .merge(erasure::router())
        .merge(token::router())
        .merge(model::router())
        .merge(action::router())
        .merge(sequence::router())
        .merge(trace::router())
        .merge(metric::router())
        .merge(benchmark::router())
}

/// Routes that need a token and may take long.
pub(crate) fn slow() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().merge(job::router()).merge(context::slow_router())
}

/// Routes that need no token.
pub(crate) fn open(health: Arc<Health>) -> OpenApiRouter {
    OpenApiRouter::default().merge(health::router(health)).merge(errors::router())
}

/// The document of all of `routes`.
pub(crate) fn describe(mut document: OpenApi) -> OpenApi {
    #[derive(utoipa::OpenApi)]
    #[openapi(
        info(
            title = "Mnemic",
            description = "Memory for AI agents. `{ws}` is the workspace's id, or `current` for \
                the token's own. Errors are problems (RFC 9457) with a stable word in `code`.",
        ),
        security(("bearer" = [])),
    )]
    struct About;

    let about = <About as utoipa::OpenApi>::openapi();
    document.info = about.info;
    document.security = about.security;
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = document.components.get_or_insert_with(Components::new);
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let (name, schema) = responses::problem_schema();
    components.schemas.insert(name, schema);
    document
}

/// Whether a request does nothing but by batches which require that its caller still is who they were
/// taken for.
pub(crate) fn proves_caller(parts: &Parts) -> bool {
    let route = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    parts.method == Method::POST && route == Some(action::ROUTE)
}

/// Refuses paths that name another workspace than the token's, exactly as if there were none.
///
/// The one exception is that operators delete workspaces by id.
pub(crate) async fn own_workspace_only(
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let named = match &params {
        Ok(params) => params.iter().find(|(key, _)| *key == "ws").map(|(_, value)| value),
        Err(RawPathParamsRejection::MissingPathParams(_)) => None,
        Err(rejection) => return extract::bad_path(rejection).into_response(),
    };
    match named {
        Some(ws) if !may_name(&request, ws) => {
            Problem::from(Error::not_found("workspace")).into_response()
        }
        _ => next.run(request).await,
    }
}

fn may_name(request: &Request, ws: &str) -> bool {
    let Some(principal) = request.extensions().get::<Principal>() else { return false };
    let is_own = || ws.parse::<WorkspaceId>().is_ok_and(|id| id == principal.workspace_id);
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let operator_deletes = || {
        principal.operator && request.method() == Method::DELETE && route == Some(WORKSPACE_ROUTE)
    };
    ws == CURRENT || is_own() || operator_deletes()
}

pub(crate) async fn no_such_address() -> Problem {
    Problem::no_such_address()
}

/// The `Allow` header is added by the router.
pub(crate) async fn method_not_allowed() -> Problem {
    Problem::new(Code::MethodNotAllowed, "the Allow header lists the methods that it takes")
}
