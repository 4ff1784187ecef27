//! Conversations and their turns.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::conversation::{ConversationFilter, NewTurn};
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, ConversationId, Json, Keyed, NoParameters, OneOrMany, Query};
use super::parameters::{ConversationPath, IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::conversation::{
    ConversationRequest, ConversationResponse, TurnRequest, TurnResponse, TurnsResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get))
        .routes(routes!(list_turns, add_turns))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    channel: Option<String>,
    /// Show those that are archived, too.
    #[serde(default)]
    archived: bool,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists conversations, newest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations", tag = "conversations",
    operation_id = "list_conversations",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<ConversationResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<ConversationResponse>>> {
    let ListParameters { channel, archived, limit, cursor } = parameters;
    let filter = ConversationFilter { channel, archived };
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_conversations(&principal, &filter, &page).await?)))
}

/// Makes a conversation. Storing a turn makes one, too.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/conversations", tag = "conversations",
    operation_id = "create_conversation",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = ConversationRequest, example = json!({"id": "standup-12", "channel": "team"})),
    responses((status = 201, body = ConversationResponse), WriteFaults),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<ConversationRequest>>,
) -> Result<(StatusCode, Answer<ConversationResponse>)> {
    let made = mnemic.create_conversation(&caller, &request.into()).await?;
    Ok((StatusCode::CREATED, Answer(made.into())))
}

/// One conversation.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}", tag = "conversations",
    operation_id = "get_conversation",
    params(ConversationPath),
    responses((status = 200, body = ConversationResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<ConversationResponse>> {
    Ok(Answer(mnemic.get_conversation(&principal, &conversation).await?.into()))
}

/// Stores one turn or several, all of them or none, and makes the conversation if need be.
///
/// A turn that is there already is answered as it is and not stored again.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/conversations/{id}/turns", tag = "conversations",
    operation_id = "add_turns",
    params(ConversationPath, IdempotencyKey),
    request_body(content = OneOrMany<TurnRequest>, example = json!([
        {"role": "user", "content": "When do we ship?", "index": 0},
        {"role": "assistant", "content": "On Friday at noon.", "index": 1}
    ])),
    responses((status = 201, body = TurnsResponse), WriteFaults),
)]
async fn add_turns(
    State(mnemic): State<Arc<Mnemic>>,
    ConversationId(conversation): ConversationId,
    Keyed { caller, body }: Keyed<OneOrMany<TurnRequest>>,
) -> Result<(StatusCode, Answer<TurnsResponse>)> {
    let news: Vec<NewTurn> = match body {
        OneOrMany::One(one) => vec![(*one).into()],
        OneOrMany::Many(many) => many.into_iter().map(NewTurn::from).collect(),
    };
    let turns = mnemic.add_turns(&caller, &conversation, &news).await?;
    Ok((StatusCode::CREATED, Answer(turns.into())))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TurnParameters {
    /// The newest ones instead of the first ones; in order, too.
    #[serde(default)]
    last: bool,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The turns of a conversation, in order.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/conversations/{id}/turns", tag = "conversations",
    operation_id = "list_turns",
    params(ConversationPath, TurnParameters),
    responses((status = 200, body = PageResponse<TurnResponse>), ReadFaults),
)]
async fn list_turns(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    ConversationId(conversation): ConversationId,
    Query(parameters): Query<TurnParameters>,
) -> Result<Answer<PageResponse<TurnResponse>>> {
    let TurnParameters { last, limit, cursor } = parameters;
    let page = PageRequest { limit, cursor };
    let turns = mnemic.list_turns(&principal, &conversation, last, &page).await?;
    Ok(Answer(PageResponse::of(turns)))
}
