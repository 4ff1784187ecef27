//! Domains on the wire.

use jiff::Timestamp;
use mnemic_core::domain::Domain;
use mnemic_core::grant::Permission;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::grant::PermissionWire;

/// A domain to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// What belongs into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 32768)]
    pub description: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct DomainResponse {
    pub name: String,
    pub description: Option<String>,
    /// What the caller may do in it.
    pub permission: PermissionWire,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<(Domain, Permission)> for DomainResponse {
    fn from((domain, permission): (Domain, Permission)) -> Self {
        let Domain { name, description, created_by, created_at } = domain;
        Self { name, description, permission: permission.into(), created_by, created_at }
    }
}
