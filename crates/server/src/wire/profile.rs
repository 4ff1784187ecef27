//! User profiles on the wire.

use jiff::Timestamp;
use mnemic_core::node::Properties;
use mnemic_core::profile::{ProfilePatch, UserProfile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::node::object;
use super::{any, nullable};

/// What to merge into a profile: objects merge, null removes, everything else replaces.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileRequest {
    /// An object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub preferences: Option<Option<Value>>,
    /// A list of names, or an object by name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    #[schemars(schema_with = "any")]
    pub expertise: Option<Option<Value>>,
    /// A text, or an object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    #[schemars(schema_with = "any")]
    pub communication_style: Option<Option<Value>>,
    /// An object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[schemars(schema_with = "object")]
    pub metadata: Option<Option<Value>>,
}

impl From<ProfileRequest> for ProfilePatch {
    fn from(request: ProfileRequest) -> Self {
        let given = |field: Option<Option<Value>>| field.map(|value| value.unwrap_or(Value::Null));
        Self {
            preferences: given(request.preferences),
            expertise: given(request.expertise),
            communication_style: given(request.communication_style),
            metadata: given(request.metadata),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ProfileResponse {
    pub user: String,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub preferences: Properties,
    /// A list of names, or an object by name.
    #[schemars(schema_with = "any")]
    pub expertise: Value,
    /// A text, or an object.
    #[schemars(schema_with = "any")]
    pub communication_style: Value,
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub metadata: Properties,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// Counts its changes.
    pub revision: i64,
}

impl From<UserProfile> for ProfileResponse {
    fn from(profile: UserProfile) -> Self {
        Self {
            user: profile.user,
            preferences: profile.preferences,
            expertise: profile.expertise,
            communication_style: profile.communication_style,
            metadata: profile.metadata,
            created_at: profile.created_at,
            updated_at: profile.updated_at,
            revision: profile.revision,
        }
    }
}
