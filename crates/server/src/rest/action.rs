//! What agents did, reported in batches and listed.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use mnemic_core::Mnemic;
use mnemic_core::action::{ActionFilter, NewAction};
use mnemic_core::ids::SequenceId;
use mnemic_core::page::PageRequest;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Keyed, OneOrMany, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::action::{ActionRequest, ActionResponse, CapturedResponse, OutcomeWire};

pub(super) const ROUTE: &str = "/v1/workspaces/{ws}/actions";

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(record, list))
}

/// Reports what an agent did, or, given an array of at most 10,000, all of it or nothing.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/actions", tag = "telemetry", operation_id = "record_actions",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = OneOrMany<ActionRequest>, example = json!({
        "session_id": "run-17", "agent_id": "booker", "action_type": "update_reservation_flights",
        "outcome": "failure", "error_code": "PaymentAmountDoesNotAddUpError"
    })),
    responses((status = 201, body = CapturedResponse), WriteFaults),
)]
async fn record(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body }: Keyed<OneOrMany<ActionRequest>>,
) -> Result<(StatusCode, Answer<CapturedResponse>)> {
    let news: Vec<NewAction> = match body {
        OneOrMany::One(one) => vec![(*one).into()],
        OneOrMany::Many(many) => many.into_iter().map(Into::into).collect(),
    };
    let captured = mnemic.record_actions(&caller, &news).await?;
    Ok((StatusCode::CREATED, Answer(captured.into())))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    session_id: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    agent_id: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    action_type: Option<String>,
    #[param(min_length = 1, max_length = 128)]
    node_type: Option<String>,
    /// Only what was about this record.
    node_id: Option<Uuid>,
    #[param(inline)]
    outcome: Option<OutcomeWire>,
    #[param(min_length = 1, max_length = 128)]
    error_code: Option<String>,
    sequence_id: Option<Uuid>,
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

/// Lists what agents did, the latest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/actions", tag = "telemetry", operation_id = "list_actions",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<ActionResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(wish): Query<ListParameters>,
) -> Result<Answer<PageResponse<ActionResponse>>> {
    let filter = ActionFilter {
        session_id: wish.session_id,
        agent_id: wish.agent_id,
        action_type: wish.action_type,
        node_type: wish.node_type,
        node_id: wish.node_id,
        outcome: wish.outcome.map(Into::into),
        error_code: wish.error_code,
        sequence_id: wish.sequence_id.map(SequenceId),
        since: wish.since,
        until: wish.until,
    };
    let page = PageRequest { limit: wish.limit, cursor: wish.cursor };
    Ok(Answer(PageResponse::of(mnemic.list_actions(&principal, &filter, &page).await?)))
}
