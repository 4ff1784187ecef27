//! Benchmarks: how a metric went from day to day, and comparisons.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use jiff::civil::Date;
use mnemic_core::Mnemic;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::benchmark::Days;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Id, Json, Query};
use super::metric::MetricPath;
use super::parameters::WorkspacePath;
use super::responses::{BodyFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::benchmark::{BenchmarkResponse, CompareRequest, CompareResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(compare))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    /// Not before this day, such as `2026-11-01`.
    #[param(value_type = Option<String>, format = Date)]
    since: Option<Date>,
    /// Not behind this day.
    #[param(value_type = Option<String>, format = Date)]
    until: Option<Date>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists what a metric came to, one for each day on which it was measured, the latest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/metrics/{id}/benchmarks", tag = "metrics",
    operation_id = "list_benchmarks",
    params(MetricPath, ListParameters),
    responses((status = 200, body = PageResponse<BenchmarkResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<MetricId>,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<BenchmarkResponse>>> {
    let ListParameters { since, until, limit, cursor } = parameters;
    let days = Days { since: since.map(Into::into), until: until.map(Into::into) };
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_benchmarks(&principal, id, days, &page).await?)))
}

/// Measures two metrics side by side, or one over two windows.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/benchmarks/compare", tag = "metrics",
    operation_id = "compare_benchmarks",
    params(WorkspacePath),
    request_body(content = CompareRequest, example = json!({
        "metric_id": "6d6e656d-6963-8000-8000-000000000001",
        "windows": [
            {"since": "2026-10-01T00:00:00Z", "until": "2026-11-01T00:00:00Z"},
            {"since": "2026-11-01T00:00:00Z", "until": "2026-12-01T00:00:00Z"}
        ]
    })),
    responses((status = 200, body = CompareResponse), BodyFaults),
)]
async fn compare(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<CompareRequest>>,
) -> Result<Answer<CompareResponse>> {
    Ok(Answer(mnemic.compare_benchmarks(&principal, request.try_into()?).await?.into()))
}
