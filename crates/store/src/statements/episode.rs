//! Episodes.

use mnemic_core::Result;
use mnemic_core::conversation::Episode;
use mnemic_core::ids::{EpisodeId, TurnId};
use uuid::Uuid;

use super::{exactly_one, limit as rows, names};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, conversation_id, channel, summary, summarizer, turn_count, source_turn_ids, \
         participants, first_at, last_at, created_at, deleted_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "episode.lookup",
    concat!("SELECT ", columns!(), " FROM episodes WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST: Statement = Statement::workspace(
    "episode.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM episodes
         WHERE workspace_id = $1 AND conversation_id = $2 AND (id < $3 OR $3 IS NULL)
           AND deleted_at IS NULL
         ORDER BY id DESC LIMIT $4"
    ),
);

static ADD: Statement = Statement::workspace(
    "episode.add",
    concat!(
        "INSERT INTO episodes (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "episode.update",
    "UPDATE episodes SET summary = $3, deleted_at = $4, revision = $5
     WHERE workspace_id = $1 AND id = $2 AND revision = $5 - 1",
);

pub(crate) static ALL: &[&Statement] = &[&LOOKUP, &LIST, &ADD, &UPDATE];

pub(crate) fn lookup(id: EpisodeId) -> Vec<Value> {
    values![id.0]
}

pub(crate) fn list(conversation: &str, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![conversation, after, rows(limit)]
}

pub(crate) fn add(new: &Episode) -> Step {
    let sources: Vec<_> = new.source_turn_ids.iter().map(TurnId::to_string).collect();
    let params = values![
        new.id.0,
        &new.conversation_id,
        &new.channel,
        &new.summary,
        &new.summarizer,
        new.turn_count,
        names(&sources),
        names(&new.participants),
        new.first_at,
        new.last_at,
        new.created_at,
        new.deleted_at,
        new.revision,
    ];
    Step::new(&ADD, params)
}

pub(crate) fn update(changed: &Episode) -> Step {
    let params = values![changed.id.0, &changed.summary, changed.deleted_at, changed.revision];
    exactly_one(&UPDATE, params)
}

pub(crate) fn from_row(row: &Row) -> Result<Episode> {
    Ok(Episode {
        id: EpisodeId(row.uuid("id")?),
        conversation_id: row.string("conversation_id")?,
        channel: row.string("channel")?,
        summary: row.string("summary")?,
        summarizer: row.string("summarizer")?,
        turn_count: row.int("turn_count")?,
        source_turn_ids: row.decode("source_turn_ids")?,
        participants: row.decode("participants")?,
        first_at: row.time("first_at")?,
        last_at: row.time("last_at")?,
        created_at: row.time("created_at")?,
        deleted_at: row.opt_time("deleted_at")?,
        revision: row.int("revision")?,
    })
}
