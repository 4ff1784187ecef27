//! Edges of the graph on the wire.

use jiff::Timestamp;
use mnemic_core::edge::{Edge, NewEdge};
use mnemic_core::node::Properties;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::node::object;

/// An edge to be made, or to be brought into the one that joins the two already.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdgeRequest {
    /// The node or memory where it begins.
    pub source_id: Uuid,
    /// The node or memory where it ends.
    pub target_id: Uuid,
    /// What the source is to the target, such as WORKS_FOR.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z_][A-Za-z0-9_:]*$")]
    pub relation: String,
    /// A JSON object of at most 16,384 bytes. Given fields replace those that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub properties: Option<Properties>,
    /// From when it is true in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_to: Option<Timestamp>,
}

impl From<EdgeRequest> for NewEdge {
    fn from(request: EdgeRequest) -> Self {
        Self {
            source_id: request.source_id,
            target_id: request.target_id,
            relation: request.relation,
            properties: request.properties.unwrap_or_default(),
            valid_from: request.valid_from,
            valid_to: request.valid_to,
        }
    }
}

/// An edge as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EdgeResponse {
    pub id: Uuid,
    pub source_id: Uuid,
    pub target_id: Uuid,
    pub relation: String,
    pub channel: String,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub properties: Properties,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_to: Option<Timestamp>,
    /// When we learned it.
    #[schema(value_type = String, format = DateTime)]
    pub recorded_at: Timestamp,
    /// When we learned better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub superseded_at: Option<Timestamp>,
}

impl From<Edge> for EdgeResponse {
    fn from(edge: Edge) -> Self {
        Self {
            id: edge.id.0,
            source_id: edge.source_id,
            target_id: edge.target_id,
            relation: edge.relation,
            channel: edge.channel,
            properties: edge.properties,
            valid_from: edge.valid_from,
            valid_to: edge.valid_to,
            recorded_at: edge.recorded_at,
            superseded_at: edge.superseded_at,
        }
    }
}
