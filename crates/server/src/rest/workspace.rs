//! Workspaces, their settings and the master toggle.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::IntoResponse;
use mnemic_core::ids::WorkspaceId;
use mnemic_core::{Error, Mnemic};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::CURRENT;
use super::extract::{Auth, Body, Json, Keyed, NoBody, NoParameters, Query, WorkspaceSegment};
use super::parameters::{IdempotencyKey, PageParameters, WorkspacePath};
use super::responses::{BodyFaults, ReadFaults, WriteFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::workspace::{
    DeletedWorkspaceResponse, SettingsRequest, SettingsResponse, WorkspaceRequest,
    WorkspaceResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(create, list))
        .routes(routes!(get, delete))
        .routes(routes!(get_settings, put_settings))
        // Kept out of the document on purpose: the settings say the same and are documented.
        .route("/v1/workspaces/{ws}/memory/enable", axum::routing::post(enable))
        .route("/v1/workspaces/{ws}/memory/disable", axum::routing::post(disable))
}

/// Makes a workspace. Operators only.
#[utoipa::path(
    post, path = "/v1/workspaces", tag = "workspaces", operation_id = "create_workspace",
    params(IdempotencyKey), request_body = WorkspaceRequest,
    responses(
        (status = 201, body = WorkspaceResponse, headers(("Location" = String))),
        WriteFaults,
    ),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body: Json(request) }: Keyed<Json<WorkspaceRequest>>,
) -> Result<impl IntoResponse> {
    let workspace = mnemic.create_workspace(&caller, &request.name).await?;
    let location = format!("/v1/workspaces/{}", workspace.id);
    let answer = Answer(WorkspaceResponse::from(workspace));
    Ok((StatusCode::CREATED, [(LOCATION, location)], answer))
}

/// Lists workspaces: an operator sees all, everybody else their own.
#[utoipa::path(
    get, path = "/v1/workspaces", tag = "workspaces", operation_id = "list_workspaces",
    params(PageParameters),
    responses((status = 200, body = PageResponse<WorkspaceResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(page): Query<PageParameters>,
) -> Result<Answer<PageResponse<WorkspaceResponse>>> {
    let page = mnemic.list_workspaces(&principal, &page.into()).await?;
    Ok(Answer(PageResponse::of(page)))
}

/// The token's own workspace.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}", tag = "workspaces", operation_id = "get_workspace",
    params(WorkspacePath),
    responses((status = 200, body = WorkspaceResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<WorkspaceResponse>> {
    Ok(Answer(mnemic.own_workspace(&principal).await?.into()))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteParameters {
    /// Remove every row of it, without a way back.
    #[serde(default)]
    #[param(required = false)]
    hard: bool,
}

/// Hides a workspace and refuses its tokens at once, or removes it for good.
///
/// An operator may name any workspace here, an admin only the token's own.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}", tag = "workspaces", operation_id = "delete_workspace",
    params(WorkspacePath, DeleteParameters),
    responses((status = 200, body = DeletedWorkspaceResponse), ReadFaults),
)]
async fn delete(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    WorkspaceSegment(ws): WorkspaceSegment,
    Query(parameters): Query<DeleteParameters>,
) -> Result<Answer<DeletedWorkspaceResponse>> {
    let id = match ws.as_str() {
        CURRENT => principal.workspace_id,
        other => other.parse::<WorkspaceId>().map_err(|_| Error::not_found("workspace"))?,
    };
    let erasure = mnemic.delete_workspace(&principal, id, parameters.hard).await?;
    Ok(Answer(DeletedWorkspaceResponse::of(id.0, erasure)))
}

/// The workspace's settings.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/settings", tag = "workspaces", operation_id = "get_settings",
    params(WorkspacePath),
    responses((status = 200, body = SettingsResponse), ReadFaults),
)]
async fn get_settings(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<SettingsResponse>> {
    Ok(Answer(mnemic.own_workspace(&principal).await?.settings.into()))
}

/// Changes the settings that are named; the others stay.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/settings", tag = "workspaces", operation_id = "put_settings",
    params(WorkspacePath), request_body = SettingsRequest,
    responses((status = 200, body = SettingsResponse), BodyFaults),
)]
async fn put_settings(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<SettingsRequest>>,
) -> Result<Answer<SettingsResponse>> {
    let patch = serde_json::to_value(request)
        .map_err(|e| Error::internal("the settings cannot be passed on").caused_by(e))?;
    Ok(Answer(mnemic.update_settings(&principal, &patch).await?.into()))
}

async fn enable(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(NoBody): Body<NoBody>,
) -> Result<Answer<SettingsResponse>> {
    Ok(Answer(mnemic.toggle_memory(&principal, true).await?.into()))
}

async fn disable(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(NoBody): Body<NoBody>,
) -> Result<Answer<SettingsResponse>> {
    Ok(Answer(mnemic.toggle_memory(&principal, false).await?.into()))
}
