//! Nodes of the graph on the wire.

use jiff::Timestamp;
use mnemic_core::ids::EdgeId;
use mnemic_core::node::{
    Direction, Match, NewNode, Node, NodeFilter, NodeHit, NodePatch, NodeSearch, NodeSplit,
    Properties, Record, SplitNode, Subgraph, Traversal, Visit,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::edge::EdgeResponse;
use super::memory::KindWire;
use super::nullable;

/// A node to be made, or to be brought into the one that has its name or an alias.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeRequest {
    /// What it is, such as person, company or place.
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 128)]
    pub node_type: String,
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// Other names of the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub aliases: Option<Vec<String>>,
    /// One or two sentences; documents belong elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 8192)]
    pub description: Option<String>,
    /// A JSON object of at most 16,384 bytes. Given fields replace those that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub properties: Option<Properties>,
    /// `_global` (the default) or a project's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub domain: Option<String>,
    /// How much it stands out, 0 to 1; 0.5 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub salience: Option<f64>,
    /// The source that it comes from, with which it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub connection_id: Option<String>,
    /// Make it even if the same was erased before; needs the role admin or member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revive: Option<bool>,
}

impl From<NodeRequest> for NewNode {
    fn from(request: NodeRequest) -> Self {
        Self {
            node_type: request.node_type,
            name: request.name,
            aliases: request.aliases.unwrap_or_default(),
            channel: request.channel,
            domain: request.domain,
            description: request.description,
            properties: request.properties.unwrap_or_default(),
            salience: request.salience,
            connection_id: request.connection_id,
            revive: request.revive.unwrap_or(false),
        }
    }
}

/// What to change; absent fields stay, null empties those that may be empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodePatchRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub name: Option<String>,
    /// In the place of all that it has.
    #[schema(max_items = 100)]
    pub aliases: Option<Vec<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 8192)]
    pub description: Option<Option<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub domain: Option<Option<String>>,
    /// Given fields replace those that are there; null removes one.
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub properties: Option<Properties>,
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub salience: Option<f64>,
    /// Take names even if they were erased before; needs the role admin or member.
    pub revive: Option<bool>,
}

impl From<NodePatchRequest> for NodePatch {
    fn from(request: NodePatchRequest) -> Self {
        Self {
            name: request.name,
            aliases: request.aliases,
            domain: request.domain,
            description: request.description,
            properties: request.properties,
            salience: request.salience,
            revive: request.revive.unwrap_or(false),
        }
    }
}

