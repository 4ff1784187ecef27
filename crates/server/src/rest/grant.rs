//! Grants: what a role may do in a domain. They are put as a whole, so repeating it is harmless
//! and `Idempotency-Key` has no effect.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::Mnemic;
use mnemic_core::grant::Grant;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, JsonArray, NoParameters, Query};
use super::parameters::WorkspacePath;
use super::responses::{PutFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::grant::GrantWire;

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list, put))
}

/// The grants: all of them for admins, those that concern them for others.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/grants", tag = "access", operation_id = "list_grants",
    params(WorkspacePath),
    responses((status = 200, body = PageResponse<GrantWire>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<PageResponse<GrantWire>>> {
    Ok(page(mnemic.list_grants(&principal).await?))
}

/// Puts these in the place of all grants there were. For admins.
///
/// Without a grant a domain is open. The most particular grant decides: that of the role and the
/// domain, then that of all roles (`*`) for the domain, then that of the role for all domains
/// (`*`), then that of all for all. Admins are bound by none.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/grants", tag = "access", operation_id = "set_grants",
    params(WorkspacePath),
    request_body(content = Vec<GrantWire>, example = json!([
        {"role": "*", "domain": "security", "permission": "none"},
        {"role": "member", "domain": "security", "permission": "write"}
    ])),
    responses((status = 200, body = PageResponse<GrantWire>), PutFaults),
)]
async fn put(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(JsonArray(grants)): Body<JsonArray<GrantWire>>,
) -> Result<Answer<PageResponse<GrantWire>>> {
    let grants = grants.into_iter().map(Into::into).collect();
    Ok(page(mnemic.set_grants(&principal, grants).await?))
}

fn page(grants: Vec<Grant>) -> Answer<PageResponse<GrantWire>> {
    let items = grants.into_iter().map(Into::into).collect();
    Answer(PageResponse { items, next_cursor: None })
}
