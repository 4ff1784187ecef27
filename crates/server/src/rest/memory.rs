//! Memories and facts: made, listed, read, changed and forgotten.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Imported, MemoryFilter, NewMemory};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Error, Mnemic};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{
    Auth, Id, Json, Keyed, KeyedCaller, KeyedWith, NoParameters, OneOrMany, Query,
};
use super::parameters::{IdempotencyKey, MemoryPath, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::erasure::ReceiptResponse;
use crate::wire::memory::{
    KindWire, MemoryPatchRequest, MemoryRequest, MemoryResponse, SkippedResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(get, patch, delete))
}

/// The memory that was made, or all of them in the order given.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum MemoriesResponse {
    One(Box<MemoryResponse>),
    Many {
        items: Vec<MemoryResponse>,
        /// With `erased=skip`: those that were left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<Vec<SkippedResponse>>,
    },
}

/// What is to become of items of an array that were erased before.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ErasedWire {
    /// Refuse all of it.
    #[default]
    Refuse,
    /// Leave them out and list them.
    Skip,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CreateParameters {
    /// `skip` leaves items of an array out that were erased before and lists them as `skipped`;
    /// `refuse`, the default, refuses all of it.
    #[serde(default)]
    #[param(required = false, inline)]
    erased: ErasedWire,
}

/// Makes a memory, or, given an array, all of its memories or none.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/memories", tag = "memories", operation_id = "create_memory",
    params(WorkspacePath, CreateParameters, IdempotencyKey),
    request_body(content = OneOrMany<MemoryRequest>, example = json!({"content": "The build needs Rust 1.95", "kind": "fact"})),
    responses(
        (status = 201, body = MemoriesResponse, headers(("Location" = String, description = "Of a single memory"))),
        WriteFaults,
    ),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    KeyedWith { caller, parameters, body }: KeyedWith<CreateParameters, OneOrMany<MemoryRequest>>,
) -> Result<Response> {
    let skip = parameters.erased == ErasedWire::Skip;
    let one = match body {
        OneOrMany::One(_) if skip => {
            let problem = "`skip` is for arrays; a single memory is made or refused";
            return Err(Error::invalid("erased", problem).into());
        }
        OneOrMany::One(one) => one,
        OneOrMany::Many(many) => {
            let news = many.into_iter().map(NewMemory::from).collect();
            let answer = Answer(create_many(&mnemic, &caller, news, skip).await?);
            return Ok((StatusCode::CREATED, answer).into_response());
        }
    };
    let memory = mnemic.create_memory(&caller, (*one).into()).await?;
    let location =
        format!("/v1/workspaces/{}/memories/{}", caller.principal.workspace_id, memory.id);
    let answer = Answer(MemoriesResponse::One(Box::new(memory.into())));
    Ok((StatusCode::CREATED, [(LOCATION, location)], answer).into_response())
}

async fn create_many(
    mnemic: &Mnemic,
    caller: &Caller,
    news: Vec<NewMemory>,
    skip: bool,
) -> Result<MemoriesResponse> {
    let (made, skipped) = if skip {
        let Imported { memories, skipped } = mnemic.import_memories(caller, news).await?;
        (memories, Some(skipped.into_iter().map(Into::into).collect()))
    } else {
        (mnemic.create_memories(caller, news).await?, None)
    };
    Ok(MemoriesResponse::Many { items: made.into_iter().map(Into::into).collect(), skipped })
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    kind: Option<KindWire>,
    #[param(min_length = 1, max_length = 128)]
    channel: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    domain: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    topic: Option<String>,
    pinned: Option<bool>,
    /// Words to look for; the list is then ordered by how well they fit.
    #[param(min_length = 1, max_length = 8192)]
    q: Option<String>,
    /// Also those that another memory has replaced.
    #[serde(default)]
    #[param(required = false)]
    include_superseded: bool,
    /// Only those that were deleted and can be restored.
    #[serde(default)]
    #[param(required = false)]
    deleted: bool,
    /// What was true in the world at this time, as far as we know today.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<Timestamp>,
    /// What we held to be true at this time.
    #[param(value_type = Option<String>, format = DateTime)]
    known_at: Option<Timestamp>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

impl ListParameters {
    fn split(self) -> (MemoryFilter, Option<String>, PageRequest) {
        let filter = MemoryFilter {
            kind: self.kind.map(Into::into),
            channel: self.channel,
            domain: self.domain,
            topic: self.topic,
            pinned: self.pinned,
            include_superseded: self.include_superseded,
            deleted: self.deleted,
            as_of: self.as_of,
            known_at: self.known_at,
        };
        (filter, self.q, PageRequest { limit: self.limit, cursor: self.cursor })
    }
}

/// Lists memories, newest first; with `q`, best first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/memories", tag = "memories", operation_id = "list_memories",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<MemoryResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<MemoryResponse>>> {
    let (filter, words, page) = parameters.split();
    let page = mnemic.list_memories(&principal, &filter, words.as_deref(), &page).await?;
    Ok(Answer(PageResponse::of(page)))
}

/// One memory, replaced or not, unless it is deleted.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/memories/{id}", tag = "memories", operation_id = "get_memory",
    params(MemoryPath),
    responses((status = 200, body = MemoryResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<MemoryId>,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<MemoryResponse>> {
    Ok(Answer(mnemic.get_memory(&principal, id).await?.into()))
}

/// Changes the fields that are named; null empties those that may be empty.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/memories/{id}", tag = "memories",
    operation_id = "update_memory",
    params(MemoryPath, IdempotencyKey), request_body = MemoryPatchRequest,
    responses((status = 200, body = MemoryResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<MemoryPatchRequest>>,
) -> Result<Answer<MemoryResponse>> {
    Ok(Answer(mnemic.update_memory(&caller, id, &request.into()).await?.into()))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteParameters {
    /// Erase it for good instead of hiding it.
    #[serde(default)]
    #[param(required = false)]
    hard: bool,
}

/// Forgets a memory; it can be restored unless `hard` is set, which erases it with a receipt.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/memories/{id}", tag = "memories",
    operation_id = "delete_memory",
    params(MemoryPath, DeleteParameters, IdempotencyKey),
    responses(
        (status = 200, description = "It was erased", body = ReceiptResponse),
        (status = 204, description = "It is hidden"),
        WriteFaults,
    ),
)]
async fn delete(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MemoryId>,
    Query(parameters): Query<DeleteParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Response> {
    if parameters.hard {
        let receipt = ReceiptResponse::from(mnemic.erase_memory(&caller, id).await?);
        return Ok(Answer(receipt).into_response());
    }
    mnemic.forget_memory(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
