//! Tools over the graph. Names and descriptions were stored by somebody: they are quoted on one
//! line each and said to be data.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::ids::{EdgeId, NodeId};
use mnemic_core::node::NodePatch;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::erasure;
use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::edge::{EdgeRequest, EdgeResponse};
use crate::wire::erasure::ReceiptResponse;
use crate::wire::node::{
    MergeRequest, NodePatchRequest, NodeRequest, NodeResponse, NodeSearchRequest,
    NodeSearchResponse, SplitRequest, SplitResponse, TraverseRequest, TraverseResponse,
    VisitResponse,
};

pub(super) fn tools() -> Vec<Tool> {
    let mut tools = reading();
    tools.extend(writing());
    tools.extend(tidying());
    tools
}

fn reading() -> Vec<Tool> {
    vec![
        Tool::new(
            "ontology.search",
            "Search the graph",
            Effect::Read,
            "Find nodes (people, projects, places, …) by a name, the beginning of one, or words.",
            search,
        )
        .verbatim(),
        Tool::new(
            "ontology.get_node",
            "Get a node",
            Effect::Read,
            "Read one node of the graph by its id.",
            get_node,
        )
        .verbatim(),
        Tool::new(
            "ontology.traverse",
            "Walk the graph",
            Effect::Read,
            "Walk from nodes or memories over their edges, one to three steps, to see how things \
             are related. Narrow it by relations (such as WORKS_FOR) and types (such as person; \
             `memory` for memories). as_of asks about the world at a time. The relation \
             _mem:references leads from a node to what was done with it.",
            traverse,
        )
        .verbatim(),
    ]
}

fn writing() -> Vec<Tool> {
    vec![
        Tool::new(
            "ontology.create_node",
            "Make a node",
            Effect::Set,
            "Add a thing to the graph: its type, its name, other names. If a node of that type \
             and channel has the name or an alias already, what you give is added to it.",
            create_node,
        )
        .verbatim(),
        Tool::new(
            "ontology.update_node",
            "Change a node",
            Effect::Destroy,
            "Change fields of a node. `aliases` replaces all of them, `properties` are changed \
             field by field (null removes one), `clear` empties fields.",
            update_node,
        )
        .verbatim(),
        Tool::new(
            "ontology.delete_node",
            "Delete a node",
            Effect::Destroy,
            "Hide a node from search and walks and close its edges, or erase it with `hard`.",
            delete_node,
        ),
        Tool::new(
            "ontology.create_edge",
            "Make an edge",
            Effect::Set,
            "Relate two nodes or memories: source, relation in capitals such as WORKS_FOR, \
             target; valid_from and valid_to say when it is true in the world.",
            create_edge,
        )
        .verbatim(),
        Tool::new(
            "ontology.delete_edge",
            "Delete an edge",
            Effect::Destroy,
            "Say that an edge no longer holds. Walks as of a time before still take it.",
            delete_edge,
        ),
    ]
}

fn tidying() -> Vec<Tool> {
    vec![
        Tool::new(
            "ontology.merge_nodes",
            "Merge two nodes",
            Effect::Destroy,
            "Make two nodes that are the same thing one: names and edges go to `into`, the other \
             is hidden.",
            merge_nodes,
        )
        .verbatim(),
        Tool::new(
            "ontology.split_node",
            "Split a node",
            Effect::Add,
            "Make one node that stands for two things two: the given aliases and edges go to a \
             new one.",
            split_node,
        )
        .verbatim(),
        Tool::new(
            "ontology.delete_connection",
            "Delete a connection's nodes",
            Effect::Destroy,
            "Erase every node that came from a connection, with its edges. There is no way back; \
             needs the role admin or member.",
            delete_connection,
        ),
    ]
}

/// The one node that a tool is about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfNode {
    /// The node's id (a UUID).
    id: Uuid,
}

impl Subject for OfNode {
    const FIELDS: &'static [&'static str] = &["id"];
}

async fn search(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: NodeSearchRequest,
) -> Result<Reply<NodeSearchResponse>> {
    let hits = mnemic.search_nodes(&caller.principal, &input.into()).await?;
    let value = NodeSearchResponse::from(hits);
    let mut text = text::DATA.to_owned();
    for hit in &value.items {
        push_node(&mut text, &hit.node);
    }
    if value.items.is_empty() {
        "No node was found.".clone_into(&mut text);
    }
    Ok(Reply { value, text })
}

async fn get_node(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfNode,
) -> Result<Reply<NodeResponse>> {
    let value = NodeResponse::from(mnemic.get_node(&caller.principal, NodeId(input.id)).await?);
    let mut text = text::DATA.to_owned();
    push_node(&mut text, &value);
    Ok(Reply { value, text })
}

async fn traverse(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: TraverseRequest,
) -> Result<Reply<TraverseResponse>> {
    let graph = mnemic.traverse(&caller.principal, &input.into()).await?;
    let value = TraverseResponse::from(graph);
    let text = graph_text(&value);
    Ok(Reply { value, text })
}

