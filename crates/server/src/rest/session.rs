//! What a session has at hand: recent turns, context values, thoughts, and the goal pursued.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::GoalId;
use mnemic_core::slot::NewSlot;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, ConversationId, Json, KeySegment, Query};
use super::parameters::ConversationPath;
use super::responses::{BodyFaults, PutFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::session::{
    ContextRequest, ContextResponse, SessionGoalRequest, SessionGoalResponse, SessionResponse,
    ThoughtRequest, ThoughtResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(get))
        .routes(routes!(put_context))
        .routes(routes!(add_thought))
        .routes(routes!(set_goal))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SessionParameters {
    /// How many of the newest turns; 10 if absent.
    #[param(minimum = 1, maximum = 200)]
    turns: Option<usize>,
}

/// All that a session has at hand. What is read lives anew.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}/session", tag = "sessions",
    operation_id = "get_session",
    params(ConversationPath, SessionParameters),
    responses((status = 200, body = SessionResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(SessionParameters { turns }): Query<SessionParameters>,
) -> Result<Answer<SessionResponse>> {
    Ok(Answer(mnemic.get_session(&principal, &conversation, turns).await?.into()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct ContextPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The conversation's id: a UUID or any other name.
    #[param(
        min_length = 1,
        max_length = 128,
        pattern = "^[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$"
    )]
    id: String,
    /// The value's key.
    #[param(
        min_length = 1,
        max_length = 112,
        pattern = "^[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$"
    )]
    key: String,
}

/// Keeps a context value for as long as `ttl_seconds` says.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/conversations/{id}/session/context/{key}", tag = "sessions",
    operation_id = "put_session_context",
    params(ContextPath),
    request_body(content = ContextRequest, example = json!({"value": "Berlin", "ttl_seconds": 600})),
    responses((status = 200, body = ContextResponse), PutFaults),
)]
async fn put_context(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    KeySegment(key): KeySegment,
    Body(Json(request)): Body<Json<ContextRequest>>,
) -> Result<Answer<ContextResponse>> {
    let ContextRequest { value, ttl_seconds } = request;
    let new = NewSlot { value, ttl_seconds };
    let slot = mnemic.put_session_context(&principal, &conversation, &key, new).await?;
    Ok(Answer(ContextResponse::of(key, slot)))
}

/// Adds a thought behind the others. The oldest of more than 100 goes.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/conversations/{id}/session/thoughts", tag = "sessions",
    operation_id = "add_thought",
    params(ConversationPath), request_body = ThoughtRequest,
    responses((status = 201, body = ThoughtResponse), BodyFaults),
)]
async fn add_thought(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Body(Json(request)): Body<Json<ThoughtRequest>>,
) -> Result<(StatusCode, Answer<ThoughtResponse>)> {
    let thought = mnemic.add_thought(&principal, &conversation, &request.text).await?;
    Ok((StatusCode::CREATED, Answer(thought.into())))
}

/// Says which goal is being pursued; null ends that.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/conversations/{id}/session/goal", tag = "sessions",
    operation_id = "set_session_goal",
    params(ConversationPath), request_body = SessionGoalRequest,
    responses((status = 200, body = SessionGoalResponse), PutFaults),
)]
async fn set_goal(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Body(Json(request)): Body<Json<SessionGoalRequest>>,
) -> Result<Answer<SessionGoalResponse>> {
    let goal = request.goal_id.map(GoalId);
    Ok(Answer(mnemic.set_session_goal(&principal, &conversation, goal).await?.into()))
}
