//! Strategies: learned, found for a task, reinforced and forgotten.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::StrategyId;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Body, Id, Json, Keyed, KeyedCaller, NoParameters, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{BodyFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::strategy::{
    FoundStrategiesResponse, ReinforceRequest, StrategyRequest, StrategyResponse,
    StrategySearchRequest,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(learn))
        .routes(routes!(search))
        .routes(routes!(reinforce))
        .routes(routes!(forget))
}

/// Writes a strategy down. The same description for the same context again is the same strategy,
/// and counts.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/strategies", tag = "strategies",
    operation_id = "learn_strategy",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = StrategyRequest, example = json!({
        "description": "Bisect the commits, then read the diff", "context_pattern": "a test broke",
        "tool_sequence": ["git_bisect", "git_show"]
    })),
    responses(
        (status = 201, description = "It was not known before", body = StrategyResponse),
        (status = 200, description = "It was known, and counts once more", body = StrategyResponse),
        WriteFaults
    ),
)]
async fn learn(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<StrategyRequest>>,
) -> Result<(StatusCode, Answer<StrategyResponse>)> {
    let learned = mnemic.learn_strategy(&caller, &request.into()).await?;
    let status = if learned.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Answer(learned.strategy.into())))
}

/// The strategies for a task, by meaning and words, ranked with their success rates.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/strategies/search", tag = "strategies",
    operation_id = "find_strategies",
    params(WorkspacePath),
    request_body(content = StrategySearchRequest, example = json!({"task": "find out why the test fails"})),
    responses((status = 200, body = FoundStrategiesResponse), BodyFaults),
)]
async fn search(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<StrategySearchRequest>>,
) -> Result<Answer<FoundStrategiesResponse>> {
    Ok(Answer(mnemic.find_strategies(&principal, &request.into()).await?.into()))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct StrategyPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The strategy's id.
    id: Uuid,
}

/// Counts a success or a failure of a strategy.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/strategies/{id}/reinforce", tag = "strategies",
    operation_id = "reinforce_strategy",
    params(StrategyPath, IdempotencyKey), request_body = ReinforceRequest,
    responses((status = 200, body = StrategyResponse), WriteFaults),
)]
async fn reinforce(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<StrategyId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<ReinforceRequest>>,
) -> Result<Answer<StrategyResponse>> {
    Ok(Answer(mnemic.reinforce_strategy(&caller, id, request.success).await?.into()))
}

/// Hides a strategy. The same learned again is a new one.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/strategies/{id}", tag = "strategies",
    operation_id = "forget_strategy",
    params(StrategyPath, IdempotencyKey),
    responses((status = 204, description = "It is found no more"), WriteFaults),
)]
async fn forget(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<StrategyId>,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<StatusCode> {
    mnemic.forget_strategy(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
