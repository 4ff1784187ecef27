//! Policies: the rules of a domain, made, listed and changed.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::ids::PolicyId;
use mnemic_core::page::PageRequest;
use mnemic_core::policy::PolicyFilter;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Id, Json, Keyed, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::policy::{PolicyPatchRequest, PolicyRequest, PolicyResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list, create)).routes(routes!(patch))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListParameters {
    #[param(min_length = 1, max_length = 128)]
    domain: Option<String>,
    /// Only those that hold, or only those that do not.
    active: Option<bool>,
    /// How many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists the policies of the domains that the caller may read, newest first.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/policies", tag = "access", operation_id = "list_policies",
    params(WorkspacePath, ListParameters),
    responses((status = 200, body = PageResponse<PolicyResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<ListParameters>,
) -> Result<Answer<PageResponse<PolicyResponse>>> {
    let ListParameters { domain, active, limit, cursor } = parameters;
    let filter = PolicyFilter { domain, active };
    let page = PageRequest { limit, cursor };
    Ok(Answer(PageResponse::of(mnemic.list_policies(&principal, &filter, &page).await?)))
}

/// Makes a policy. With `required_role` it reserves writing to its domain for that role.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/policies", tag = "access", operation_id = "create_policy",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = PolicyRequest, example = json!({
        "rule": "Secrets are rotated monthly", "domain": "security", "required_role": "member"
    })),
    responses((status = 201, body = PolicyResponse), WriteFaults),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<PolicyRequest>>,
) -> Result<(StatusCode, Answer<PolicyResponse>)> {
    let made = mnemic.create_policy(&caller, request.into()).await?;
    Ok((StatusCode::CREATED, Answer(made.into())))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct PolicyPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The policy's id.
    id: Uuid,
}

/// Changes the fields that are named; null empties `required_role`.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/policies/{id}", tag = "access",
    operation_id = "update_policy",
    params(PolicyPath, IdempotencyKey), request_body = PolicyPatchRequest,
    responses((status = 200, body = PolicyResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<PolicyId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<PolicyPatchRequest>>,
) -> Result<Answer<PolicyResponse>> {
    Ok(Answer(mnemic.update_policy(&caller, id, &request.into()).await?.into()))
}
