//! Tools over goals. Descriptions and results are stored data, and shown as such.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::goal::{GoalFilter, GoalPatch};
use mnemic_core::ids::GoalId;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::goal::{
    CompleteGoalRequest, FinishedGoalResponse, GoalPatchRequest, GoalRequest, GoalResponse,
    GoalStatusWire, GoalViewResponse,
};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "goal.add",
            "Add a goal",
            Effect::Add,
            "Write down what is to be achieved. parent_id makes it a part of another goal; it \
             stays blocked until all of blocked_by are finished.",
            add,
        ),
        Tool::new(
            "goal.get",
            "Read a goal",
            Effect::Read,
            "Read a goal with its parent, and the ids of its parts and of the goals that wait for it.",
            get,
        ),
        Tool::new(
            "goal.list",
            "List goals",
            Effect::Read,
            "Show goals, newest first; by status (active, blocked, completed, abandoned) if given.",
            list,
        ),
        Tool::new(
            "goal.update",
            "Change a goal",
            Effect::Destroy,
            "Change an open goal's description, priority, deadline or parent, or what it waits \
             for (blocked_by replaces all). `clear` empties deadline or parent_id.",
            update,
        ),
        Tool::new(
            "goal.complete",
            "Finish a goal",
            Effect::Destroy,
            "Say that a goal is completed or abandoned, and what came of it (result). Goals that \
             waited for it alone become active.",
            complete,
        ),
    ]
}

async fn add(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: GoalRequest,
) -> Result<Reply<GoalResponse>> {
    let value = GoalResponse::from(mnemic.add_goal(&caller, &input.into()).await?);
    let text = format!("Added the goal {}, which is {}.", value.id, value.status.as_str());
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfGoal {
    /// The goal's id.
    id: Uuid,
}

impl Subject for OfGoal {
    const FIELDS: &'static [&'static str] = &["id"];
}

async fn get(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfGoal,
) -> Result<Reply<GoalViewResponse>> {
    let view = mnemic.get_goal(&caller.principal, GoalId(input.id)).await?;
    let value = GoalViewResponse::from(view);
    let mut text = format!("{}\n- {}", text::DATA, line(&value.goal));
    if let Some(parent) = &value.parent {
        let _ = write!(text, "\nIt is a part of:\n- {}", line(parent));
    }
    for (heading, ids) in [("Its parts", &value.children), ("Waiting for it", &value.blocks)] {
        if !ids.is_empty() {
            let ids: Vec<_> = ids.iter().map(Uuid::to_string).collect();
            let _ = write!(text, "\n{heading}: {}", ids.join(", "));
        }
    }
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    status: Option<GoalStatusWire>,
    channel: Option<String>,
    conversation_id: Option<String>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<GoalResponse>>> {
    let ListInput { status, channel, conversation_id, limit, cursor } = input;
    let filter = GoalFilter { status: status.map(Into::into), channel, conversation_id };
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_goals(&caller.principal, &filter, &page).await?;
    let value = PageResponse::<GoalResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(goal: &GoalResponse) -> String {
    let mut line = format!("{} ({}", goal.id, goal.status.as_str());
    if goal.priority != 0 {
        let _ = write!(line, ", priority {}", goal.priority);
    }
    if let Some(deadline) = goal.deadline {
        let _ = write!(line, ", until {deadline}");
    }
    let _ = write!(line, "): {}", quoted(&goal.description));
    if !goal.blocked_by.is_empty() {
        let blockers: Vec<_> = goal.blocked_by.iter().map(Uuid::to_string).collect();
        let _ = write!(line, "; blocked by {}", blockers.join(", "));
    }
    if let Some(result) = &goal.result {
        let _ = write!(line, "; result: {}", quoted(result));
    }
    line
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Deadline,
    ParentId,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfChange {
    /// The goal's id.
    id: Uuid,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for OfChange {
    const FIELDS: &'static [&'static str] = &["id", "clear"];
}

async fn update(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfChange, GoalPatchRequest>,
) -> Result<Reply<GoalResponse>> {
    let OfChange { id, clear } = input.subject;
    let mut patch = GoalPatch::from(input.body);
    for field in clear {
        match field {
            Clearable::Deadline => patch.deadline = Some(None),
            Clearable::ParentId => patch.parent_id = Some(None),
        }
    }
    let value = GoalResponse::from(mnemic.update_goal(&caller, GoalId(id), &patch).await?);
    let text = format!("Changed the goal {}, which is {}.", value.id, value.status.as_str());
    Ok(Reply { value, text })
}

async fn complete(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfGoal, CompleteGoalRequest>,
) -> Result<Reply<FinishedGoalResponse>> {
    let Beside { subject, body: CompleteGoalRequest { status, result } } = input;
    let id = GoalId(subject.id);
    let done = mnemic.complete_goal(&caller, id, status.into(), result.as_deref()).await?;
    let value = FinishedGoalResponse::from(done);
    let mut text = format!("The goal {id} is {}.", value.goal.status.as_str());
    if !value.unblocked.is_empty() {
        let ids: Vec<_> = value.unblocked.iter().map(Uuid::to_string).collect();
        let _ = write!(text, " No longer blocked: {}.", ids.join(", "));
    }
    Ok(Reply { value, text })
}
