//! Scratchpads: what an agent keeps for itself.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{AgentSegment, Auth, Json, Keyed, NoParameters, Query};
use super::parameters::IdempotencyKey;
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::scratchpad::{ScratchpadRequest, ScratchpadResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(read, write))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct AgentPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The agent's name, as its token has it.
    #[param(min_length = 1, max_length = 128)]
    agent: String,
}

/// What an agent has written down. Only a token of that very agent reads it.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/agents/{agent}/scratchpad", tag = "scratchpads",
    operation_id = "read_scratchpad",
    params(AgentPath),
    responses((status = 200, body = ScratchpadResponse), ReadFaults),
)]
async fn read(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    AgentSegment(agent): AgentSegment,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<ScratchpadResponse>> {
    let pad = mnemic.read_scratchpad(&principal, &agent).await?;
    Ok(Answer(ScratchpadResponse::of(agent, pad)))
}

/// Puts a text in the place of what an agent has written down. Only a token of that very agent
/// writes it.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/agents/{agent}/scratchpad", tag = "scratchpads",
    operation_id = "write_scratchpad",
    params(AgentPath, IdempotencyKey),
    request_body(content = ScratchpadRequest, example = json!({"text": "Next: look at the logs."})),
    responses((status = 200, body = ScratchpadResponse), WriteFaults),
)]
async fn write(
    State(mnemic): State<Arc<Mnemic>>,
    AgentSegment(agent): AgentSegment,
    Keyed { caller, body: Json(request) }: Keyed<Json<ScratchpadRequest>>,
) -> Result<Answer<ScratchpadResponse>> {
    let ScratchpadRequest { text, revision } = request;
    Ok(Answer(mnemic.write_scratchpad(&caller, &agent, &text, revision).await?.into()))
}
