//! Episodes: old turns rolled up, listed and hidden.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::EpisodeId;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, ConversationId, Id, Json, Keyed, KeyedCaller, NoParameters, Query};
use super::parameters::{ConversationPath, IdempotencyKey, PageParameters};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::conversation::{EpisodeResponse, SummarizeRequest, SummarizedResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(summarize))
        .routes(routes!(list))
        .routes(routes!(delete))
}

/// Rolls old turns up into episodes: each summary comes and its turns go in one step.
///
/// Calling it again changes nothing until more turns are old.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/conversations/{id}/summarize", tag = "conversations",
    operation_id = "summarize_conversation",
    params(ConversationPath, IdempotencyKey),
    request_body(content = SummarizeRequest, example = json!({"retain_last": 20, "max_age_days": 30})),
    responses((status = 200, body = SummarizedResponse), WriteFaults),
)]
async fn summarize(
    State(mnemic): State<Arc<Mnemic>>,
    ConversationId(conversation): ConversationId,
    Keyed { caller, body: Json(request) }: Keyed<Json<SummarizeRequest>>,
) -> Result<Answer<SummarizedResponse>> {
    let made = mnemic.summarize_conversation(&caller, &conversation, request.into()).await?;
    Ok(Answer(made.into()))
}

/// Lists the episodes of a conversation, newest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}/episodes", tag = "conversations",
    operation_id = "list_episodes",
    params(ConversationPath, PageParameters),
    responses((status = 200, body = PageResponse<EpisodeResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(page): Query<PageParameters>,
) -> Result<Answer<PageResponse<EpisodeResponse>>> {
    let found = mnemic.list_episodes(&principal, &conversation, &page.into()).await?;
    Ok(Answer(PageResponse::of(found)))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct EpisodePath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The episode's id.
    id: Uuid,
}

/// Hides an episode.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/episodes/{id}", tag = "conversations",
    operation_id = "delete_episode",
    params(EpisodePath, IdempotencyKey),
    responses((status = 204, description = "It is hidden"), WriteFaults),
)]
async fn delete(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<EpisodeId>,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<StatusCode> {
    mnemic.delete_episode(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
