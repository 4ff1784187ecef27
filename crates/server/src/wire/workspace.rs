//! Workspaces and their settings on the wire.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mnemic_core::workspace::{Erasure, MemorySettings, PromotionSettings, Settings, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::audit::AuditLevelWire;
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
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettingsRequest {
    /// Whether what went into a tool's call and came out of it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_payloads: Option<bool>,
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
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ToolSettingsResponse {
    pub keep_payloads: bool,
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
