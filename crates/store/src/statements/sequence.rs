//! Sequences, their keys and the counts of them.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::action::Outcome;
use mnemic_core::ids::{ActionId, IntentId, SequenceId};
use mnemic_core::page::Dated;
use mnemic_core::sequence::{Key, Sequence, SequenceFilter};

use super::action::outcome;
use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "s.id, s.session_id, s.agent_id, s.first_at, s.last_at, s.last_action_id, s.action_count, \
         s.outcome, s.intent_id, i.text AS intent_summary, s.closed_at, s.counted_day, s.revision"
    };
}

macro_rules! select {
    ($name:literal, $condition:literal) => {
        Statement::workspace(
            $name,
            concat!(
                "SELECT ",
                columns!(),
                " FROM sequences s
                  LEFT JOIN intents i ON i.workspace_id = $1 AND i.id = s.intent_id
                  WHERE s.workspace_id = $1 AND ",
                $condition
            ),
        )
    };
}

pub(crate) static LOOKUP: Statement = select!("sequence.lookup", "s.id = $2");

pub(crate) static LIST: Statement = select!(
    "sequence.list",
    "(s.session_id = $2 OR $2 IS NULL)
     AND (s.agent_id = $3 OR $3 IS NULL)
     AND (s.outcome = $4 OR $4 IS NULL)
     AND ((s.closed_at IS NOT NULL) = $5 OR $5 IS NULL)
     AND (s.last_at >= $6 OR $6 IS NULL)
     AND (s.last_at < $7 OR $7 IS NULL)
     AND (s.last_at < $8 OR (s.last_at = $8 AND s.id < $9) OR $8 IS NULL)
     AND (NOT $13
          OR EXISTS (SELECT 1 FROM sequence_keys k
                     WHERE k.workspace_id = $1 AND k.sequence_id = s.id
                       AND (k.action_type = $10 OR $10 IS NULL)
                       AND (k.node_type = $11 OR $11 IS NULL)
                       AND (k.error_code = $12 OR $12 IS NULL)))
     ORDER BY s.last_at DESC, s.id DESC LIMIT $14"
);

pub(crate) static TOUCHING: Statement = select!(
    "sequence.touching",
    "s.session_id = $2 AND s.last_at >= $3 AND s.first_at <= $4 ORDER BY s.last_at"
);

pub(crate) static LIST_OPEN: Statement = select!(
    "sequence.list_open",
    "s.closed_at IS NULL AND s.last_at < $2 ORDER BY s.last_at, s.id LIMIT $3"
);

pub(crate) static COUNT_OPEN: Statement = Statement::workspace(
    "sequence.count_open",
    "SELECT count(*) AS rows FROM sequences
     WHERE workspace_id = $1 AND closed_at IS NULL AND last_at < $2",
);

pub(crate) static LIST_OF_INTENT: Statement = select!(
    "sequence.list_of_intent",
    "s.intent_id = $2 AND s.closed_at IS NOT NULL ORDER BY s.last_at DESC, s.id DESC LIMIT $3"
);

pub(crate) static KEYS: Statement = Statement::workspace(
    "sequence.keys",
    "SELECT action_type, node_type, error_code FROM sequence_keys
     WHERE workspace_id = $1 AND sequence_id = $2 ORDER BY action_type, node_type, error_code",
);

pub(crate) static HEAD: Statement = Statement::workspace(
    "sequence.head",
    "SELECT action_type, coalesce(node_type, '') AS node_type,
            coalesce(error_code, '') AS error_code
     FROM actions WHERE workspace_id = $1 AND sequence_id = $2 ORDER BY at, id LIMIT $3",
);

static ADD: Statement = Statement::workspace(
    "sequence.add",
    "INSERT INTO sequences (workspace_id, id, session_id, agent_id, first_at, last_at,
         last_action_id, action_count, outcome, intent_id, closed_at, counted_day, revision)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
);

static UPDATE: Statement = Statement::workspace(
    "sequence.update",
    "UPDATE sequences SET agent_id = $3, first_at = $4, last_at = $5, last_action_id = $6,
         action_count = $7, outcome = $8, intent_id = $9, closed_at = $10, counted_day = $11,
         revision = $12
     WHERE workspace_id = $1 AND id = $2 AND revision = $12 - 1",
);

static DROP: Statement = Statement::workspace(
    "sequence.drop",
    "DELETE FROM sequences WHERE workspace_id = $1 AND id = $2 AND revision = $3",
);

static ADD_KEY: Statement = Statement::workspace(
    "sequence.add_key",
    "INSERT INTO sequence_keys (workspace_id, sequence_id, action_type, node_type, error_code)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, sequence_id, action_type, node_type, error_code) DO NOTHING",
);

static MOVE_KEYS: Statement = Statement::workspace(
    "sequence.move_keys",
    "INSERT INTO sequence_keys (workspace_id, sequence_id, action_type, node_type, error_code)
     SELECT $1, $3, k.action_type, k.node_type, k.error_code FROM sequence_keys k
     WHERE k.workspace_id = $1 AND k.sequence_id = $2
     ON CONFLICT (workspace_id, sequence_id, action_type, node_type, error_code) DO NOTHING",
);

static DROP_KEYS: Statement = Statement::workspace(
    "sequence.drop_keys",
    "DELETE FROM sequence_keys WHERE workspace_id = $1 AND sequence_id = $2",
);

