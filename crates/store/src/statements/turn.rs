//! Turns. `place` is a turn's index, which SQL has another use for.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::conversation::{Turn, TurnSpan};
use mnemic_core::ids::TurnId;

use super::{exactly_one, limit as rows, object, object_from};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, conversation_id, channel, place, role, speaker, content, content_hash, at, \
         token_count, model, metadata, created_by, created_at"
    };
}

macro_rules! select {
    ($name:literal, $rest:literal) => {
        Statement::workspace(
            $name,
            concat!("SELECT ", columns!(), " FROM turns WHERE workspace_id = $1 AND ", $rest),
        )
    };
}

static LIST_FROM: Statement =
    select!("turn.list_from", "conversation_id = $2 AND place >= $3 ORDER BY place LIMIT $4");

static LIST_LAST: Statement =
    select!("turn.list_last", "conversation_id = $2 ORDER BY place DESC LIMIT $3");

pub(crate) static FIND_AT: Statement =
    select!("turn.find_at", "conversation_id = $2 AND place = $3");

pub(crate) static FIND_BY_TIME: Statement =
    select!("turn.find_by_time", "conversation_id = $2 AND at = $3 ORDER BY place");

pub(crate) static LIST_UNLEARNED: Statement = select!(
    "turn.list_unlearned",
    "conversation_id = $2 AND learned_at IS NULL ORDER BY place LIMIT $3"
);

/// Conversations with turns that nobody has learned from, where nothing was said since or much
/// was.
pub(crate) static UNLEARNED: Statement = Statement::workspace(
    "turn.unlearned",
    "SELECT conversation_id, count(*) AS rows FROM turns
     WHERE workspace_id = $1 AND learned_at IS NULL
     GROUP BY conversation_id HAVING max(created_at) <= $2 OR count(*) >= $3
     ORDER BY conversation_id LIMIT $4",
);

static LEARN: Statement = Statement::workspace(
    "turn.learn",
    "UPDATE turns SET learned_at = $3
     WHERE workspace_id = $1 AND id = $2 AND learned_at IS NULL",
);

static ADD: Statement = Statement::workspace(
    "turn.add",
    concat!(
        "INSERT INTO turns (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (workspace_id, conversation_id, place) DO NOTHING"
    ),
);

static ERASE: Statement =
    Statement::workspace("turn.erase", "DELETE FROM turns WHERE workspace_id = $1 AND id = $2");

pub(crate) static ALL: &[&Statement] = &[
    &LIST_UNLEARNED,
    &UNLEARNED,
    &LEARN,
    &ERASE,
    &LIST_FROM,
    &LIST_LAST,
    &FIND_AT,
    &FIND_BY_TIME,
    &ADD,
];

pub(crate) fn list(
    conversation: &str,
    span: TurnSpan,
    limit: usize,
) -> (&'static Statement, Vec<Value>) {
    match span {
        TurnSpan::From(index) => (&LIST_FROM, values![conversation, index, rows(limit)]),
        TurnSpan::Last => (&LIST_LAST, values![conversation, rows(limit)]),
    }
}

pub(crate) fn add(new: &Turn) -> Step {
    let params = values![
        new.id.0,
        &new.conversation_id,
        &new.channel,
        new.index,
        &new.role,
        new.speaker.as_deref(),
        &new.content,
        &new.content_hash,
        new.at,
        new.token_count,
        new.model.as_deref(),
        object(&new.metadata),
        &new.created_by,
        new.created_at,
    ];
    exactly_one(&ADD, params)
}

/// A turn that is gone, or that somebody has learned from, is a lost race.
pub(crate) fn learn(id: TurnId, at: Timestamp) -> Step {
    exactly_one(&LEARN, values![id.0, at])
}

pub(crate) fn unlearned(conversation: &str, limit: usize) -> Vec<Value> {
    values![conversation, rows(limit)]
}

pub(crate) fn unlearned_conversations(
    quiet_since: Timestamp,
    turns_min: usize,
    limit: usize,
) -> Vec<Value> {
    values![quiet_since, rows(turns_min), rows(limit)]
}

/// A turn that is no longer there is a lost race.
pub(crate) fn erase(id: TurnId) -> Step {
    exactly_one(&ERASE, values![id.0])
}

pub(crate) fn from_row(row: &Row) -> Result<Turn> {
    Ok(Turn {
        id: TurnId(row.uuid("id")?),
        conversation_id: row.string("conversation_id")?,
        channel: row.string("channel")?,
        index: row.int("place")?,
        role: row.string("role")?,
        speaker: row.opt_string("speaker")?,
        content: row.string("content")?,
        content_hash: row.string("content_hash")?,
        at: row.time("at")?,
        token_count: row.opt_int("token_count")?,
        model: row.opt_string("model")?,
        metadata: object_from(row.json("metadata")?)?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
    })
}
