//! The audit on the wire.

use jiff::Timestamp;
use mnemic_core::audit::{AuditFilter, Entry, Level};
use mnemic_core::page::PageRequest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

/// How much is written down: nothing; changes, refusals and recalls across channels; reads too,
/// with their queries; and what was written, in full.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditLevelWire {
    Off,
    Writes,
    Reads,
    Verbose,
}

impl From<Level> for AuditLevelWire {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::Off,
            Level::Writes => Self::Writes,
            Level::Reads => Self::Reads,
            Level::Verbose => Self::Verbose,
        }
    }
}

/// Which entries to show; fields left out match all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditRequest {
    /// One operation, such as `memory.create`, or all of a noun: `memory.`
    pub operation: Option<String>,
    pub role: Option<String>,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub channel: Option<String>,
    /// Only what succeeded, or only what was refused or failed.
    pub success: Option<bool>,
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// 1 to 200; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl From<AuditRequest> for (AuditFilter, PageRequest) {
    fn from(request: AuditRequest) -> Self {
        let AuditRequest { operation, role, agent, user, channel, success, .. } = request;
        let (since, until) = (request.since, request.until);
        let filter = AuditFilter { operation, role, agent, user, channel, success, since, until };
        (filter, PageRequest { limit: request.limit, cursor: request.cursor })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct AuditEntryResponse {
    pub id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Noun and verb.
    pub operation: String,
    pub token_id: Uuid,
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub session_id: Option<String>,
    pub conversation_id: Option<String>,
    /// The channel that it was about.
    pub channel: Option<String>,
    /// Other channels that it reached.
    pub target_channels: Vec<String>,
    pub domain: Option<String>,
    pub query: Option<String>,
    /// The records that were changed or returned, at most 100.
    pub record_ids: Vec<Uuid>,
    /// How many records were changed or returned.
    pub count: u64,
    pub latency_ms: f64,
    pub success: bool,
    /// The code of the error, if it failed.
    pub error: Option<String>,
    /// What the operation adds, such as the counts of an erasure, or, at the level
    /// `verbose`, what was written.
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object_or_null")]
    pub details: Option<Map<String, Value>>,
}

/// Any JSON object, or none.
fn object_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["object", "null"], "additionalProperties": {}})
}

impl From<Entry> for AuditEntryResponse {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            at: entry.at,
            success: entry.success(),
            operation: entry.operation,
            token_id: entry.token_id,
            role: entry.role,
            agent: entry.agent,
            user: entry.user,
            session_id: entry.session_id,
            conversation_id: entry.conversation_id,
            channel: entry.channel,
            target_channels: entry.target_channels,
            domain: entry.domain,
            query: entry.query,
            record_ids: entry.record_ids,
            count: entry.count,
            latency_ms: entry.latency_us as f64 / 1_000.0,
            error: entry.error,
            details: entry.details.and_then(|details| match details {
                Value::Object(map) => Some(map),
                _ => None,
            }),
        }
    }
}
