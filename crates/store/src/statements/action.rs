//! What agents did.

use jiff::Timestamp;
use mnemic_core::action::{ActionFilter, AgentAction, Outcome};
use mnemic_core::ids::{ActionId, SequenceId};
use mnemic_core::page::Dated;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::limit as rows;
use crate::{Expect, Fields, Row, Statement, Step, Value, values};

/// Of a record that much was done to, the latest.
const KEYS_ROWS_MAX: usize = 1_000;

macro_rules! columns {
    () => {
        "a.id, a.session_id, a.agent_id, a.action_type, a.node_type, a.node_ids, a.outcome, \
         a.error_code, a.latency_ms, a.at, a.created_at, a.sequence_id"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "action.lookup",
    concat!("SELECT ", columns!(), " FROM actions a WHERE a.workspace_id = $1 AND a.id = $2"),
);

/// Whether an action passes the filter, from `$2` to `$12`.
macro_rules! passes {
    () => {
        "a.workspace_id = $1
         AND (a.session_id = $2 OR $2 IS NULL)
         AND (a.agent_id = $3 OR $3 IS NULL)
         AND (a.action_type = $4 OR $4 IS NULL)
         AND (a.node_type = $5 OR $5 IS NULL)
         AND (a.outcome = $6 OR $6 IS NULL)
         AND (a.error_code = $7 OR $7 IS NULL)
         AND (a.at >= $8 OR $8 IS NULL)
         AND (a.at < $9 OR $9 IS NULL)
         AND (a.at < $10 OR (a.at = $10 AND a.id < $11) OR $10 IS NULL)"
    };
}

macro_rules! ordered {
    () => {
        " ORDER BY a.at DESC, a.id DESC LIMIT $12"
    };
}

/// The first actions of both kinds, those that are grouped and those that are not yet: each has
/// indexes of its own.
macro_rules! first_of_both {
    ($ungrouped:literal, $grouped:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM (",
            first!("a.sequence_id IS NULL", $ungrouped),
            " UNION ALL ",
            first!("a.sequence_id IS NOT NULL", $grouped),
            ") AS a",
            ordered!()
        )
    };
}

macro_rules! first {
    ($state:literal, $which:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM (SELECT ",
            columns!(),
            " FROM actions a WHERE ",
            $state,
            " AND ",
            $which,
            passes!(),
            ordered!(),
            ") AS a"
        )
    };
}

/// Every session has a name, which is said so that the index that begins with it is taken.
pub(crate) static LIST: Statement =
    Statement::workspace("action.list", first_of_both!("a.session_id >= '' AND ", ""));

pub(crate) static LIST_OF_SEQUENCE: Statement = Statement::workspace(
    "action.list_of_sequence",
    concat!(
        "SELECT ",
        columns!(),
        " FROM actions a WHERE a.sequence_id = $13 AND ",
        passes!(),
        ordered!()
    ),
);

pub(crate) static LIST_OF_SESSION: Statement = Statement::workspace(
    "action.list_of_session",
    first_of_both!("a.session_id = $13 AND ", "a.session_id = $13 AND "),
);

pub(crate) static LIST_OF_NODE: Statement = Statement::workspace(
    "action.list_of_node",
    concat!(
        "SELECT ",
        columns!(),
        " FROM action_nodes n JOIN actions a ON a.workspace_id = $1 AND a.id = n.action_id
         WHERE n.workspace_id = $1 AND n.node_id = $13
           AND (a.sequence_id = $14 OR $14 IS NULL) AND ",
        passes!(),
        ordered!()
    ),
);

pub(crate) static LIST_IN_ORDER: Statement = Statement::workspace(
    "action.list_in_order",
    concat!(
        "SELECT ",
        columns!(),
        " FROM actions a WHERE a.workspace_id = $1 AND a.sequence_id = $2
           AND (a.at >= $3 OR $3 IS NULL)
         ORDER BY a.at, a.id LIMIT $4"
    ),
);

pub(crate) static LIST_UNGROUPED: Statement = Statement::workspace(
    "action.list_ungrouped",
    concat!(
        "SELECT ",
        columns!(),
        " FROM actions a WHERE a.workspace_id = $1 AND a.sequence_id IS NULL
         ORDER BY a.session_id, a.at, a.id LIMIT $2"
    ),
);

pub(crate) static COUNT_UNGROUPED: Statement = Statement::workspace(
    "action.count_ungrouped",
    "SELECT count(*) AS rows FROM actions WHERE workspace_id = $1 AND sequence_id IS NULL",
);

pub(crate) static KEYS_OF_NODE: Statement = Statement::workspace(
    "action.keys_of_node",
    "SELECT DISTINCT t.action_type, t.node_type FROM (
         SELECT a.action_type, coalesce(a.node_type, '') AS node_type
         FROM action_nodes n JOIN actions a ON a.workspace_id = $1 AND a.id = n.action_id
         WHERE n.workspace_id = $1 AND n.node_id = $2
         ORDER BY n.action_id DESC LIMIT $3
     ) AS t ORDER BY t.action_type, t.node_type",
);

