//! Calls of tools, reported and counted.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Json, Keyed, Query};
use super::parameters::{IdempotencyKey, PageParameters, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::tool::{InvocationRequest, InvocationResponse, ToolResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(record)).routes(routes!(list))
}

/// Reports a call of a tool. One that is reported again under its `id` counts once.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/tools/invocations", tag = "tools",
    operation_id = "record_invocation",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = InvocationRequest, example = json!({
        "tool": "web_search", "success": true, "latency_ms": 420
    })),
    responses((status = 201, body = InvocationResponse), WriteFaults),
)]
async fn record(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<InvocationRequest>>,
) -> Result<(StatusCode, Answer<InvocationResponse>)> {
    let call = mnemic.record_invocation(&caller, &request.into()).await?;
    Ok((StatusCode::CREATED, Answer(call.into())))
}

/// How often each tool was called, how often that worked and how long it took, by name.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/tools", tag = "tools", operation_id = "list_tools",
    params(WorkspacePath, PageParameters),
    responses((status = 200, body = PageResponse<ToolResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(page): Query<PageParameters>,
) -> Result<Answer<PageResponse<ToolResponse>>> {
    Ok(Answer(PageResponse::of(mnemic.list_tools(&principal, &page.into()).await?)))
}
