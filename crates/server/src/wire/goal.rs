//! Goals on the wire.

use jiff::Timestamp;
use mnemic_core::goal::{FinishedGoal, Goal, GoalPatch, GoalStatus, GoalView, NewGoal};
use mnemic_core::ids::GoalId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::nullable;

/// A goal to be added.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalRequest {
    /// What is to be achieved. At most 32,768 bytes.
    #[schema(min_length = 1, max_length = 32768)]
    pub description: String,
    /// From -1000 to 1000, the greater the more urgent; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -1000, maximum = 1000)]
    #[schemars(range(min = -1000, max = 1000))]
    pub priority: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// The goal that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Uuid>,
    /// The goals that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub blocked_by: Option<Vec<Uuid>>,
    /// `_global` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub channel: Option<String>,
    /// The conversation that it is set in; it is erased with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub conversation_id: Option<String>,
}

impl From<GoalRequest> for NewGoal {
    fn from(request: GoalRequest) -> Self {
        Self {
            description: request.description,
            priority: request.priority,
            deadline: request.deadline,
            parent_id: request.parent_id.map(GoalId),
            blocked_by: goal_ids(request.blocked_by.unwrap_or_default()),
            channel: request.channel,
            conversation_id: request.conversation_id,
        }
    }
}

/// What to change; absent fields stay, null empties `deadline` and `parent_id`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GoalPatchRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 32768)]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -1000, maximum = 1000)]
    #[schemars(range(min = -1000, max = 1000))]
    pub priority: Option<i64>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Option<Timestamp>>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub parent_id: Option<Option<Uuid>>,
    /// In the place of those that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub blocked_by: Option<Vec<Uuid>>,
}

impl From<GoalPatchRequest> for GoalPatch {
    fn from(request: GoalPatchRequest) -> Self {
        Self {
            description: request.description,
            priority: request.priority,
            deadline: request.deadline,
            parent_id: request.parent_id.map(|parent| parent.map(GoalId)),
            blocked_by: request.blocked_by.map(goal_ids),
        }
    }
}

/// How a goal ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteGoalRequest {
    pub status: EndWire,
    /// What came of it. At most 32,768 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 32768)]
    pub result: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndWire {
    Completed,
    Abandoned,
}

impl From<EndWire> for GoalStatus {
    fn from(end: EndWire) -> Self {
        match end {
            EndWire::Completed => Self::Completed,
            EndWire::Abandoned => Self::Abandoned,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoalStatusWire {
    Active,
    Blocked,
    Completed,
    Abandoned,
}

impl GoalStatusWire {
    pub fn as_str(self) -> &'static str {
        GoalStatus::from(self).as_str()
    }
}

impl From<GoalStatus> for GoalStatusWire {
    fn from(status: GoalStatus) -> Self {
        match status {
            GoalStatus::Active => Self::Active,
            GoalStatus::Blocked => Self::Blocked,
            GoalStatus::Completed => Self::Completed,
            GoalStatus::Abandoned => Self::Abandoned,
        }
    }
}

impl From<GoalStatusWire> for GoalStatus {
    fn from(status: GoalStatusWire) -> Self {
        match status {
            GoalStatusWire::Active => Self::Active,
            GoalStatusWire::Blocked => Self::Blocked,
            GoalStatusWire::Completed => Self::Completed,
            GoalStatusWire::Abandoned => Self::Abandoned,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct GoalResponse {
    pub id: Uuid,
    pub description: String,
    /// Blocked, as long as it waits for others.
    pub status: GoalStatusWire,
    pub priority: i64,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline: Option<Timestamp>,
    /// What came of it.
    pub result: Option<String>,
    /// The goal that it is a part of.
    pub parent_id: Option<Uuid>,
    /// The goals that it still waits for.
    pub blocked_by: Vec<Uuid>,
    pub channel: String,
    pub conversation_id: Option<String>,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// When it was completed or abandoned.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub completed_at: Option<Timestamp>,
}

impl From<Goal> for GoalResponse {
    fn from(goal: Goal) -> Self {
        Self {
            id: goal.id.0,
            description: goal.description,
            status: goal.status.into(),
            priority: goal.priority,
            deadline: goal.deadline,
            result: goal.result,
            parent_id: goal.parent_id.map(|id| id.0),
            blocked_by: plain_ids(goal.blocked_by),
            channel: goal.channel,
            conversation_id: goal.conversation_id,
            created_by: goal.created_by,
            created_at: goal.created_at,
            updated_at: goal.updated_at,
            completed_at: goal.finished_at,
        }
    }
}

/// A goal among those that it has to do with.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct GoalViewResponse {
    #[serde(flatten)]
    pub goal: GoalResponse,
    /// The goal that it is a part of, whole.
    pub parent: Option<GoalResponse>,
    /// The goals that are a part of it.
    pub children: Vec<Uuid>,
    /// The goals that wait for it.
    pub blocks: Vec<Uuid>,
}

impl From<GoalView> for GoalViewResponse {
    fn from(GoalView { goal, parent, children, blocks }: GoalView) -> Self {
        Self {
            goal: goal.into(),
            parent: parent.map(Into::into),
            children: plain_ids(children),
            blocks: plain_ids(blocks),
        }
    }
}

/// A goal that is finished.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FinishedGoalResponse {
    #[serde(flatten)]
    pub goal: GoalResponse,
    /// The goals that waited for it alone and are active again.
    pub unblocked: Vec<Uuid>,
}

impl From<FinishedGoal> for FinishedGoalResponse {
    fn from(FinishedGoal { goal, unblocked }: FinishedGoal) -> Self {
        Self { goal: goal.into(), unblocked: plain_ids(unblocked) }
    }
}

fn goal_ids(ids: Vec<Uuid>) -> Vec<GoalId> {
    ids.into_iter().map(GoalId).collect()
}

fn plain_ids(ids: Vec<GoalId>) -> Vec<Uuid> {
    ids.into_iter().map(|id| id.0).collect()
}
