//! Sequences of actions on the wire.

use jiff::Timestamp;
use mnemic_core::sequence::Sequence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::action::OutcomeWire;

/// Actions of one session with no gap of more than five minutes between them.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SequenceResponse {
    pub id: Uuid,
    pub session_id: String,
    /// Of its last action.
    pub agent_id: String,
    #[schema(value_type = String, format = DateTime)]
    #[schemars(with = "String")]
    pub first_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    #[schemars(with = "String")]
    pub last_at: Timestamp,
    pub action_count: i64,
    /// Of its last action.
    pub outcome: OutcomeWire,
    /// What it was about, in types alone, once it is closed.
    pub intent_summary: Option<String>,
    /// When it was closed; null while an action may still be added by its time.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[schemars(with = "Option<String>")]
    pub closed_at: Option<Timestamp>,
}

impl From<Sequence> for SequenceResponse {
    fn from(sequence: Sequence) -> Self {
        Self {
            id: sequence.id.0,
            session_id: sequence.session_id,
            agent_id: sequence.agent_id,
            first_at: sequence.first_at,
            last_at: sequence.last_at,
            action_count: sequence.action_count,
            outcome: sequence.outcome.into(),
            intent_summary: sequence.intent_summary,
            closed_at: sequence.closed_at,
        }
    }
}