async fn create_node(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: NodeRequest,
) -> Result<Reply<NodeResponse>> {
    let upserted = mnemic.upsert_node(&caller, &input.into()).await?;
    let id = upserted.node.id;
    let text = if upserted.created {
        format!("Made the node {id}.")
    } else {
        format!("It was there already: the node {id}, with what you gave.")
    };
    Ok(Reply { value: upserted.node.into(), text })
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Description,
    Domain,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Target {
    /// The node's id (a UUID).
    id: Uuid,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for Target {
    const FIELDS: &'static [&'static str] = &["id", "clear"];
}

async fn update_node(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<Target, NodePatchRequest>,
) -> Result<Reply<NodeResponse>> {
    let mut patch = NodePatch::from(input.body);
    for field in input.subject.clear {
        match field {
            Clearable::Description => patch.description = Some(None),
            Clearable::Domain => patch.domain = Some(None),
        }
    }
    let node = mnemic.update_node(&caller, NodeId(input.subject.id), &patch).await?;
    let text = format!("Changed the node {}.", node.id);
    Ok(Reply { value: node.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteInput {
    /// The node's id (a UUID).
    id: Uuid,
    /// Erase it for good. There is no way back; needs the role admin or member.
    #[serde(default)]
    hard: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Deleted {
    id: Uuid,
    /// What was erased, if it was erased for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptResponse>,
}

async fn delete_node(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: DeleteInput,
) -> Result<Reply<Deleted>> {
    let DeleteInput { id, hard } = input;
    if hard {
        let receipt = ReceiptResponse::from(mnemic.erase_node(&caller, NodeId(id)).await?);
        let text = format!("Erased the node {id} for good. {}", erasure::told(&receipt));
        return Ok(Reply { value: Deleted { id, receipt: Some(receipt) }, text });
    }
    mnemic.delete_node(&caller, NodeId(id)).await?;
    let text = format!("Deleted the node {id}.");
    Ok(Reply { value: Deleted { id, receipt: None }, text })
}

async fn create_edge(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: EdgeRequest,
) -> Result<Reply<EdgeResponse>> {
    let linked = mnemic.link(&caller, &input.into()).await?;
    let id = linked.edge.id;
    let text = if linked.created {
        format!("Made the edge {id}.")
    } else {
        format!("It was there already: the edge {id}, with what you gave.")
    };
    Ok(Reply { value: linked.edge.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfEdge {
    /// The edge's id (a UUID).
    id: Uuid,
}

async fn delete_edge(mnemic: Arc<Mnemic>, caller: Caller, input: OfEdge) -> Result<Reply<Deleted>> {
    mnemic.unlink(&caller, EdgeId(input.id)).await?;
    let text = format!("The edge {} no longer holds.", input.id);
    Ok(Reply { value: Deleted { id: input.id, receipt: None }, text })
}

async fn merge_nodes(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfNode, MergeRequest>,
) -> Result<Reply<NodeResponse>> {
    let (id, into) = (input.subject.id, input.body.into);
    let node = mnemic.merge_nodes(&caller, NodeId(id), NodeId(into)).await?;
    Ok(Reply { value: node.into(), text: format!("{id} is now part of {into}.") })
}

async fn split_node(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfNode, SplitRequest>,
) -> Result<Reply<SplitResponse>> {
    let id = NodeId(input.subject.id);
    let split = mnemic.split_node(&caller, id, &input.body.into()).await?;
    let text = format!("Split the new node {} off {id}.", split.split_off.id);
    Ok(Reply { value: split.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfConnection {
    /// The connection_id that nodes were made with.
    connection_id: String,
}

async fn delete_connection(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfConnection,
) -> Result<Reply<ReceiptResponse>> {
    let receipt = mnemic.erase_connection(&caller, &input.connection_id).await?;
    Ok(erasure::reply(receipt.into()))
}

fn push_node(text: &mut String, node: &NodeResponse) {
    let _ = write!(text, "\n- {} {} {}", node.id, quoted(&node.node_type), quoted(&node.name));
    if !node.aliases.is_empty() {
        let aliases: Vec<_> = node.aliases.iter().map(|alias| quoted(alias)).collect();
        let _ = write!(text, ", also {}", aliases.join(", "));
    }
    if let Some(description) = &node.description {
        let _ = write!(text, ": {}", quoted(description));
    }
}

fn graph_text(graph: &TraverseResponse) -> String {
    if graph.nodes.is_empty() {
        return "Nothing is there under these ids.".to_owned();
    }
    let mut text = format!("{}\nNodes:", text::DATA);
    for VisitResponse { id, node_type, name, .. } in &graph.nodes {
        let _ = write!(text, "\n- {id} {} {}", quoted(node_type), quoted(name));
    }
    text.push_str("\nEdges:");
    for EdgeResponse { source_id, relation, target_id, .. } in &graph.edges {
        let _ = write!(text, "\n- {source_id} {relation} {target_id}");
    }
    if graph.truncated {
        text.push_str("\nThere is more than this: narrow it by relations or types.");
    }
    text
}
