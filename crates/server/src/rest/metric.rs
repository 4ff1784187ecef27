//! Metrics: listed, tried out, made, changed and deleted.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::MetricId;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Body, Id, Json, Keyed, KeyedCaller, NoParameters, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{BodyFaults, ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::metric::{
    EvaluationResponse, MetricPatchRequest, MetricRequest, MetricResponse, PreviewRequest,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(preview))
        .routes(routes!(patch, remove))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    /// Only those that are measured every night, or only those that are not.
    active: Option<bool>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists the metrics of the workspace by name, those that are built in among them.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/metrics", tag = "metrics", operation_id = "list_metrics",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<MetricResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<MetricResponse>>> {
    let ListParameters { active, limit, cursor } = parameters;
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_metrics(&principal, active, &page).await?)))
}

/// Makes a metric, which is measured every night from now on.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/metrics", tag = "metrics", operation_id = "create_metric",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = MetricRequest, example = json!({
        "name": "Schema merge success rate",
        "event_filter": {"action_types": ["ontology_mutation"]},
        "success_condition": "outcome == 'success'", "aggregation": "rate", "window_days": 14
    })),
    responses((status = 201, body = MetricResponse), WriteFaults),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<MetricRequest>>,
) -> Result<(StatusCode, Answer<MetricResponse>)> {
    let made = mnemic.create_metric(&caller, &request.into()).await?;
    Ok((StatusCode::CREATED, Answer(made.into())))
}

/// Says what a metric would come to now. Nothing is stored.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/metrics/preview", tag = "metrics",
    operation_id = "preview_metric",
    params(WorkspacePath),
    request_body(content = PreviewRequest, example = json!({
        "success_condition": "outcome == 'success' and action_count < 12", "aggregation": "rate"
    })),
    responses((status = 200, body = EvaluationResponse), BodyFaults),
)]
async fn preview(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<PreviewRequest>>,
) -> Result<Answer<EvaluationResponse>> {
    Ok(Answer(mnemic.preview_metric(&principal, &request.into()).await?.into()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
pub(super) struct MetricPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The metric's id.
    id: Uuid,
}

/// Changes the fields that are named. Of a metric that is built in, only `active` and
/// `window_days`.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/metrics/{id}", tag = "metrics",
    operation_id = "update_metric",
    params(MetricPath, IdempotencyKey), request_body = MetricPatchRequest,
    responses((status = 200, body = MetricResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MetricId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<MetricPatchRequest>>,
) -> Result<Answer<MetricResponse>> {
    Ok(Answer(mnemic.update_metric(&caller, id, &request.into()).await?.into()))
}

/// Deletes a metric with its benchmarks. One that is built in is switched off instead, and keeps
/// them.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/metrics/{id}", tag = "metrics",
    operation_id = "delete_metric",
    params(MetricPath, IdempotencyKey),
    responses((status = 204, description = "It is no longer measured"), WriteFaults),
)]
async fn remove(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<MetricId>,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<StatusCode> {
    mnemic.delete_metric(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
