//! The workspace's language model, and the key to it. Which model it is, the settings say.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use mnemic_core::Mnemic;
use mnemic_core::language::ApiKey;
use mnemic_core::principal::Caller;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Json, NoParameters, Payload, Query};
use super::parameters::WorkspacePath;
use super::responses::{PutFaults, ReadFaults};
use crate::http::problem::{Problem, Result};
use crate::wire::model::{ModelKeyRequest, ModelResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(get)).routes(routes!(put_key, delete_key))
}

/// Which language model serves the workspace, and how it is.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/model", tag = "model", operation_id = "get_model",
    params(WorkspacePath),
    responses((status = 200, body = ModelResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<ModelResponse>> {
    Ok(Answer(mnemic.get_model(&principal).await?.into()))
}

/// Keeps the key to the workspace's own model, encrypted. For admins.
///
/// It is used with the address that the settings name at this moment and with no other: who
/// changes `model.provider` or `model.base_url` has to set it again. It is never shown.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/model/key", tag = "model", operation_id = "set_model_key",
    params(WorkspacePath), request_body = ModelKeyRequest,
    responses((status = 200, body = ModelResponse), PutFaults),
)]
async fn put_key(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(KeyBody(key)): Body<KeyBody>,
) -> Result<Answer<ModelResponse>> {
    let caller = Caller::new(principal);
    mnemic.set_model_key(&caller, &key).await?;
    Ok(Answer(mnemic.get_model(&caller.principal).await?.into()))
}

/// Forgets the key to the workspace's own model. For admins.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/model/key", tag = "model",
    operation_id = "delete_model_key", params(WorkspacePath),
    responses((status = 204), ReadFaults),
)]
async fn delete_key(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<StatusCode> {
    mnemic.delete_model_key(&Caller::new(principal)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A body with a key. What is wrong with it is said without quoting it.
struct KeyBody(ApiKey);

impl Payload for KeyBody {
    fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self> {
        let read = Json::<ModelKeyRequest>::read(headers, bytes);
        let detail = "the body must be a JSON object with `key`, a text, and nothing else";
        read.map(|Json(request)| Self(ApiKey::new(request.key)))
            .map_err(|problem| Problem::new(problem.code(), detail))
    }
}
