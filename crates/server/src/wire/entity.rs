//! The entities of a recall on the wire.

use mnemic_core::recall::{Entity, Matched, Neighbour, Through};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Something that the query is about.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EntityWire {
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
    /// 1 for a name, else how near its meaning is.
    pub score: f64,
    pub matched: MatchedWire,
    /// What it is joined to, at most ten.
    pub neighbours: Vec<NeighbourWire>,
}

/// Whether the query has its name or an alias, or only comes near its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchedWire {
    Name,
    Meaning,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct NeighbourWire {
    pub id: Uuid,
    #[serde(rename = "type")]
    pub node_type: String,
    pub name: String,
    pub relation: String,
    pub direction: WayWire,
}

/// Whether the relation leads out of the entity or in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WayWire {
    Out,
    In,
}

/// An entity that led to an item.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ThroughWire {
    pub id: Uuid,
    pub name: String,
}

impl From<Entity> for EntityWire {
    fn from(entity: Entity) -> Self {
        let Entity { node, score, matched, neighbours } = entity;
        Self {
            id: node.id.0,
            node_type: node.node_type,
            name: node.name,
            aliases: node.aliases,
            channel: node.channel,
            domain: node.domain,
            description: node.description,
            score,
            matched: match matched {
                Matched::Name => MatchedWire::Name,
                Matched::Meaning => MatchedWire::Meaning,
            },
            neighbours: neighbours.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Neighbour> for NeighbourWire {
    fn from(neighbour: Neighbour) -> Self {
        let Neighbour { id, node_type, name, relation, outgoing, channel: _ } = neighbour;
        let direction = if outgoing { WayWire::Out } else { WayWire::In };
        Self { id: id.0, node_type, name, relation, direction }
    }
}

impl From<Through> for ThroughWire {
    fn from(through: Through) -> Self {
        Self { id: through.id.0, name: through.name }
    }
}
