//! Goals: added, read, changed and finished.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::goal::GoalFilter;
use mnemic_core::ids::GoalId;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Id, Json, Keyed, NoParameters, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::goal::{
    CompleteGoalRequest, FinishedGoalResponse, GoalPatchRequest, GoalRequest, GoalResponse,
    GoalStatusWire, GoalViewResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(list, add))
        .routes(routes!(get, patch))
        .routes(routes!(complete))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    status: Option<GoalStatusWire>,
    #[param(min_length = 1, max_length = 128)]
    channel: Option<String>,
    conversation_id: Option<String>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists goals, newest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/goals", tag = "goals", operation_id = "list_goals",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<GoalResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<GoalResponse>>> {
    let ListParameters { status, channel, conversation_id, limit, cursor } = parameters;
    let filter = GoalFilter { status: status.map(Into::into), channel, conversation_id };
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_goals(&principal, &filter, &page).await?)))
}

/// Adds a goal. One that waits for others is blocked until they are finished.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/goals", tag = "goals", operation_id = "add_goal",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = GoalRequest, example = json!({
        "description": "Ship the release", "priority": 10, "deadline": "2026-12-01T12:00:00Z"
    })),
    responses((status = 201, body = GoalResponse), WriteFaults),
)]
async fn add(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<GoalRequest>>,
) -> Result<(StatusCode, Answer<GoalResponse>)> {
    let added = mnemic.add_goal(&caller, &request.into()).await?;
    Ok((StatusCode::CREATED, Answer(added.into())))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct GoalPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The goal's id.
    id: Uuid,
}

/// One goal with its parent, and the ids of its children and of those that wait for it.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/goals/{id}", tag = "goals", operation_id = "get_goal",
    params(GoalPath),
    responses((status = 200, body = GoalViewResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<GoalId>,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<GoalViewResponse>> {
    Ok(Answer(mnemic.get_goal(&principal, id).await?.into()))
}

/// Changes the fields that are named of an open goal; null empties `deadline` and `parent_id`.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/goals/{id}", tag = "goals", operation_id = "update_goal",
    params(GoalPath, IdempotencyKey), request_body = GoalPatchRequest,
    responses((status = 200, body = GoalResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<GoalId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<GoalPatchRequest>>,
) -> Result<Answer<GoalResponse>> {
    Ok(Answer(mnemic.update_goal(&caller, id, &request.into()).await?.into()))
}

/// Finishes a goal. Goals that waited for it alone are active again.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/goals/{id}/complete", tag = "goals",
    operation_id = "complete_goal",
    params(GoalPath, IdempotencyKey),
    request_body(content = CompleteGoalRequest, example = json!({"status": "completed"})),
    responses((status = 200, body = FinishedGoalResponse), WriteFaults),
)]
async fn complete(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<GoalId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<CompleteGoalRequest>>,
) -> Result<Answer<FinishedGoalResponse>> {
    let CompleteGoalRequest { status, result } = request;
    let done = mnemic.complete_goal(&caller, id, status.into(), result.as_deref()).await?;
    Ok(Answer(done.into()))
}
