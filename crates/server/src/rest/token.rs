//! Bearer tokens. Creating one takes no `Idempotency-Key`: its secret is shown once and kept
//! nowhere, so there is no first answer to give again.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::TokenId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Id, Json, NoParameters, Query};
use super::parameters::PageParameters;
use super::responses::{BodyFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::token::{NewTokenResponse, TokenRequest, TokenResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(revoke))
}

/// Makes a token. Its secret is in this answer and nowhere else.
///
/// `Idempotency-Key` has no effect here: the secret is not kept, so it cannot be given again.
#[utoipa::path(
    post, path = "/v1/tokens", tag = "tokens", operation_id = "create_token",
    request_body = TokenRequest,
    responses((status = 201, body = NewTokenResponse), BodyFaults),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<TokenRequest>>,
) -> Result<(StatusCode, Answer<NewTokenResponse>)> {
    let made = mnemic.create_token(&principal, request.into()).await?;
    Ok((StatusCode::CREATED, Answer(made.into())))
}

/// Lists the tokens that the caller may manage, newest first, without their secrets.
#[utoipa::path(
    get, path = "/v1/tokens", tag = "tokens", operation_id = "list_tokens",
    params(PageParameters),
    responses((status = 200, body = PageResponse<TokenResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(page): Query<PageParameters>,
) -> Result<Answer<PageResponse<TokenResponse>>> {
    Ok(Answer(PageResponse::of(mnemic.list_tokens(&principal, &page.into()).await?)))
}

/// Revokes a token from the next request on. Revoking it twice is no error.
#[utoipa::path(
    delete, path = "/v1/tokens/{id}", tag = "tokens", operation_id = "revoke_token",
    params(("id" = uuid::Uuid, Path, description = "The token's id")),
    responses((status = 204, description = "It is revoked"), ReadFaults),
)]
async fn revoke(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<TokenId>,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<StatusCode> {
    mnemic.revoke_token(&principal, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
