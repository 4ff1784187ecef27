//! The graph as a whole: its edges, what is found in it, and what goes with its source.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json as Answer};
use mnemic_core::Mnemic;
use mnemic_core::edge::NewEdge;
use mnemic_core::ids::EdgeId;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::extract::{
    Auth, Body, ConnectionId, Id, Json, Keyed, KeyedCaller, NoParameters, OneOrMany, Query,
};
use super::node::status;
use super::parameters::{IdempotencyKey, WorkspacePath};
use super::responses::{BodyFaults, WriteFaults};
use crate::capture::Targets;
use crate::http::problem::Result;
use crate::wire::edge::{EdgeRequest, EdgeResponse};
use crate::wire::erasure::ReceiptResponse;
use crate::wire::node::{NodeSearchRequest, NodeSearchResponse, TraverseRequest, TraverseResponse};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default()
        .routes(routes!(link))
        .routes(routes!(unlink))
        .routes(routes!(search))
        .routes(routes!(traverse))
        .routes(routes!(erase_connection))
}

/// The edge, or all of them in the order given.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum EdgesResponse {
    One(Box<EdgeResponse>),
    Many { items: Vec<EdgeResponse> },
}

/// Joins two records of the workspace, or brings what is given into the edge that joins them in
/// this relation already. Given an array, all of it or nothing.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/edges", tag = "ontology", operation_id = "create_edge",
    params(WorkspacePath, IdempotencyKey), request_body = OneOrMany<EdgeRequest>,
    responses(
        (status = 201, description = "It is new", body = EdgesResponse),
        (status = 200, description = "It was there", body = EdgesResponse),
        WriteFaults,
    ),
)]
async fn link(
    State(mnemic): State<Arc<Mnemic>>,
    Keyed { caller, body }: Keyed<OneOrMany<EdgeRequest>>,
) -> Result<Response> {
    let one = match body {
        OneOrMany::One(one) => NewEdge::from(*one),
        OneOrMany::Many(many) => {
            let news: Vec<_> = many.into_iter().map(NewEdge::from).collect();
            let linked = mnemic.link_all(&caller, &news).await?;
            let created = linked.iter().any(|linked| linked.created);
            let items = linked.into_iter().map(|linked| linked.edge.into()).collect();
            return Ok((status(created), Answer(EdgesResponse::Many { items })).into_response());
        }
    };
    let linked = mnemic.link(&caller, &one).await?;
    let targets = Extension(Targets(vec![linked.edge.source_id, linked.edge.target_id]));
    let answer = Answer(EdgesResponse::One(Box::new(linked.edge.into())));
    Ok((status(linked.created), targets, answer).into_response())
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct EdgePath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The edge's id.
    id: Uuid,
}

/// Says that an edge no longer holds. Walks as of a time before still take it.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/ontology/edges/{id}", tag = "ontology",
    operation_id = "delete_edge",
    params(EdgePath, IdempotencyKey),
    responses((status = 204, description = "It no longer holds"), WriteFaults),
)]
async fn unlink(
    State(mnemic): State<Arc<Mnemic>>,
    Id(id): Id<EdgeId>,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<StatusCode> {
    mnemic.unlink(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Finds nodes: by name or alias first, then by how a name begins, then by words.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/search", tag = "ontology",
    operation_id = "search_nodes",
    params(WorkspacePath),
    request_body(content = NodeSearchRequest, example = json!({"query": "Ana", "types": ["person"]})),
    responses((status = 200, body = NodeSearchResponse), BodyFaults),
)]
async fn search(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<NodeSearchRequest>>,
) -> Result<Answer<NodeSearchResponse>> {
    Ok(Answer(mnemic.search_nodes(&principal, &request.into()).await?.into()))
}

/// Walks from some nodes or memories outwards, up to three steps. Ids of nothing lead nowhere.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/ontology/traverse", tag = "ontology",
    operation_id = "traverse",
    params(WorkspacePath), request_body = TraverseRequest,
    responses((status = 200, body = TraverseResponse), BodyFaults),
)]
async fn traverse(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Body(Json(request)): Body<Json<TraverseRequest>>,
) -> Result<(Extension<Targets>, Answer<TraverseResponse>)> {
    let targets = Extension(Targets(request.ids.clone()));
    Ok((targets, Answer(mnemic.traverse(&principal, &request.into()).await?.into())))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct ConnectionPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The `connection_id` that nodes were made with.
    #[param(min_length = 1, max_length = 128)]
    id: String,
}

/// Erases every node that came from a connection, with its edges, and counts them.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/ontology/connections/{id}", tag = "ontology",
    operation_id = "erase_connection",
    params(ConnectionPath, IdempotencyKey),
    responses((status = 200, body = ReceiptResponse), WriteFaults),
)]
async fn erase_connection(
    State(mnemic): State<Arc<Mnemic>>,
    ConnectionId(id): ConnectionId,
    Query(NoParameters {}): Query<NoParameters>,
    KeyedCaller(caller): KeyedCaller,
) -> Result<Answer<ReceiptResponse>> {
    Ok(Answer(mnemic.erase_connection(&caller, &id).await?.into()))
}
