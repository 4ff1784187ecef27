//! What a session has at hand, on the wire.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mnemic_core::goal::Goal;
use mnemic_core::slot::{Session, Slot, Thought};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::any;
use super::conversation::TurnResponse;
use super::goal::GoalResponse;
use super::node::object;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SessionResponse {
    /// The newest turns of the conversation, in order.
    pub recent_turns: Vec<TurnResponse>,
    /// The context values, by key.
    #[schema(value_type = Object)]
    #[schemars(schema_with = "object")]
    pub context: BTreeMap<String, Value>,
    /// In order.
    pub thoughts: Vec<ThoughtResponse>,
    /// The goal that is being pursued, as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_goal: Option<GoalResponse>,
}

impl From<Session> for SessionResponse {
    fn from(session: Session) -> Self {
        let Session { recent_turns, context, thoughts, active_goal } = session;
        Self {
            recent_turns: recent_turns.into_iter().map(Into::into).collect(),
            context,
            thoughts: thoughts.into_iter().map(Into::into).collect(),
            active_goal: active_goal.map(Into::into),
        }
    }
}

/// A context value to be kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRequest {
    /// Any JSON, also null. At most 262,144 bytes without spaces, nested at most 64 deep.
    #[schemars(schema_with = "any")]
    pub value: Value,
    /// How long it lives after it was last written or read; an hour if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000)]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub ttl_seconds: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ContextResponse {
    pub key: String,
    /// The JSON that was written.
    #[schemars(schema_with = "any")]
    pub value: Value,
    pub ttl_seconds: u32,
    /// When it will be absent, unless it is written or read again before.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl ContextResponse {
    pub fn of(key: String, slot: Slot) -> Self {
        let Slot { value, ttl, expires_at, .. } = slot;
        Self { key, value, ttl_seconds: ttl.seconds(), expires_at }
    }
}

/// Something to be thought on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThoughtRequest {
    /// At most 8,192 bytes. The oldest of more than 100 goes.
    #[schema(min_length = 1, max_length = 8192)]
    pub text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ThoughtResponse {
    pub text: String,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<Thought> for ThoughtResponse {
    fn from(Thought { text, at }: Thought) -> Self {
        Self { text, at }
    }
}

/// The goal that is to be pursued.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionGoalRequest {
    /// Null ends the pursuit; it must be said.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    pub goal_id: Option<Uuid>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SessionGoalResponse {
    pub active_goal: Option<GoalResponse>,
}

impl From<Option<Goal>> for SessionGoalResponse {
    fn from(goal: Option<Goal>) -> Self {
        Self { active_goal: goal.map(Into::into) }
    }
}
