//! Workspaces and their settings on the wire.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mnemic_core::workspace::{
    Contradictions, Erasure, ExtractionSettings, MemorySettings, PromotionSettings, RollupSettings,
    Settings, TelemetrySettings, Workspace,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::audit::AuditLevelWire;
use super::memory::KindWire;
use super::model::{ModelSettingsRequest, ModelSettingsResponse};
use super::optional_object;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct WorkspaceResponse {
    pub id: Uuid,
    pub name: String,
    pub settings: SettingsResponse,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<Workspace> for WorkspaceResponse {
    fn from(workspace: Workspace) -> Self {
        Self {
            id: workspace.id.0,
            name: workspace.name,
            settings: workspace.settings.into(),
            created_at: workspace.created_at,
            updated_at: workspace.updated_at,
        }
    }
}

/// What to change; absent fields stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsRequest {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub memory: Option<MemorySettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub audit: Option<AuditSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub promotion: Option<PromotionSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub tools: Option<ToolSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub model: Option<ModelSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub extraction: Option<ExtractionSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub rollup: Option<RollupSettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub telemetry: Option<TelemetrySettingsRequest>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    pub recall: Option<RecallSettingsRequest>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecallSettingsRequest {
    /// Whether a language model is asked what to look for, where a recall does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expand: Option<bool>,
}

/// What becomes a pattern, and who is not told of any.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettingsRequest {
    /// The share of sessions that are told nothing, so that telling can be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub holdout: Option<f64>,
    /// A pattern takes so many sequences.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u64)]
    pub sequences: Option<u32>,
    /// Of a hundred sequences with its action, a pattern has so many; below that it is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 20, maximum = 100)]
    pub confidence_percent: Option<u32>,
    /// Older sequences are not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 36500)]
    pub window_days: Option<u32>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettingsRequest {
    /// Whether what went into a tool's call and came out of it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_payloads: Option<bool>,
}

/// What is learned from conversations.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionSettingsRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What becomes of a fact that was said in so many words; all others are suggestions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    /// What becomes of two facts that cannot both be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradictions: Option<ContradictionsWire>,
    /// A conversation is learned from when nothing was said for so long, or so many turns wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 10080)]
    pub quiet_minutes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u64)]
    pub turns: Option<u32>,
}

/// Whether old turns are rolled up by themselves, and which.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RollupSettingsRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// So many of the newest turns stay in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 10000)]
    pub retain_last: Option<u32>,
    /// Only what is older than this goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 36500)]
    pub max_age_days: Option<u32>,
}

/// `prefer_new` replaces the old fact, `prefer_old` does not store the new one, `flag_review` keeps
/// both until somebody decides.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContradictionsWire {
    PreferNew,
    PreferOld,
    FlagReview,
}

impl From<Contradictions> for ContradictionsWire {
    fn from(policy: Contradictions) -> Self {
        match policy {
            Contradictions::PreferNew => Self::PreferNew,
            Contradictions::PreferOld => Self::PreferOld,
            Contradictions::FlagReview => Self::FlagReview,
        }
    }
}