static ADD: Statement = Statement::workspace(
    "action.add",
    "INSERT INTO actions (workspace_id, id, session_id, agent_id, action_type, node_type, node_ids,
         outcome, error_code, latency_ms, at, created_at, sequence_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL)",
)
.adds();

static ADD_NODE: Statement = Statement::workspace(
    "action.add_node",
    "INSERT INTO action_nodes (workspace_id, node_id, action_id) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, node_id, action_id) DO NOTHING",
);

static GROUP: Statement = Statement::workspace(
    "action.group",
    "UPDATE actions SET sequence_id = $2
     WHERE workspace_id = $1 AND session_id = $3 AND sequence_id IS NULL AND at >= $4
       AND (at < $5 OR (at = $5 AND id <= $6))",
);

static MOVE: Statement = Statement::workspace(
    "action.move",
    "UPDATE actions SET sequence_id = $3 WHERE workspace_id = $1 AND sequence_id = $2",
);

/// The actions of a session, those that are grouped or those that are not yet, each by its index.
macro_rules! of_session {
    ($state:literal, $until:literal) => {
        concat!(
            " WHERE workspace_id = $1 AND session_id = $2 AND sequence_id ",
            $state,
            " AND (created_at <= ",
            $until,
            " OR ",
            $until,
            " IS NULL)"
        )
    };
}

