//! Profiles of users: read, and merged into.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Json, Keyed, NoParameters, Query, UserSegment};
use super::parameters::{IdempotencyKey, UserPath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::profile::{ProfileRequest, ProfileResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(get, put))
}

/// The profile of a user: one's own, or for admins and members anybody's.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/users/{user}/profile", tag = "profiles",
    operation_id = "get_profile",
    params(UserPath),
    responses((status = 200, body = ProfileResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    UserSegment(user): UserSegment,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<ProfileResponse>> {
    Ok(Answer(mnemic.get_profile(&principal, &user).await?.into()))
}

/// Merges into the profile of a user, which is made if need be. Null removes.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/users/{user}/profile", tag = "profiles",
    operation_id = "update_profile",
    params(UserPath, IdempotencyKey),
    request_body(content = ProfileRequest, example = json!({
        "preferences": {"units": "metric"}, "expertise": ["rust"], "communication_style": "brief"
    })),
    responses((status = 200, body = ProfileResponse), WriteFaults),
)]
async fn put(
    State(mnemic): State<Arc<Mnemic>>,
    UserSegment(user): UserSegment,
    Keyed { caller, body: Json(request) }: Keyed<Json<ProfileRequest>>,
) -> Result<Answer<ProfileResponse>> {
    Ok(Answer(mnemic.update_profile(&caller, &user, &request.into()).await?.into()))
}