/// From when a fact of a channel concerns the whole workspace.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PromotionSettingsRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: Option<f64>,
    /// How often it was recalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_u64)]
    pub access_count: Option<u32>,
    /// In how many conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_u64)]
    pub conversations: Option<u32>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettingsRequest {
    /// How much is written down of what is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<AuditLevelWire>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettingsRequest {
    /// The master toggle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Injection of patterns before an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injection: Option<bool>,
    /// A memory that nobody has cited for so long counts as stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 36500)]
    pub retention_days: Option<u32>,
    /// A memory cited at least so often is recommended for pinning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u64)]
    pub pin_references: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SettingsResponse {
    pub memory: MemorySettingsResponse,
    pub audit: AuditSettingsResponse,
    pub promotion: PromotionSettingsResponse,
    pub tools: ToolSettingsResponse,
    pub model: ModelSettingsResponse,
    pub extraction: ExtractionSettingsResponse,
    pub rollup: RollupSettingsResponse,
    pub telemetry: TelemetrySettingsResponse,
    pub recall: RecallSettingsResponse,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct RecallSettingsResponse {
    pub expand: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct TelemetrySettingsResponse {
    pub holdout: f64,
    #[schema(value_type = i64)]
    pub sequences: u32,
    #[schema(value_type = i64)]
    pub confidence_percent: u32,
    #[schema(value_type = i64)]
    pub window_days: u32,
}

impl From<TelemetrySettings> for TelemetrySettingsResponse {
    fn from(settings: TelemetrySettings) -> Self {
        let TelemetrySettings { holdout, sequences, confidence_percent, window_days } = settings;
        Self { holdout, sequences, confidence_percent, window_days }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ToolSettingsResponse {
    pub keep_payloads: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ExtractionSettingsResponse {
    pub enabled: bool,
    pub kind: KindWire,
    pub contradictions: ContradictionsWire,
    #[schema(value_type = i64)]
    pub quiet_minutes: u32,
    #[schema(value_type = i64)]
    pub turns: u32,
}

impl From<ExtractionSettings> for ExtractionSettingsResponse {
    fn from(settings: ExtractionSettings) -> Self {
        Self {
            enabled: settings.enabled,
            kind: settings.kind.into(),
            contradictions: settings.contradictions.into(),
            quiet_minutes: settings.quiet_minutes,
            turns: settings.turns,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct RollupSettingsResponse {
    pub enabled: bool,
    #[schema(value_type = i64)]
    pub retain_last: u32,
    #[schema(value_type = i64)]
    pub max_age_days: u32,
}

impl From<RollupSettings> for RollupSettingsResponse {
    fn from(settings: RollupSettings) -> Self {
        let RollupSettings { enabled, retain_last, max_age_days } = settings;
        Self { enabled, retain_last, max_age_days }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PromotionSettingsResponse {
    pub confidence: f64,
    #[schema(value_type = i64)]
    pub access_count: u32,
    #[schema(value_type = i64)]
    pub conversations: u32,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct AuditSettingsResponse {
    pub level: AuditLevelWire,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct MemorySettingsResponse {
    pub enabled: bool,
    pub injection: bool,
    pub retention_days: u32,
    #[schema(value_type = i64)]
    pub pin_references: u32,
}

impl From<Settings> for SettingsResponse {
    fn from(settings: Settings) -> Self {
        let MemorySettings { enabled, injection, retention_days, pin_references } = settings.memory;
        let memory = MemorySettingsResponse { enabled, injection, retention_days, pin_references };
        let PromotionSettings { confidence, access_count, conversations } = settings.promotion;
        Self {
            memory,
            audit: AuditSettingsResponse { level: settings.audit.level.into() },
            promotion: PromotionSettingsResponse { confidence, access_count, conversations },
            tools: ToolSettingsResponse { keep_payloads: settings.tools.keep_payloads },
            model: settings.model.into(),
            extraction: settings.extraction.into(),
            rollup: settings.rollup.into(),
            telemetry: settings.telemetry.into(),
            recall: RecallSettingsResponse { expand: settings.recall.expand },
        }
    }
}

/// What a deletion did.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct DeletedWorkspaceResponse {
    pub id: Uuid,
    pub hard: bool,
    /// Rows removed, by table; empty for a soft delete.
    pub removed: BTreeMap<String, u64>,
    /// Rows found afterwards; zero.
    pub remaining: u64,
}

impl DeletedWorkspaceResponse {
    pub fn of(id: Uuid, erasure: Option<Erasure>) -> Self {
        let hard = erasure.is_some();
        let (removed, remaining) =
            erasure.map_or_else(Default::default, |erasure| (erasure.removed, erasure.remaining));
        Self { id, hard, removed, remaining }
    }
}
