//! Grants on the wire.

use mnemic_core::grant::{Grant, Permission};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `none` hides the domain, `read` lets search and retrieve, `write` create and change as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionWire {
    None,
    Read,
    Write,
}

impl From<Permission> for PermissionWire {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::None => Self::None,
            Permission::Read => Self::Read,
            Permission::Write => Self::Write,
        }
    }
}

impl From<PermissionWire> for Permission {
    fn from(permission: PermissionWire) -> Self {
        match permission {
            PermissionWire::None => Self::None,
            PermissionWire::Read => Self::Read,
            PermissionWire::Write => Self::Write,
        }
    }
}

/// What a role may do in a domain; `*` stands for every role or every domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantWire {
    #[schema(min_length = 1, max_length = 128)]
    pub role: String,
    #[schema(min_length = 1, max_length = 128)]
    pub domain: String,
    pub permission: PermissionWire,
}

impl From<Grant> for GrantWire {
    fn from(Grant { role, domain, permission }: Grant) -> Self {
        Self { role, domain, permission: permission.into() }
    }
}

impl From<GrantWire> for Grant {
    fn from(GrantWire { role, domain, permission }: GrantWire) -> Self {
        Self { role, domain, permission: permission.into() }
    }
}
