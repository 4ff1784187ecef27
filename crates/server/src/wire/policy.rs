//! Policies on the wire.

use jiff::Timestamp;
use mnemic_core::ids::MemoryId;
use mnemic_core::policy::{NewPolicy, Policy, PolicyPatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::nullable;

/// A policy to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRequest {
    /// What is to be obeyed, in words. At most 32,768 bytes.
    #[schema(min_length = 1, max_length = 32768)]
    pub rule: String,
    /// Where it holds.
    #[schema(min_length = 1, max_length = 128)]
    pub domain: String,
    /// The facts it derives from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub source_fact_ids: Option<Vec<Uuid>>,
    /// Reserves writing to the domain for this role, while the policy is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub required_role: Option<String>,
    /// Whether it holds; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

impl From<PolicyRequest> for NewPolicy {
    fn from(request: PolicyRequest) -> Self {
        Self {
            rule: request.rule,
            domain: request.domain,
            source_fact_ids: memory_ids(request.source_fact_ids.unwrap_or_default()),
            required_role: request.required_role,
            active: request.active,
        }
    }
}

/// What to change; absent fields stay, null empties `required_role`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyPatchRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 32768)]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub source_fact_ids: Option<Vec<Uuid>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub required_role: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

impl From<PolicyPatchRequest> for PolicyPatch {
    fn from(request: PolicyPatchRequest) -> Self {
        let PolicyPatchRequest { rule, source_fact_ids, required_role, active } = request;
        let source_fact_ids = source_fact_ids.map(memory_ids);
        Self { rule, source_fact_ids, required_role, active }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PolicyResponse {
    pub id: Uuid,
    pub rule: String,
    pub domain: String,
    /// The facts it derives from, as far as the caller may see them.
    pub source_fact_ids: Vec<Uuid>,
    pub required_role: Option<String>,
    pub active: bool,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<Policy> for PolicyResponse {
    fn from(policy: Policy) -> Self {
        Self {
            id: policy.id.0,
            rule: policy.rule,
            domain: policy.domain,
            source_fact_ids: policy.source_fact_ids.into_iter().map(|id| id.0).collect(),
            required_role: policy.required_role,
            active: policy.active,
            created_by: policy.created_by,
            created_at: policy.created_at,
            updated_at: policy.updated_at,
        }
    }
}

fn memory_ids(ids: Vec<Uuid>) -> Vec<MemoryId> {
    ids.into_iter().map(MemoryId).collect()
}