/// A node as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct NodeResponse {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub node_type: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub properties: Properties,
    pub salience: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub first_seen: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_accessed: Option<Timestamp>,
    pub access_count: i64,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<Node> for NodeResponse {
    fn from(node: Node) -> Self {
        Self {
            id: node.id.0,
            node_type: node.node_type,
            name: node.name,
            aliases: node.aliases,
            channel: node.channel,
            domain: node.domain,
            description: node.description,
            properties: node.properties,
            salience: node.salience,
            connection_id: node.connection_id,
            first_seen: node.first_seen,
            last_accessed: node.last_accessed,
            access_count: node.access_count,
            created_by: node.created_by,
            created_at: node.created_at,
            updated_at: node.updated_at,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeRequest {
    /// The node that stays and takes all names and edges.
    pub into: Uuid,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitRequest {
    /// What the new node is called.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// The node's own type, if absent.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub node_type: Option<String>,
    /// Aliases of the node that go to the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub aliases: Option<Vec<String>>,
    /// Edges of the node that go to the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub edge_ids: Option<Vec<Uuid>>,
}

impl From<SplitRequest> for NodeSplit {
    fn from(request: SplitRequest) -> Self {
        let edge_ids = request.edge_ids.unwrap_or_default();
        Self {
            name: request.name,
            node_type: request.node_type,
            aliases: request.aliases.unwrap_or_default(),
            edge_ids: edge_ids.into_iter().map(EdgeId).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SplitResponse {
    /// The node that stayed.
    pub node: NodeResponse,
    /// The new one.
    pub split_off: NodeResponse,
}

impl From<SplitNode> for SplitResponse {
    fn from(SplitNode { node, split_off }: SplitNode) -> Self {
        Self { node: node.into(), split_off: split_off.into() }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSearchRequest {
    /// A name, the beginning of one, or words.
    #[schema(min_length = 1, max_length = 8192)]
    pub query: String,
    /// Only nodes of these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 8)]
    pub types: Option<Vec<String>>,
    /// Only this channel and `_global`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// 20 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
}

impl From<NodeSearchRequest> for NodeSearch {
    fn from(request: NodeSearchRequest) -> Self {
        let types = request.types.unwrap_or_default();
        let filter = NodeFilter { types, channel: request.channel };
        Self { query: request.query, filter, limit: request.limit }
    }
}

/// What made a node a hit: its name or an alias, how one begins, or words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchWire {
    Name,
    Prefix,
    Words,
}

/// A node that was found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct NodeHitResponse {
    pub node: NodeResponse,
    pub matched: MatchWire,
    pub score: f64,
}

impl From<NodeHit> for NodeHitResponse {
    fn from(hit: NodeHit) -> Self {
        let matched = match hit.matched {
            Match::Name => MatchWire::Name,
            Match::Prefix => MatchWire::Prefix,
            Match::Words => MatchWire::Words,
        };
        Self { node: hit.node.into(), matched, score: hit.score }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct NodeSearchResponse {
    /// Best first.
    pub items: Vec<NodeHitResponse>,
}

impl From<Vec<NodeHit>> for NodeSearchResponse {
    fn from(hits: Vec<NodeHit>) -> Self {
        Self { items: hits.into_iter().map(Into::into).collect() }
    }
}

/// Along the edges, against them, or both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectionWire {
    Out,
    In,
    Both,
}

impl From<DirectionWire> for Direction {
    fn from(direction: DirectionWire) -> Self {
        match direction {
            DirectionWire::Out => Self::Out,
            DirectionWire::In => Self::In,
            DirectionWire::Both => Self::Both,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraverseRequest {
    /// Nodes or memories to start from.
    #[schema(min_items = 1, max_items = 100)]
    pub ids: Vec<Uuid>,
    /// How many steps to go; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3)]
    pub depth: Option<u32>,
    /// Only over edges of these relations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 8)]
    pub relations: Option<Vec<String>>,
    /// Only to nodes of these types; `memory` for memories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 8)]
    pub types: Option<Vec<String>>,
    /// Both ways if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<DirectionWire>,
    /// The most nodes to return; 100 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// As it was in the world at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub as_of: Option<Timestamp>,
    /// As far as we knew at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub known_at: Option<Timestamp>,
}

impl From<TraverseRequest> for Traversal {
    fn from(request: TraverseRequest) -> Self {
        Self {
            ids: request.ids,
            depth: request.depth.unwrap_or(1),
            relations: request.relations.unwrap_or_default(),
            types: request.types.unwrap_or_default(),
            direction: request.direction.map(Into::into).unwrap_or_default(),
            limit: request.limit,
            as_of: request.as_of,
            known_at: request.known_at,
        }
    }
}

/// A node or a memory, as far as a walk shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct VisitResponse {
    pub id: Uuid,
    /// `memory` for memories.
    #[serde(rename = "type")]
    pub node_type: String,
    /// Of a memory or turn, the beginning of its content; of a conversation, its id; of an action
    /// (`_mem:action`) or sequence (`_mem:sequence`), what was done.
    pub name: String,
    /// How many steps from where the walk started.
    pub depth: u32,
    pub channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Of a memory, whether it is a fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub properties: Option<Properties>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salience: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<Visit> for VisitResponse {
    fn from(Visit { record, depth }: Visit) -> Self {
        match record {
            Record::Node(node) => Self {
                id: node.id.0,
                node_type: node.node_type,
                name: node.name,
                depth,
                channel: node.channel,
                domain: node.domain,
                kind: None,
                aliases: Some(node.aliases),
                description: node.description,
                properties: Some(node.properties),
                salience: Some(node.salience),
                connection_id: node.connection_id,
                created_at: node.created_at,
                updated_at: node.updated_at,
            },
            Record::Memory(memory) => Self {
                id: memory.id.0,
                node_type: mnemic_core::node::MEMORY.to_owned(),
                name: memory.text,
                depth,
                channel: memory.channel,
                domain: memory.domain,
                kind: Some(memory.kind.into()),
                aliases: None,
                description: None,
                properties: None,
                salience: None,
                connection_id: None,
                created_at: memory.created_at,
                updated_at: memory.updated_at,
            },
            Record::Said(said) => Self::derived(
                said.id(),
                said.noun(),
                said.text(),
                (depth, said.channel()),
                said.created_at(),
            ),
            Record::Done(done) => Self::derived(
                done.id(),
                done.noun(),
                done.text(),
                (depth, done.channel()),
                done.created_at(),
            ),
        }
    }
}

impl VisitResponse {
    /// What is no node, but follows from other records.
    fn derived(
        id: Uuid,
        noun: &str,
        name: String,
        (depth, channel): (u32, &str),
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            node_type: noun.to_owned(),
            name,
            depth,
            channel: channel.to_owned(),
            domain: None,
            kind: None,
            aliases: None,
            description: None,
            properties: None,
            salience: None,
            connection_id: None,
            created_at: at,
            updated_at: at,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TraverseResponse {
    /// Nearest first.
    pub nodes: Vec<VisitResponse>,
    pub edges: Vec<EdgeResponse>,
    /// Whether a limit ended the walk, so that there may be more.
    pub truncated: bool,
}

impl From<Subgraph> for TraverseResponse {
    fn from(Subgraph { nodes, edges, truncated }: Subgraph) -> Self {
        Self {
            nodes: nodes.into_iter().map(Into::into).collect(),
            edges: edges.into_iter().map(Into::into).collect(),
            truncated,
        }
    }
}

/// Any JSON object.
pub(super) fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {}})
}
