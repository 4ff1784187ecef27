//! Past runs, found by what they did.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Json};
use super::parameters::WorkspacePath;
use super::responses::BodyFaults;
use crate::http::problem::Result;
use crate::wire::past::{PastRunsRequest, PastRunsResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(search))
}

/// Finds past runs like the one that is about to begin, by words and by meaning, best first.
///
/// It changes nothing, so it takes no `Idempotency-Key`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/sequences/search", tag = "telemetry",
    operation_id = "search_sequences",
    params(WorkspacePath), request_body = PastRunsRequest,
    responses((status = 200, body = PastRunsResponse), BodyFaults),
)]
async fn search(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<PastRunsRequest>>,
) -> Result<Answer<PastRunsResponse>> {
    let PastRunsRequest { query, limit } = request;
    Ok(Answer(mnemic.past_runs(&principal, &query, limit).await?.into()))
}
