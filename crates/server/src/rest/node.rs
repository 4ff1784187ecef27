//! Nodes of the graph: made or found, read, changed, merged, split and deleted.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use mnemic_core::Mnemic;
use mnemic_core::ids::NodeId;
use mnemic_core::node::NewNode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{Auth, Id, Json, Keyed, KeyedCaller, NoParameters, OneOrMany, Query};
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{ReadFaults, WriteFaults};
use crate::capture::Targets;
use crate::http::problem::Result;
use crate::wire::erasure::ReceiptResponse;
use crate::wire::node::{
    MergeRequest, NodePatchRequest, NodeRequest, NodeResponse, SplitRequest, SplitResponse,
};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(create))
        .routes(routes!(get, patch, delete))
        .routes(routes!(merge))
        .routes(routes!(split))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct NodePath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The node's id.
    id: Uuid,
}

/// The node, or all of them in the order given.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum NodesResponse {
    One(Box<NodeResponse>),
    Many { items: Vec<NodeResponse> },
}

/// 201 if anything is new, else 200.
pub(super) fn status(created: bool) -> StatusCode {
    if created { StatusCode::CREATED } else { StatusCode::OK }
}

/// Makes a node, or brings what is given into the one of its channel and type that has its name
/// or an alias. Given an array, all of it or nothing.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/nodes", tag = "ontology", operation_id = "create_node",
    params(WorkspacePath, IdempotencyKey),
    request_body(content = OneOrMany<NodeRequest>, example = json!({"type": "person", "name": "Ana Díaz", "aliases": ["Ana"]})),
    responses(
        (status = 201, description = "It is new", body = NodesResponse, headers(("Location" = String, description = "Of a single node"))),
        (status = 200, description = "It was there", body = NodesResponse),
        WriteFaults,
    ),
)]
async fn create(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body }: Keyed<OneOrMany<NodeRequest>>,
) -> Result<Response> {
    let one = match body {
        OneOrMany::One(one) => NewNode::from(*one),
        OneOrMany::Many(many) => {
            let news: Vec<_> = many.into_iter().map(NewNode::from).collect();
            let upserted = mnemic.upsert_nodes(&caller, &news).await?;
            let created = upserted.iter().any(|upserted| upserted.created);
            let targets = upserted.iter().map(|upserted| upserted.node.id.0).collect();
            let items = upserted.into_iter().map(|upserted| upserted.node.into()).collect();
            let answer = Answer(NodesResponse::Many { items });
            return Ok((status(created), Extension(Targets(targets)), answer).into_response());
        }
    };
    let upserted = mnemic.upsert_node(&caller, &one).await?;
    let (ws, id) = (caller.principal.workspace_id, upserted.node.id);
    let location = format!("/v1/workspaces/{ws}/ontology/nodes/{id}");
    let answer = Answer(NodesResponse::One(Box::new(upserted.node.into())));
    let targets = Extension(Targets(vec![id.0]));
    Ok((status(upserted.created), [(LOCATION, location)], targets, answer).into_response())
}

/// One node, unless it is deleted.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/ontology/nodes/{id}", tag = "ontology",
    operation_id = "get_node",
    params(NodePath),
    responses((status = 200, body = NodeResponse), ReadFaults),
)]
async fn get(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Id(id): Id<NodeId>,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<NodeResponse>> {
    Ok(Answer(mnemic.get_node(&principal, id).await?.into()))
}

/// Changes the fields that are named; null empties those that may be empty.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/ontology/nodes/{id}", tag = "ontology",
    operation_id = "update_node",
    params(NodePath, IdempotencyKey), request_body = NodePatchRequest,
    responses((status = 200, body = NodeResponse), WriteFaults),
)]
async fn patch(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<NodeId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<NodePatchRequest>>,
) -> Result<Answer<NodeResponse>> {
    Ok(Answer(mnemic.update_node(&caller, id, &request.into()).await?.into()))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteParameters {
    /// Erase it with its edges instead of hiding it.
    #[serde(default)]
    #[param(required = false)]
    hard: bool,
}

/// Hides a node from search and traversal, frees its names and closes its edges; with `hard`,
/// erases them all.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/ontology/nodes/{id}", tag = "ontology",
    operation_id = "delete_node",
    params(NodePath, DeleteParameters, IdempotencyKey),
    responses(
        (status = 200, description = "It was erased", body = ReceiptResponse),
        (status = 204, description = "It is hidden"),
        WriteFaults,
    ),
)]
async fn delete(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<NodeId>,
    Query(parameters): Query<DeleteParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Response> {
    if parameters.hard {
        let receipt = ReceiptResponse::from(mnemic.erase_node(&caller, id).await?);
        return Ok(Answer(receipt).into_response());
    }
    mnemic.delete_node(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Makes two nodes one: names and edges go to the other, and this one is hidden.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/nodes/{id}/merge", tag = "ontology",
    operation_id = "merge_nodes",
    params(NodePath, IdempotencyKey), request_body = MergeRequest,
    responses((status = 200, description = "The node that is left", body = NodeResponse), WriteFaults),
)]
async fn merge(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<NodeId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<MergeRequest>>,
) -> Result<Answer<NodeResponse>> {
    Ok(Answer(mnemic.merge_nodes(&caller, id, NodeId(request.into)).await?.into()))
}

/// Makes one node two: the given aliases and edges go to a new one.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/nodes/{id}/split", tag = "ontology",
    operation_id = "split_node",
    params(NodePath, IdempotencyKey), request_body = SplitRequest,
    responses((status = 201, body = SplitResponse), WriteFaults),
)]
async fn split(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<NodeId>,
    Keyed { caller, body: Json(request) }: Keyed<Json<SplitRequest>>,
) -> Result<(StatusCode, Answer<SplitResponse>)> {
    let split = mnemic.split_node(&caller, id, &request.into()).await?;
    Ok((StatusCode::CREATED, Answer(split.into())))
}
