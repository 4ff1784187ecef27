//! Memories and facts on the wire.

use jiff::Timestamp;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{
    Kind, Memory, MemoryPatch, NewMemory, Purge, Purged, Skipped, Temporal, Wording,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::erasure::ReceiptResponse;
use super::nullable;

/// `memory` is a suggestion, `fact` is authoritative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindWire {
    Memory,
    Fact,
}

impl From<Kind> for KindWire {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Memory => Self::Memory,
            Kind::Fact => Self::Fact,
        }
    }
}

impl From<KindWire> for Kind {
    fn from(kind: KindWire) -> Self {
        match kind {
            KindWire::Memory => Self::Memory,
            KindWire::Fact => Self::Fact,
        }
    }
}

/// Whether it holds now, held once, or is yet to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TemporalWire {
    Current,
    Past,
    Future,
}

impl From<Temporal> for TemporalWire {
    fn from(temporal: Temporal) -> Self {
        match temporal {
            Temporal::Current => Self::Current,
            Temporal::Past => Self::Past,
            Temporal::Future => Self::Future,
        }
    }
}

impl From<TemporalWire> for Temporal {
    fn from(temporal: TemporalWire) -> Self {
        match temporal {
            TemporalWire::Current => Self::Current,
            TemporalWire::Past => Self::Past,
            TemporalWire::Future => Self::Future,
        }
    }
}

/// A memory to be made. Only `content` is needed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRequest {
    /// What is to be remembered, in words. At most 32,768 bytes.
    #[schema(min_length = 1, max_length = 32768)]
    pub content: String,
    /// `memory` (a suggestion, the default) or `fact` (authoritative).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    /// `_global` (the default) or a project's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub topic: Option<String>,
    /// 0 to 1; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub confidence: Option<f64>,
    /// Where it comes from, such as `conversation` or a document's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub source: Option<String>,
    /// The ids of the turns, observations or documents it was drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub source_ids: Option<Vec<String>>,
    /// The names of what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub entities: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal: Option<TemporalWire>,
    /// From when it is true in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_to: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// The id of the memory that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Uuid>,
    /// Store it even if the same was erased before; needs the role admin or member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revive: Option<bool>,
}

impl From<MemoryRequest> for NewMemory {
    fn from(request: MemoryRequest) -> Self {
        Self {
            content: request.content,
            kind: request.kind.map(Into::into),
            channel: request.channel,
            domain: request.domain,
            topic: request.topic,
            confidence: request.confidence,
            source: request.source,
            source_ids: request.source_ids.unwrap_or_default(),
            entities: request.entities.unwrap_or_default(),
            temporal: request.temporal.map(Into::into),
            valid_from: request.valid_from,
            valid_to: request.valid_to,
            pinned: request.pinned.unwrap_or(false),
            supersedes: request.supersedes.map(MemoryId),
            revive: request.revive.unwrap_or(false),
        }
    }
}

/// A memory as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct MemoryResponse {
    pub id: Uuid,
    pub kind: KindWire,
    pub content: String,
    pub channel: String,
    pub domain: Option<String>,
    pub topic: Option<String>,
    pub confidence: f64,
    pub weight: f64,
    pub source: Option<String>,
    pub source_ids: Vec<String>,
    pub entities: Vec<String>,
    pub temporal: Option<TemporalWire>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_from: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_to: Option<Timestamp>,
    /// How many finished runs cited it.
    pub times_referenced: i64,
    pub access_count: i64,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_accessed: Option<Timestamp>,
    pub pinned: bool,
    /// The memory that replaced it.
    pub superseded_by: Option<Uuid>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub superseded_at: Option<Timestamp>,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deleted_at: Option<Timestamp>,
}

impl From<Memory> for MemoryResponse {
    fn from(memory: Memory) -> Self {
        Self {
            id: memory.id.0,
            kind: memory.kind.into(),
            content: memory.content,
            channel: memory.channel,
            domain: memory.domain,
            topic: memory.topic,
            confidence: memory.confidence,
            weight: memory.weight,
            source: memory.source,
            source_ids: memory.source_ids,
            entities: memory.entities,
            temporal: memory.temporal.map(Into::into),
            valid_from: memory.valid_from,
            valid_to: memory.valid_to,
            times_referenced: memory.times_referenced,
            access_count: memory.access_count,
            last_accessed: memory.last_accessed,
            pinned: memory.pinned,
            superseded_by: memory.superseded_by.map(|id| id.0),
            superseded_at: memory.superseded_at,
            created_by: memory.created_by,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            deleted_at: memory.deleted_at,
        }
    }
}

