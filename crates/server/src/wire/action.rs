//! Actions of agents on the wire.

use jiff::Timestamp;
use mnemic_core::action::{AgentAction, Captured, NewAction, Outcome};
use mnemic_core::ids::ActionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeWire {
    Success,
    Failure,
}

impl From<OutcomeWire> for Outcome {
    fn from(outcome: OutcomeWire) -> Self {
        match outcome {
            OutcomeWire::Success => Self::Success,
            OutcomeWire::Failure => Self::Failure,
        }
    }
}

impl From<Outcome> for OutcomeWire {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Failure => Self::Failure,
        }
    }
}

/// What an agent did. It has no room for arguments or bodies: they are not to be sent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionRequest {
    /// The reporter's own: an action that is reported again under its id counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// Actions of one session, no more than five minutes apart, become one sequence.
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: String,
    /// The token's name, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub agent_id: Option<String>,
    /// Such as the name of a tool.
    #[schema(min_length = 1, max_length = 128)]
    pub action_type: String,
    /// Of what type the records are that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub node_type: Option<String>,
    /// The records that it was about, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub node_ids: Vec<Uuid>,
    pub outcome: OutcomeWire,
    /// The error as the tool put it; only the class of it is kept, such as `KeyError`, `Http404`
    /// or `Exit1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 65536)]
    pub error_code: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_592_000_000_i64)]
    pub latency_ms: Option<i64>,
    /// When it happened; now, if absent. At most a day ahead of the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    #[schemars(with = "Option<String>")]
    pub at: Option<Timestamp>,
}

impl From<ActionRequest> for NewAction {
    fn from(request: ActionRequest) -> Self {
        Self {
            id: request.id.map(ActionId),
            session_id: request.session_id,
            agent_id: request.agent_id,
            action_type: request.action_type,
            node_type: request.node_type,
            node_ids: request.node_ids,
            outcome: request.outcome.into(),
            error_code: request.error_code,
            latency_ms: request.latency_ms,
            at: request.at,
        }
    }
}

/// What came of a report.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct CapturedResponse {
    /// How many were not known before.
    pub recorded: u64,
    /// How many were known, and count no second time.
    pub duplicates: u64,
    /// The id of each action, in the order of the report.
    pub ids: Vec<Uuid>,
}

impl From<Captured> for CapturedResponse {
    fn from(captured: Captured) -> Self {
        let Captured { ids, recorded, duplicates } = captured;
        Self { recorded, duplicates, ids: ids.into_iter().map(|id| id.0).collect() }
    }
}

/// An action as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ActionResponse {
    pub id: Uuid,
    pub session_id: String,
    pub agent_id: String,
    pub action_type: String,
    pub node_type: Option<String>,
    pub node_ids: Vec<Uuid>,
    pub outcome: OutcomeWire,
    pub error_code: Option<String>,
    pub latency_ms: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The sequence that it is part of, once it is grouped.
    pub sequence_id: Option<Uuid>,
}

impl From<AgentAction> for ActionResponse {
    fn from(action: AgentAction) -> Self {
        Self {
            id: action.id.0,
            session_id: action.session_id,
            agent_id: action.agent_id,
            action_type: action.action_type,
            node_type: action.node_type,
            node_ids: action.node_ids,
            outcome: action.outcome.into(),
            error_code: action.error_code,
            latency_ms: action.latency_ms,
            at: action.at,
            sequence_id: action.sequence_id.map(|id| id.0),
        }
    }
}
