//! What can be done with a memory beyond reading and writing it, and what citations say
//! about which to keep.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::IntoResponse;
use mnemic_core::Mnemic;
use mnemic_core::ids::MemoryId;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Id, Json, Keyed, NoBody, OptionalJson, Query};
use super::parameters::{IdempotencyKey, MemoryPath, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::memory::{
    MemoryResponse, PurgeRequest, PurgeResponse, SupersedeRequest, WeightRequest,
};

type Changed = Result<Answer<MemoryResponse>>;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(promote))
        .routes(routes!(restore))
        .routes(routes!(weight))
        .routes(routes!(pin))
        .routes(routes!(unpin))
        .routes(routes!(supersede))
        .routes(routes!(recommended_pins))
        .routes(routes!(stale))
        .routes(routes!(purge))
}

/// Makes a suggestion a fact. Promoting a fact changes nothing.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/promote", tag = "memories",
    operation_id = "promote_memory",
    params(MemoryPath, IdempotencyKey),
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn promote(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, .. }: Keyed<NoBody>,
) -> Changed {
    Ok(Answer(mnemic.promote_memory(&caller, id).await?.into()))
}

/// Brings a forgotten memory back, with its citations.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/restore", tag = "memories",
    operation_id = "restore_memory",
    params(MemoryPath, IdempotencyKey),
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn restore(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, .. }: Keyed<NoBody>,
) -> Changed {
    Ok(Answer(mnemic.restore_memory(&caller, id).await?.into()))
}

/// Moves the manual weight by `delta`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/weight", tag = "memories",
    operation_id = "weight_memory",
    params(MemoryPath, IdempotencyKey), request_body = WeightRequest,
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn weight(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<WeightRequest>>,
) -> Changed {
    Ok(Answer(mnemic.weight_memory(&caller, id, request.delta).await?.into()))
}

/// Pins a memory: it ranks higher and never goes stale.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/pin", tag = "memories",
    operation_id = "pin_memory",
    params(MemoryPath, IdempotencyKey),
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn pin(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, .. }: Keyed<NoBody>,
) -> Changed {
    Ok(Answer(mnemic.pin_memory(&caller, id, true).await?.into()))
}

/// Takes the pin away.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/unpin", tag = "memories",
    operation_id = "unpin_memory",
    params(MemoryPath, IdempotencyKey),
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn unpin(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, .. }: Keyed<NoBody>,
) -> Changed {
    Ok(Answer(mnemic.pin_memory(&caller, id, false).await?.into()))
}

/// Replaces a memory by one with other words; the answer is the new one.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/{id}/supersede", tag = "memories",
    operation_id = "supersede_memory",
    params(MemoryPath, IdempotencyKey), request_body = SupersedeRequest,
    responses(
        (status = 201, body = MemoryResponse, headers(("Location" = String))),
        WriteFaults,
    ),
)]
async fn supersede(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<SupersedeRequest>>,
) -> Result<impl IntoResponse> {
    let memory = mnemic.supersede_memory(&caller, id, request).await?;
    let location =
        format!("/v1/workspaces/{}/memories/{}", caller.principal.workspace_id, memory.id);
    Ok((StatusCode::CREATED, [(LOCATION, location)], Answer(MemoryResponse::from(memory))))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PinsParameters {
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Memories that are cited often and not pinned, most cited first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/memories/recommended-pins", tag = "memories",
    operation_id = "recommended_pins",
    params(WorkspacePath, PinsParameters),
    responses((status = 200, body = PageResponse<MemoryResponse>), ReadFaults),
)]
async fn recommended_pins(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(PinsParameters { limit }): Query<PinsParameters>,
) -> Result<Answer<PageResponse<MemoryResponse>>> {
    let page = PageRequest { limit, cursor: None };
    let items = mnemic.recommended_pins(&principal, &page).await?;
    let items = items.into_iter().map(Into::into).collect();
    Ok(Answer(PageResponse { items, next_cursor: None }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StaleParameters {
    /// Instead of the workspace's retention window.
    #[param(maximum = 36500)]
    older_than_days: Option<u32>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Suggestions that nobody has cited within the retention window, oldest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/memories/stale", tag = "memories",
    operation_id = "stale_memories",
    params(WorkspacePath, StaleParameters),
    responses((status = 200, body = PageResponse<MemoryResponse>), ReadFaults),
)]
async fn stale(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(StaleParameters { older_than_days, limit, cursor }): Query<StaleParameters>,
) -> Result<Answer<PageResponse<MemoryResponse>>> {
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.stale_memories(&principal, older_than_days, &page).await?)))
}

/// Erases stale memories, and nothing that is not stale.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories/purge", tag = "memories",
    operation_id = "purge_memories",
    params(WorkspacePath, IdempotencyKey), request_body = Option<PurgeRequest>,
    responses((status = 200, body = PurgeResponse), WriteFaults),
)]
async fn purge(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: OptionalJson(request) }: Keyed<OptionalJson<PurgeRequest>>,
) -> Result<Answer<PurgeResponse>> {
    Ok(Answer(mnemic.purge_memories(&caller, &request.into()).await?.into()))
}
