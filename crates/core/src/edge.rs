//! Directed, typed edges between any two records of a workspace.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::ids::EdgeId;

/// From a memory to the one that it replaced.
pub const SUPERSEDES: &str = "SUPERSEDES";
/// From a copy in `_global` to the fact in its channel.
pub const PROMOTED_FROM: &str = "PROMOTED_FROM";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    pub id: EdgeId,
    pub channel: String,
    pub source_id: Uuid,
    pub target_id: Uuid,
    pub relation: String,
    pub properties: Value,
    /// When it was true in the world.
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    /// When we learned it, and when we learned better.
    pub recorded_at: Timestamp,
    pub superseded_at: Option<Timestamp>,
}
