//! Patterns: listed, looked at, annotated, and told before an action.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::HeaderMap;
use mnemic_core::Mnemic;
use mnemic_core::ids::PatternId;
use mnemic_core::page::PageRequest;
use mnemic_core::pattern::{PatternFilter, PatternSort};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Body, Id, Json, Keyed, NoParameters, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{BodyFaults, ReadFaults, WriteFaults};
use crate::capture;
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::action::OutcomeWire;
use crate::wire::pattern::{
    InjectRequest, InjectResponse, PatternPatchRequest, PatternResponse, PatternSortWire,
    PatternViewResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(get, patch))
        .routes(routes!(inject))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    action_type: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    node_type: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    error_code: Option<String>,
    /// Patterns of successes, or of failures.
    #[param(inline)]
    outcome: Option<OutcomeWire>,
    suppressed: Option<bool>,
    /// Those that were superseded or have faded away, too.
    past: Option<bool>,
    /// What comes first; the newest if absent.
    #[param(inline)]
    sort: Option<PatternSortWire>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists patterns.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/patterns", tag = "telemetry", operation_id = "list_patterns",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<PatternResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<PatternResponse>>> {
    let ListParameters { action_type, node_type, error_code, outcome, suppressed, past, .. } =
        parameters;
    let filter = PatternFilter {
        action_type,
        node_type,
        error_code,
        outcome: outcome.map(Into::into),
        suppressed,
        past: past.unwrap_or(false),
    };
    let sort = parameters.sort.map_or(PatternSort::default(), Into::into);
    let page = PageRequest { limit: parameters.limit, cursor: parameters.cursor };
    Ok(Answer(PageResponse::of(mnemic.list_patterns(&principal, &filter, sort, &page).await?)))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct PatternPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The pattern's id.
    id: Uuid,
}

/// One pattern with what telling it does.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/patterns/{id}", tag = "telemetry",
    operation_id = "get_pattern",
    params(PatternPath),
    responses((status = 200, body = PatternViewResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<PatternId>,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<PatternViewResponse>> {
    Ok(Answer(mnemic.get_pattern(&principal, id).await?.into()))
}

/// Annotates a pattern, replaces what it recommends, or suppresses it; null empties a note.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/patterns/{id}", tag = "telemetry",
    operation_id = "annotate_pattern",
    params(PatternPath, IdempotencyKey), request_body = PatternPatchRequest,
    responses((status = 200, body = PatternResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<PatternId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<PatternPatchRequest>>,
) -> Result<Answer<PatternResponse>> {
    Ok(Answer(mnemic.annotate_pattern(&caller, id, &request.into()).await?.into()))
}

/// What to know before an action, as a block of text for the prompt.
///
/// Asking again gives the same, so it takes no `Idempotency-Key`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/context-inject", tag = "telemetry",
    operation_id = "inject_context",
    params(WorkspacePath),
    request_body(content = InjectRequest, example = json!({
        "node_types": ["person"], "action_type": "ontology_mutation", "session_id": "run-7"
    })),
    responses((status = 200, body = InjectResponse), BodyFaults),
)]
async fn inject(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    headers: HeaderMap,
    Body(Json(mut request)): Body<Json<InjectRequest>>,
) -> Result<Answer<InjectResponse>> {
    request.session_id = request.session_id.or_else(|| capture::session(&headers));
    Ok(Answer(mnemic.inject(&principal, &request.into()).await?.into()))
}