static ERASE_KEYS_OF_SESSION: Statement = Statement::workspace(
    "sequence.erase_keys_of_session",
    "DELETE FROM sequence_keys WHERE workspace_id = $1 AND sequence_id IN
         (SELECT s.id FROM sequences s WHERE s.workspace_id = $1 AND s.session_id = $2
            AND (s.first_at <= $3 OR $3 IS NULL))",
);

static ERASE_OF_SESSION: Statement = Statement::workspace(
    "sequence.erase_of_session",
    "DELETE FROM sequences
     WHERE workspace_id = $1 AND session_id = $2 AND (first_at <= $3 OR $3 IS NULL)",
);

static BLANK_AGENT: Statement = Statement::workspace(
    "sequence.blank_agent",
    "UPDATE sequences SET agent_id = $3
     WHERE workspace_id = $1 AND agent_id = $2 AND (first_at <= $4 OR $4 IS NULL)",
);

static BLANK_SESSION: Statement = Statement::workspace(
    "sequence.blank_session",
    "UPDATE sequences SET session_id = $3
     WHERE workspace_id = $1 AND session_id = $2 AND (first_at <= $4 OR $4 IS NULL)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &LIST,
    &TOUCHING,
    &LIST_OPEN,
    &COUNT_OPEN,
    &LIST_OF_INTENT,
    &KEYS,
    &HEAD,
    &ADD,
    &UPDATE,
    &DROP,
    &ADD_KEY,
    &MOVE_KEYS,
    &DROP_KEYS,
    &ERASE_KEYS_OF_SESSION,
    &ERASE_OF_SESSION,
    &BLANK_AGENT,
    &BLANK_SESSION,
];

pub(crate) fn list(filter: &SequenceFilter, after: Option<Dated>, limit: usize) -> Vec<Value> {
    let by_key =
        filter.action_type.is_some() || filter.node_type.is_some() || filter.error_code.is_some();
    values![
        filter.session_id.as_deref(),
        filter.agent_id.as_deref(),
        filter.outcome.map(Outcome::as_str),
        filter.closed,
        filter.since,
        filter.until,
        after.map(|after| after.at),
        after.map(|after| after.id),
        filter.action_type.as_deref(),
        filter.node_type.as_deref(),
        filter.error_code.as_deref(),
        by_key,
        rows(limit),
    ]
}

pub(crate) fn add(new: &Sequence) -> Step {
    let params = values![
        new.id.0,
        &new.session_id,
        &new.agent_id,
        new.first_at,
        new.last_at,
        new.last_action_id.0,
        new.action_count,
        new.outcome.as_str(),
        new.intent_id.map(|id| id.0),
        new.closed_at,
        new.counted_day,
        new.revision,
    ];
    Step::new(&ADD, params)
}

pub(crate) fn update(changed: &Sequence) -> Step {
    let params = values![
        changed.id.0,
        &changed.agent_id,
        changed.first_at,
        changed.last_at,
        changed.last_action_id.0,
        changed.action_count,
        changed.outcome.as_str(),
        changed.intent_id.map(|id| id.0),
        changed.closed_at,
        changed.counted_day,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

/// Its actions are moved by themselves.
pub(crate) fn absorb(id: SequenceId, revision: i64, into: SequenceId) -> [Step; 3] {
    [
        Step::new(&MOVE_KEYS, values![id.0, into.0]),
        Step::new(&DROP_KEYS, values![id.0]),
        exactly_one(&DROP, values![id.0, revision]),
    ]
}

pub(crate) fn add_key(sequence: SequenceId, key: &Key) -> Step {
    let params = values![sequence.0, &key.action_type, &key.node_type, &key.error_code];
    Step::new(&ADD_KEY, params)
}

pub(crate) fn erase_of(session: &str, until: Option<Timestamp>) -> [Step; 2] {
    [
        Step::new(&ERASE_KEYS_OF_SESSION, values![session, until]),
        Step::new(&ERASE_OF_SESSION, values![session, until]).counted("sequences"),
    ]
}

/// Puts another name where a user's stood.
pub(crate) fn blank(user: &str, name: &str, until: Option<Timestamp>) -> [Step; 2] {
    [&BLANK_AGENT, &BLANK_SESSION]
        .map(|statement| Step::new(statement, values![user, name, until]).counted("mentions"))
}

pub(crate) fn from_row(row: &Row) -> Result<Sequence> {
    Ok(Sequence {
        id: SequenceId(row.uuid("id")?),
        session_id: row.string("session_id")?,
        agent_id: row.string("agent_id")?,
        first_at: row.time("first_at")?,
        last_at: row.time("last_at")?,
        last_action_id: ActionId(row.uuid("last_action_id")?),
        action_count: row.int("action_count")?,
        outcome: outcome(row)?,
        intent_id: row.opt_uuid("intent_id")?.map(IntentId),
        intent_summary: row.opt_string("intent_summary")?,
        closed_at: row.opt_time("closed_at")?,
        counted_day: row.opt_int("counted_day")?,
        revision: row.int("revision")?,
    })
}

pub(crate) fn key_from_row(row: &Row) -> Result<Key> {
    Ok(Key {
        action_type: row.string("action_type")?,
        node_type: row.string("node_type")?,
        error_code: row.string("error_code")?,
    })
}