macro_rules! erase_nodes_of_session {
    ($state:literal) => {
        concat!(
            "DELETE FROM action_nodes WHERE workspace_id = $1 AND action_id IN
                 (SELECT id FROM actions",
            of_session!($state, "$3"),
            ")"
        )
    };
}

static ERASE_NODES_OF_SESSION: [Statement; 2] = [
    Statement::workspace("action.erase_nodes_ungrouped", erase_nodes_of_session!("IS NULL")),
    Statement::workspace("action.erase_nodes_grouped", erase_nodes_of_session!("IS NOT NULL")),
];

static ERASE_OF_SESSION: [Statement; 2] = [
    Statement::workspace(
        "action.erase_ungrouped",
        concat!("DELETE FROM actions", of_session!("IS NULL", "$3")),
    ),
    Statement::workspace(
        "action.erase_grouped",
        concat!("DELETE FROM actions", of_session!("IS NOT NULL", "$3")),
    ),
];

static BLANK_AGENT: Statement = Statement::workspace(
    "action.blank_agent",
    "UPDATE actions SET agent_id = $3
     WHERE workspace_id = $1 AND agent_id = $2 AND (created_at <= $4 OR $4 IS NULL)",
);

static BLANK_SESSION: [Statement; 2] = [
    Statement::workspace(
        "action.blank_ungrouped",
        concat!("UPDATE actions SET session_id = $3", of_session!("IS NULL", "$4")),
    ),
    Statement::workspace(
        "action.blank_grouped",
        concat!("UPDATE actions SET session_id = $3", of_session!("IS NOT NULL", "$4")),
    ),
];

static ERASE_NODE: Statement = Statement::workspace(
    "action.erase_node",
    "DELETE FROM action_nodes WHERE workspace_id = $1 AND node_id = $2",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &LIST,
    &LIST_OF_SEQUENCE,
    &LIST_OF_SESSION,
    &LIST_OF_NODE,
    &LIST_IN_ORDER,
    &LIST_UNGROUPED,
    &COUNT_UNGROUPED,
    &KEYS_OF_NODE,
    &ADD,
    &ADD_NODE,
    &GROUP,
    &MOVE,
    &ERASE_NODES_OF_SESSION[0],
    &ERASE_NODES_OF_SESSION[1],
    &ERASE_OF_SESSION[0],
    &ERASE_OF_SESSION[1],
    &BLANK_AGENT,
    &BLANK_SESSION[0],
    &BLANK_SESSION[1],
    &ERASE_NODE,
];

/// The statement that answers a filter by the best index, and what it takes.
pub(crate) fn list(
    filter: &ActionFilter,
    after: Option<Dated>,
    limit: usize,
) -> (&'static Statement, Vec<Value>) {
    let mut params = values![
        filter.session_id.as_deref(),
        filter.agent_id.as_deref(),
        filter.action_type.as_deref(),
        filter.node_type.as_deref(),
        filter.outcome.map(Outcome::as_str),
        filter.error_code.as_deref(),
        filter.since,
        filter.until,
        after.map(|after| after.at),
        after.map(|after| after.id),
        rows(limit),
    ];
    let sequence = filter.sequence_id.map(|id| id.0);
    if let Some(node) = filter.node_id {
        params.extend(values![node, sequence]);
        (&LIST_OF_NODE, params)
    } else if let Some(sequence) = sequence {
        params.extend(values![sequence]);
        (&LIST_OF_SEQUENCE, params)
    } else if let Some(session) = &filter.session_id {
        params.extend(values![session]);
        (&LIST_OF_SESSION, params)
    } else {
        (&LIST, params)
    }
}

pub(crate) fn in_order(id: SequenceId, since: Option<Timestamp>, limit: usize) -> Vec<Value> {
    values![id.0, since, rows(limit)]
}

pub(crate) fn keys_of_node(id: Uuid) -> Vec<Value> {
    values![id, rows(KEYS_ROWS_MAX)]
}

/// One that is there by now is a lost race.
pub(crate) fn add(new: &AgentAction) -> Vec<Step> {
    let ids: Vec<_> = new.node_ids.iter().map(ToString::to_string).collect();
    let params = values![
        new.id.0,
        &new.session_id,
        &new.agent_id,
        &new.action_type,
        new.node_type.as_deref(),
        super::names(&ids),
        new.outcome.as_str(),
        new.error_code.as_deref(),
        new.latency_ms,
        new.at,
        new.created_at,
    ];
    let nodes = new.node_ids.iter().map(|node| Step::new(&ADD_NODE, values![*node, new.id.0]));
    let add =
        Step::new(&ADD, params).otherwise(Code::Stale, "the action came in meanwhile; try again");
    std::iter::once(add).chain(nodes).collect()
}

/// An action that came into the span, or went from it, is a lost race.
pub(crate) fn group(
    sequence: SequenceId,
    session: &str,
    since: Timestamp,
    last: Dated,
    count: usize,
) -> Step {
    Step::new(&GROUP, values![sequence.0, session, since, last.at, last.id])
        .expect(Expect::Rows(count as u64))
        .otherwise(Code::Stale, "actions of the session changed meanwhile; try again")
}

pub(crate) fn move_all(from: SequenceId, to: SequenceId) -> Step {
    Step::new(&MOVE, values![from.0, to.0])
}

/// What was done in a conversation goes with it; figures of it tell nothing of a single one.
pub(crate) fn erase_of(session: &str, until: Option<Timestamp>) -> [Step; 4] {
    let step = |statement| Step::new(statement, values![session, until]);
    let [nodes, grouped_nodes] = &ERASE_NODES_OF_SESSION;
    let [actions, grouped] = &ERASE_OF_SESSION;
    let counted = |statement| step(statement).counted("actions");
    [step(nodes), step(grouped_nodes), counted(actions), counted(grouped)]
}

/// Puts another name where a user's stood.
pub(crate) fn blank(user: &str, name: &str, until: Option<Timestamp>) -> [Step; 3] {
    let [session, grouped] = &BLANK_SESSION;
    [&BLANK_AGENT, session, grouped]
        .map(|statement| Step::new(statement, values![user, name, until]).counted("mentions"))
}

/// A node that goes is in no lookup any more.
pub(crate) fn erase_node(id: Uuid) -> Step {
    Step::new(&ERASE_NODE, values![id])
}

pub(crate) fn from_row(row: &Row) -> Result<AgentAction> {
    Ok(AgentAction {
        id: ActionId(row.uuid("id")?),
        session_id: row.string("session_id")?,
        agent_id: row.string("agent_id")?,
        action_type: row.string("action_type")?,
        node_type: row.opt_string("node_type")?,
        node_ids: row.decode("node_ids")?,
        outcome: outcome(row)?,
        error_code: row.opt_string("error_code")?,
        latency_ms: row.opt_int("latency_ms")?,
        at: row.time("at")?,
        created_at: row.time("created_at")?,
        sequence_id: row.opt_uuid("sequence_id")?.map(SequenceId),
    })
}

pub(crate) fn outcome(row: &Row) -> Result<Outcome> {
    row.text("outcome")?.parse().map_err(damaged)
}

pub(crate) fn pair_from_row(row: &Row) -> Result<(String, String)> {
    Ok((row.string("action_type")?, row.string("node_type")?))
}

fn damaged(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(Code::Corrupt, "a stored action is damaged").caused_by(cause)
}
