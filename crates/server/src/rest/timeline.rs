//! The timeline: what was learned, promoted, replaced and forgotten.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use jiff::Timestamp;
use mnemic_core::Mnemic;
use mnemic_core::page::PageRequest;
use mnemic_core::timeline::TimelineFilter;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Query};
use super::parameters::WorkspacePath;
use super::responses::ReadFaults;
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::timeline::EventResponse;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    channel: Option<String>,
    /// What happened (learned, promoted, superseded, forgotten, restored), or what it happened
    /// to (memory, fact, strategy).
    #[serde(rename = "type")]
    word: Option<String>,
    /// Not before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists what happened to the records that the caller may read, the latest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/timeline", tag = "timeline", operation_id = "list_timeline",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<EventResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<EventResponse>>> {
    let ListParameters { channel, word, since, until, limit, cursor } = parameters;
    let filter = TimelineFilter { channel, since, until, ..TimelineFilter::default() };
    let filter = filter.of_type(word.as_deref())?;
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_timeline(&principal, &filter, &page).await?)))
}
