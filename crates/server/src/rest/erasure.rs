//! Erasing what belongs to a conversation or a user. Records are erased at their own addresses.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{ConversationId, KeyedCaller, NoParameters, Query, UserSegment};
use super::parameters::{ConversationPath, IdempotencyKey, UserPath};
use super::responses::WriteFaults;
use crate::http::problem::Result;
use crate::wire::erasure::ReceiptResponse;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(erase_conversation))
        .routes(routes!(erase_own_conversation))
        .routes(routes!(erase_user))
}

/// Erases a conversation: turns, episodes, slots, goals, tool calls, sightings, kept answers, and its
/// words in the
/// audit.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/conversations/{id}", tag = "erasure",
    operation_id = "erase_conversation",
    params(ConversationPath, IdempotencyKey),
    responses((status = 200, body = ReceiptResponse), WriteFaults),
)]
async fn erase_conversation(
    State(mnemic): State<Arc<Mnemic>>,
    ConversationId(id): ConversationId,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Answer<ReceiptResponse>> {
    Ok(Answer(mnemic.erase_conversation(&caller, &id).await?.into()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct OwnConversationPath {
    /// A UUID, or any name that the conversation was given.
    #[param(min_length = 1, max_length = 128)]
    id: String,
}

/// The same in the token's own workspace.
#[utoipa::path(
    delete, path = "/v1/conversations/{id}", tag = "erasure",
    operation_id = "erase_own_conversation",
    params(OwnConversationPath, IdempotencyKey),
    responses((status = 200, body = ReceiptResponse), WriteFaults),
)]
async fn erase_own_conversation(
    State(mnemic): State<Arc<Mnemic>>,
    ConversationId(id): ConversationId,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Answer<ReceiptResponse>> {
    Ok(Answer(mnemic.erase_conversation(&caller, &id).await?.into()))
}

/// Erases what a user's tokens made and what they said, the user's profile, name and words in the
/// audit, and kept answers; revokes the tokens.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/users/{user}", tag = "erasure",
    operation_id = "erase_user",
    params(UserPath, IdempotencyKey),
    responses((status = 200, body = ReceiptResponse), WriteFaults),
)]
async fn erase_user(
    State(mnemic): State<Arc<Mnemic>>,
    UserSegment(user): UserSegment,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Answer<ReceiptResponse>> {
    Ok(Answer(mnemic.erase_user(&caller, &user).await?.into()))
}
