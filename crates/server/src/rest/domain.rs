//! Domains: the knowledge areas that grants and policies are about.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use mnemic_core::Mnemic;
use mnemic_core::grant::Permission;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Json, Keyed, NoParameters, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::domain::{DomainRequest, DomainResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list, create))
}

/// The domains that the caller may read, by name.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/domains", tag = "access", operation_id = "list_domains",
    params(WorkspacePath),
    responses((status = 200, body = PageResponse<DomainResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<PageResponse<DomainResponse>>> {
    let items = mnemic.list_domains(&principal).await?.into_iter().map(Into::into).collect();
    Ok(Answer(PageResponse { items, next_cursor: None }))
}

/// Makes a domain, or describes one that was only named so far.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/domains", tag = "access", operation_id = "create_domain",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = DomainRequest, example = json!({"name": "security", "description": "Keys, secrets and incidents"})),
    responses((status = 201, body = DomainResponse), WriteFaults),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<DomainRequest>>,
) -> Result<(StatusCode, Answer<DomainResponse>)> {
    let DomainRequest { name, description } = request;
    let made = mnemic.create_domain(&caller, &name, description.as_deref()).await?;
    // Whoever could make it may write to it.
    Ok((StatusCode::CREATED, Answer((made, Permission::Write).into())))
}
