//! Sequences of actions, listed.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use jiff::Timestamp;
use mnemic_core::Mnemic;
use mnemic_core::page::PageRequest;
use mnemic_core::sequence::SequenceFilter;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Query};
use super::parameters::WorkspacePath;
use super::responses::ReadFaults;
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::action::OutcomeWire;
use crate::wire::sequence::SequenceResponse;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    session_id: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    agent_id: Option<String>,
    /// Of one of its actions, together with `node_type` and `error_code`.
    #[param(min_length = 1, max_length = 128)]
    action_type: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    node_type: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    error_code: Option<String>,
    #[param(inline)]
    outcome: Option<OutcomeWire>,
    /// Only those that are closed, or only those that are not.
    closed: Option<bool>,
    /// Last action not before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Last action before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists sequences of actions by their last one, the latest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/sequences", tag = "telemetry", operation_id = "list_sequences",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<SequenceResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(wish): Query<ListParameters>,
) -> Result<Answer<PageResponse<SequenceResponse>>> {
    let filter = SequenceFilter {
        session_id: wish.session_id,
        agent_id: wish.agent_id,
        action_type: wish.action_type,
        node_type: wish.node_type,
        error_code: wish.error_code,
        outcome: wish.outcome.map(Into::into),
        closed: wish.closed,
        since: wish.since,
        until: wish.until,
    };
    let page = PageRequest { limit: wish.limit, cursor: wish.cursor };
    Ok(Answer(PageResponse::of(mnemic.list_sequences(&principal, &filter, &page).await?)))
}
