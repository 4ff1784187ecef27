//! Runs of agents and what they cite.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Keyed, RunId};
use super::parameters::IdempotencyKey;
use super::responses::WriteFaults;
use crate::http::problem::Result;
use crate::wire::run::{FinishRunRequest, FinishRunResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(finish))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct RunPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The agent's own name for the run.
    #[param(min_length = 1, max_length = 128)]
    run_id: String,
}

/// Ends a run and counts the memories that its text cites as `[mem:<uuid>]`, once each.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/runs/{run_id}/finish", tag = "runs",
    operation_id = "finish_run",
    params(RunPath, IdempotencyKey), request_body = FinishRunRequest,
    responses((status = 200, body = FinishRunResponse), WriteFaults),
)]
async fn finish(
    State(mnemic): State<Arc<Mnemic>>,
    RunId(run_id): RunId,
    Keyed { caller, body: Json(request) }: Keyed<Json<FinishRunRequest>>,
) -> Result<Answer<FinishRunResponse>> {
    let FinishRunRequest { text, outcome } = request;
    let citations = mnemic.finish_run(&caller, &run_id, &text, outcome.as_deref()).await?;
    Ok(Answer(citations.into()))
}