/// What to change; absent fields stay, null empties those that may be empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryPatchRequest {
    #[schema(min_length = 1, max_length = 32768)]
    pub content: Option<String>,
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub domain: Option<Option<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub topic: Option<Option<String>>,
    #[schema(minimum = 0.0, maximum = 1.0)]
    pub confidence: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub source: Option<Option<String>>,
    #[schema(max_items = 100)]
    pub source_ids: Option<Vec<String>>,
    #[schema(max_items = 100)]
    pub entities: Option<Vec<String>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<TemporalWire>)]
    pub temporal: Option<Option<TemporalWire>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_from: Option<Option<Timestamp>>,
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub valid_to: Option<Option<Timestamp>>,
    /// Marks it as replaced by this memory, which exists already.
    pub superseded_by: Option<Uuid>,
    /// Take words and names even if they were erased before; needs the role admin or member.
    pub revive: Option<bool>,
}

impl From<MemoryPatchRequest> for MemoryPatch {
    fn from(request: MemoryPatchRequest) -> Self {
        Self {
            content: request.content,
            channel: request.channel,
            domain: request.domain,
            topic: request.topic,
            confidence: request.confidence,
            source: request.source,
            source_ids: request.source_ids,
            entities: request.entities,
            temporal: request.temporal.map(|temporal| temporal.map(Into::into)),
            valid_from: request.valid_from,
            valid_to: request.valid_to,
            superseded_by: request.superseded_by.map(MemoryId),
            revive: request.revive.unwrap_or(false),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightRequest {
    /// Added to the weight; counts for less the more often the memory is cited.
    #[schema(minimum = -10.0, maximum = 10.0)]
    pub delta: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupersedeRequest {
    /// The words of the memory that takes its place.
    #[schema(min_length = 1, max_length = 32768)]
    pub content: String,
    /// Take them even if they were erased before; needs the role admin or member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revive: Option<bool>,
}

impl From<SupersedeRequest> for Wording {
    fn from(request: SupersedeRequest) -> Self {
        Self { content: request.content, revive: request.revive.unwrap_or(false) }
    }
}

/// An item of an import that was left out, because the same was erased before.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SkippedResponse {
    /// Its place in what was sent, from 0.
    pub index: usize,
    #[schema(value_type = String, format = DateTime)]
    pub erased_at: Timestamp,
}

impl From<Skipped> for SkippedResponse {
    fn from(Skipped { index, erased_at }: Skipped) -> Self {
        Self { index, erased_at }
    }
}

/// Which stale memories to erase; absent, all beyond the retention window.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PurgeRequest {
    /// Instead of the workspace's retention window.
    #[schema(maximum = 36500)]
    pub older_than_days: Option<u32>,
    /// Only these of them.
    pub ids: Option<Vec<Uuid>>,
    /// Say what would go, but keep it.
    pub dry_run: Option<bool>,
}

impl From<PurgeRequest> for Purge {
    fn from(request: PurgeRequest) -> Self {
        Self {
            older_than_days: request.older_than_days,
            ids: request.ids.map(|ids| ids.into_iter().map(MemoryId).collect()),
            dry_run: request.dry_run.unwrap_or(false),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PurgeResponse {
    pub ids: Vec<Uuid>,
    pub dry_run: bool,
    /// Whether more are stale than one purge takes.
    pub more: bool,
    /// Null where nothing was erased.
    pub receipt: Option<ReceiptResponse>,
}

impl From<Purged> for PurgeResponse {
    fn from(purged: Purged) -> Self {
        let ids = purged.ids.into_iter().map(|id| id.0).collect();
        let receipt = purged.receipt.map(Into::into);
        Self { ids, dry_run: purged.dry_run, more: purged.more, receipt }
    }
}
