//! Goals. Their edges are read beside them, by the statements of edges.

use mnemic_core::edge::BLOCKED_BY;
use mnemic_core::goal::{Goal, GoalFilter};
use mnemic_core::ids::GoalId;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, channel, conversation_id, description, status, priority, deadline, result, \
         created_by, created_at, updated_at, finished_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "goal.lookup",
    concat!("SELECT ", columns!(), " FROM goals WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST: Statement = Statement::workspace(
    "goal.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM goals
         WHERE workspace_id = $1 AND (id < $2 OR $2 IS NULL) AND (status = $3 OR $3 IS NULL)
           AND (channel = $4 OR $4 IS NULL) AND (conversation_id = $5 OR $5 IS NULL)
         ORDER BY id DESC LIMIT $6"
    ),
);

pub(crate) static LIST_OF: Statement = Statement::workspace(
    "goal.list_of",
    "SELECT id FROM goals
     WHERE workspace_id = $1 AND conversation_id = $2 AND (created_at <= $3 OR $3 IS NULL)
     ORDER BY id",
);

static ADD: Statement = Statement::workspace(
    "goal.add",
    concat!(
        "INSERT INTO goals (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "goal.update",
    "UPDATE goals SET description = $3, status = $4, priority = $5, deadline = $6, result = $7,
         updated_at = $8, finished_at = $9, revision = $10
     WHERE workspace_id = $1 AND id = $2 AND revision = $10 - 1",
);

static REQUIRE: Statement = Statement::workspace(
    "goal.require",
    "SELECT id FROM goals WHERE workspace_id = $1 AND id = $2 AND revision = $3",
);

static TOUCH: Statement = Statement::workspace(
    "goal.touch",
    "UPDATE goals SET revision = revision + 1
     WHERE workspace_id = $1 AND id = $2 AND revision = $3",
);

static ERASE: Statement =
    Statement::workspace("goal.erase", "DELETE FROM goals WHERE workspace_id = $1 AND id = $2");

/// What waits for nothing any more goes on.
static RELEASE: Statement = Statement::workspace(
    "goal.release",
    "UPDATE goals SET status = 'active', revision = revision + 1
     WHERE workspace_id = $1 AND status = 'blocked'
       AND NOT EXISTS (SELECT 1 FROM edges e
                       WHERE e.workspace_id = $1 AND e.source_id = goals.id AND e.relation = $2
                         AND e.superseded_at IS NULL)",
);

pub(crate) static ALL: &[&Statement] =
    &[&LOOKUP, &LIST, &LIST_OF, &ADD, &UPDATE, &REQUIRE, &TOUCH, &ERASE, &RELEASE];

pub(crate) fn list(filter: &GoalFilter, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    let status = filter.status.map(mnemic_core::goal::GoalStatus::as_str);
    values![
        after,
        status,
        filter.channel.as_deref(),
        filter.conversation_id.as_deref(),
        rows(limit)
    ]
}

pub(crate) fn add(new: &Goal) -> Step {
    let params = values![
        new.id.0,
        &new.channel,
        new.conversation_id.as_deref(),
        &new.description,
        new.status.as_str(),
        new.priority,
        new.deadline,
        new.result.as_deref(),
        &new.created_by,
        new.created_at,
        new.updated_at,
        new.finished_at,
        new.revision,
    ];
    Step::new(&ADD, params)
}

pub(crate) fn update(changed: &Goal) -> Step {
    let params = values![
        changed.id.0,
        &changed.description,
        changed.status.as_str(),
        changed.priority,
        changed.deadline,
        changed.result.as_deref(),
        changed.updated_at,
        changed.finished_at,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

pub(crate) fn require(id: GoalId, revision: i64) -> Step {
    exactly_one(&REQUIRE, values![id.0, revision])
}

pub(crate) fn touch(id: GoalId, revision: i64) -> Step {
    exactly_one(&TOUCH, values![id.0, revision])
}

pub(crate) fn erase(id: GoalId) -> Step {
    Step::new(&ERASE, values![id.0])
}

pub(crate) fn release() -> Step {
    Step::new(&RELEASE, values![BLOCKED_BY])
}

/// A goal but for what its edges say.
pub(crate) fn from_row(row: &Row) -> Result<Goal> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored goal is damaged").caused_by(e);
    Ok(Goal {
        id: GoalId(row.uuid("id")?),
        channel: row.string("channel")?,
        conversation_id: row.opt_string("conversation_id")?,
        description: row.string("description")?,
        status: row.text("status")?.parse().map_err(damaged)?,
        priority: row.int("priority")?,
        deadline: row.opt_time("deadline")?,
        result: row.opt_string("result")?,
        parent_id: None,
        blocked_by: vec![],
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        finished_at: row.opt_time("finished_at")?,
        revision: row.int("revision")?,
    })
}
