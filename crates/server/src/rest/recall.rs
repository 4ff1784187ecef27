//! Recall.

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
use crate::wire::recall::{RecallRequest, RecallResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(recall))
}

/// Finds what bears on a question, by words, by meaning and through the entities that it speaks of,
/// best first.
///
/// It changes nothing, so it takes no `Idempotency-Key`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/recall", tag = "recall", operation_id = "recall",
    params(WorkspacePath), request_body = RecallRequest,
    responses((status = 200, body = RecallResponse), BodyFaults),
)]
async fn recall(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<RecallRequest>>,
) -> Result<Answer<RecallResponse>> {
    Ok(Answer(mnemic.recall(&principal, &request.into()).await?.into()))
}
