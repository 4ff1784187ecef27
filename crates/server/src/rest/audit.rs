//! The audit.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Query};
use super::parameters::WorkspacePath;
use super::responses::ReadFaults;
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::audit::{AuditEntryResponse, AuditRequest};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list))
}

/// What was done in this workspace, newest first. For admins and members.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/audit", tag = "audit", operation_id = "list_audit",
    params(WorkspacePath, AuditRequest),
    responses((status = 200, body = PageResponse<AuditEntryResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(request): Query<AuditRequest>,
) -> Result<Answer<PageResponse<AuditEntryResponse>>> {
    let (filter, page) = request.into();
    Ok(Answer(PageResponse::of(mnemic.list_audit(&principal, &filter, &page).await?)))
}
