//! What an agent reads before it answers, and answers themselves.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::HeaderMap;
use mnemic_core::Mnemic;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Json};
use super::parameters::WorkspacePath;
use super::responses::BodyFaults;
use crate::capture;
use crate::http::problem::Result;
use crate::wire::ask::{AskRequest, AskResponse};
use crate::wire::context::{ContextRequest, ContextResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(context))
}

/// A model may take its time to answer.
pub(super) fn slow_router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(ask))
}

/// Assembles one block of text from every layer that has something to say, within a budget of
/// tokens, each line with its mark.
///
/// It changes nothing, so it takes no `Idempotency-Key`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/context", tag = "context", operation_id = "context",
    params(WorkspacePath), request_body = ContextRequest,
    responses((status = 200, body = ContextResponse), BodyFaults),
)]
async fn context(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    headers: HeaderMap,
    Body(Json(mut request)): Body<Json<ContextRequest>>,
) -> Result<Answer<ContextResponse>> {
    request.session_id = request.session_id.or_else(|| capture::session(&headers));
    Ok(Answer(mnemic.context(&principal, &request.into()).await?.into()))
}

/// Answers a question from memory, with citations. Without a language model, the passages that
/// fit best are the answer.
///
/// It changes nothing, so it takes no `Idempotency-Key`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ask", tag = "context", operation_id = "ask",
    params(WorkspacePath), request_body = AskRequest,
    responses((status = 200, body = AskResponse), BodyFaults),
)]
async fn ask(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<AskRequest>>,
) -> Result<Answer<AskResponse>> {
    Ok(Answer(mnemic.ask(&principal, &request.into()).await?.into()))
}
