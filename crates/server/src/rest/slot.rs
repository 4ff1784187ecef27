//! The slots of a conversation. Writing one again is harmless, so `Idempotency-Key` has no effect.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, ConversationId, Json, NoParameters, Query, SlotSegment};
use super::parameters::{ConversationPath, PageParameters};
use super::responses::{PutFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::slot::{ClearedSlotsResponse, SlotRequest, SlotResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(put, get, delete)).routes(routes!(list, clear))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct SlotPath {
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
    /// The slot's name.
    #[param(
        min_length = 1,
        max_length = 128,
        example = "planner_decision",
        pattern = "^[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$"
    )]
    slot: String,
}

/// Writes a slot, whether or not there was one.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/conversations/{id}/slots/{slot}", tag = "slots",
    operation_id = "put_slot",
    params(SlotPath),
    request_body(content = SlotRequest, example = json!({"value": {"step": 2}, "ttl_seconds": 600})),
    responses((status = 200, body = SlotResponse), PutFaults),
)]
async fn put(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    SlotSegment(slot): SlotSegment,
    Body(Json(request)): Body<Json<SlotRequest>>,
) -> Result<Answer<SlotResponse>> {
    Ok(Answer(mnemic.put_slot(&principal, &conversation, &slot, request.into()).await?.into()))
}

/// Reads a slot, whose time to live begins anew. One that has expired is absent.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}/slots/{slot}", tag = "slots",
    operation_id = "get_slot",
    params(SlotPath),
    responses((status = 200, body = SlotResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    SlotSegment(slot): SlotSegment,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<SlotResponse>> {
    Ok(Answer(mnemic.get_slot(&principal, &conversation, &slot).await?.into()))
}

/// Deletes a slot.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/conversations/{id}/slots/{slot}", tag = "slots",
    operation_id = "delete_slot",
    params(SlotPath),
    responses((status = 204, description = "It is gone"), ReadFaults),
)]
async fn delete(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    SlotSegment(slot): SlotSegment,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<StatusCode> {
    mnemic.delete_slot(&principal, &conversation, &slot).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the slots of a conversation by name; those on the page count as read.
///
/// A page may have fewer than `limit` where the values are large.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}/slots", tag = "slots",
    operation_id = "list_slots",
    params(ConversationPath, PageParameters),
    responses((status = 200, body = PageResponse<SlotResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(page): Query<PageParameters>,
) -> Result<Answer<PageResponse<SlotResponse>>> {
    let page = mnemic.list_slots(&principal, &conversation, &page.into()).await?;
    Ok(Answer(PageResponse::of(page)))
}

/// Removes all slots of a conversation and says how many there were.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/conversations/{id}/slots", tag = "slots",
    operation_id = "clear_slots",
    params(ConversationPath),
    responses((status = 200, body = ClearedSlotsResponse), ReadFaults),
)]
async fn clear(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<ClearedSlotsResponse>> {
    let cleared = mnemic.clear_slots(&principal, &conversation).await?;
    Ok(Answer(ClearedSlotsResponse { cleared }))
}
