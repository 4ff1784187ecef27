//! Calls of tools, and the figures that each call moves.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::InvocationId;
use mnemic_core::tool::{Invocation, ToolFigures};

use super::{exactly_one, limit};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, tool, success, latency_ms, error, input, output, conversation_id, created_by, \
         created_at"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "tool.lookup",
    concat!("SELECT ", columns!(), " FROM tool_invocations WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static EXISTS: Statement = Statement::workspace(
    "tool.exists",
    "SELECT id FROM tool_invocations WHERE workspace_id = $1 AND id = $2",
);

pub(crate) static LIST_UNLEARNED: Statement = Statement::workspace(
    "tool.list_unlearned",
    concat!(
        "SELECT ",
        columns!(),
        " FROM tool_invocations
         WHERE workspace_id = $1 AND conversation_id = $2 AND learned_at IS NULL
         ORDER BY created_at, id LIMIT $3"
    ),
);

pub(crate) static UNLEARNED: Statement = Statement::workspace(
    "tool.unlearned",
    "SELECT conversation_id FROM tool_invocations
     WHERE workspace_id = $1 AND learned_at IS NULL AND conversation_id IS NOT NULL
     GROUP BY conversation_id HAVING max(created_at) <= $2
     ORDER BY conversation_id LIMIT $3",
);

static LEARN: Statement = Statement::workspace(
    "tool.learn",
    "UPDATE tool_invocations SET learned_at = $3
     WHERE workspace_id = $1 AND id = $2 AND learned_at IS NULL",
);

pub(crate) static LIST: Statement = Statement::workspace(
    "tool.list",
    "SELECT tool, usage_count, success_count, timed_count, latency_ms_sum, last_used_at FROM tools
     WHERE workspace_id = $1 AND (tool > $2 OR $2 IS NULL) ORDER BY tool LIMIT $3",
);

static ADD: Statement = Statement::workspace(
    "tool.add",
    concat!(
        "INSERT INTO tool_invocations (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (workspace_id, id) DO NOTHING"
    ),
);

/// Calls may be reported in any order, so the last use is the latest one.
static COUNT: Statement = Statement::workspace(
    "tool.count",
    "INSERT INTO tools
         (workspace_id, tool, usage_count, success_count, timed_count, latency_ms_sum, last_used_at)
     VALUES ($1, $2, 1, $3, $4, $5, $6)
     ON CONFLICT (workspace_id, tool) DO UPDATE
     SET usage_count = tools.usage_count + 1,
         success_count = tools.success_count + excluded.success_count,
         timed_count = tools.timed_count + excluded.timed_count,
         latency_ms_sum = tools.latency_ms_sum + excluded.latency_ms_sum,
         last_used_at = CASE WHEN excluded.last_used_at > tools.last_used_at
                             THEN excluded.last_used_at ELSE tools.last_used_at END",
);

static ERASE: Statement = Statement::workspace(
    "tool.erase",
    "DELETE FROM tool_invocations WHERE workspace_id = $1 AND id = $2",
);

static ERASE_OWNERS_OF: Statement = Statement::workspace(
    "tool.erase_owners_of",
    "DELETE FROM owners WHERE workspace_id = $1 AND item_id IN
         (SELECT t.id FROM tool_invocations t
          WHERE t.workspace_id = $1 AND t.conversation_id = $2
            AND (t.created_at <= $3 OR $3 IS NULL))",
);

static ERASE_OF: Statement = Statement::workspace(
    "tool.erase_of",
    "DELETE FROM tool_invocations
     WHERE workspace_id = $1 AND conversation_id = $2 AND (created_at <= $3 OR $3 IS NULL)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &EXISTS,
    &LIST_UNLEARNED,
    &UNLEARNED,
    &LEARN,
    &LIST,
    &ADD,
    &COUNT,
    &ERASE,
    &ERASE_OWNERS_OF,
    &ERASE_OF,
];

/// A call that is there by now is a lost race, and is not counted.
pub(crate) fn add(call: &Invocation) -> [Step; 2] {
    let params = values![
        call.id.0,
        &call.tool,
        call.success,
        call.latency_ms,
        call.error.as_deref(),
        call.input.clone(),
        call.output.clone(),
        call.conversation_id.as_deref(),
        &call.created_by,
        call.created_at,
    ];
    let figures = values![
        &call.tool,
        i64::from(call.success),
        i64::from(call.latency_ms.is_some()),
        call.latency_ms.unwrap_or_default(),
        call.created_at,
    ];
    [exactly_one(&ADD, params), Step::new(&COUNT, figures)]
}

/// A call that is gone, or that somebody has learned from, is a lost race.
pub(crate) fn learn(id: InvocationId, at: Timestamp) -> Step {
    exactly_one(&LEARN, values![id.0, at])
}

pub(crate) fn unlearned(conversation: &str, calls: usize) -> Vec<Value> {
    values![conversation, limit(calls)]
}

pub(crate) fn unlearned_conversations(quiet_since: Timestamp, conversations: usize) -> Vec<Value> {
    values![quiet_since, limit(conversations)]
}

/// Figures stay: they tell nothing of a single call.
pub(crate) fn erase(id: InvocationId) -> Step {
    Step::new(&ERASE, values![id.0])
}

pub(crate) fn erase_of(conversation: &str, until: Option<Timestamp>) -> [Step; 2] {
    [
        Step::new(&ERASE_OWNERS_OF, values![conversation, until]),
        Step::new(&ERASE_OF, values![conversation, until]).counted("tool_invocations"),
    ]
}

pub(crate) fn from_row(row: &Row) -> Result<Invocation> {
    Ok(Invocation {
        id: InvocationId(row.uuid("id")?),
        tool: row.string("tool")?,
        success: row.bool("success")?,
        latency_ms: row.opt_int("latency_ms")?,
        error: row.opt_string("error")?,
        input: row.opt_json("input")?,
        output: row.opt_json("output")?,
        conversation_id: row.opt_string("conversation_id")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
    })
}

pub(crate) fn figures_from_row(row: &Row) -> Result<ToolFigures> {
    Ok(ToolFigures {
        tool: row.string("tool")?,
        usage_count: row.int("usage_count")?,
        success_count: row.int("success_count")?,
        timed_count: row.int("timed_count")?,
        latency_ms_sum: row.int("latency_ms_sum")?,
        last_used_at: row.time("last_used_at")?,
    })
}
