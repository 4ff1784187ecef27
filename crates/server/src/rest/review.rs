//! Reviews: contradictions that somebody is to decide.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use mnemic_core::ids::ReviewId;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Id, Json, Keyed, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::review::{ContradictionResponse, ResolveRequest, ReviewResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(resolve))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    /// Those that are decided, instead of those that are open.
    #[serde(default)]
    decided: bool,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists contradictions of which the caller may read both memories, newest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/reviews", tag = "memories", operation_id = "list_reviews",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<ContradictionResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(ListParameters { decided, limit, cursor }): Query<ListParameters>,
) -> Result<Answer<PageResponse<ContradictionResponse>>> {
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_reviews(&principal, decided, &page).await?)))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct ReviewPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The review's id.
    id: Uuid,
}

/// Decides which of two memories holds, or that both do. It is decided once.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/reviews/{id}/resolve", tag = "memories",
    operation_id = "resolve_review",
    params(ReviewPath, IdempotencyKey),
    request_body(content = ResolveRequest, example = json!({"decision": "keep_new"})),
    responses((status = 200, body = ReviewResponse), WriteFaults),
)]
async fn resolve(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<ReviewId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<ResolveRequest>>,
) -> Result<Answer<ReviewResponse>> {
    Ok(Answer(mnemic.resolve_review(&caller, id, request.decision.into()).await?.into()))
}
