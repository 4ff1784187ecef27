//! Turns. `place` is a turn's index, which SQL has another use for.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::conversation::{Turn, TurnSpan};
use mnemic_core::ids::TurnId;
use mnemic_core::recall::{SearchFilter, Spoken};

use super::{exactly_one, limit as rows, object, object_from};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, conversation_id, channel, place, role, speaker, content, content_hash, at, \
         token_count, model, metadata, created_by, user_name, created_at"
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

static LIST_BEFORE: Statement =
    select!("turn.list_before", "conversation_id = $2 AND place < $3 ORDER BY place DESC LIMIT $4");

pub(crate) static LOOKUP: Statement = select!("turn.lookup", "id = $2");

static LIST_LAST: Statement =
    select!("turn.list_last", "conversation_id = $2 ORDER BY place DESC LIMIT $3");

pub(crate) static FIND_AT: Statement =
    select!("turn.find_at", "conversation_id = $2 AND place = $3");

pub(crate) static FIND_BY_TIME: Statement =
    select!("turn.find_by_time", "conversation_id = $2 AND at = $3 ORDER BY place");

/// The turn `$2` and those that stand at most `$3` places from it, as far as they are weighed.
pub(crate) static LIST_AROUND: Statement = Statement::workspace(
    "turn.list_around",
    "SELECT t.id, t.conversation_id, t.place, t.speaker, t.content, t.at
     FROM turns s JOIN turns t
       ON t.workspace_id = $1 AND t.conversation_id = s.conversation_id
      AND t.place >= s.place - CAST($3 AS bigint) AND t.place <= s.place + CAST($3 AS bigint)
     WHERE s.workspace_id = $1 AND s.id = $2",
);

/// Goes from name to name along the index, so that it costs by how many speak and not by how much.
pub(crate) static LIST_SPEAKERS: Statement = Statement::workspace(
    "turn.list_speakers",
    "WITH RECURSIVE speakers (name) AS (
         SELECT min(t.speaker) FROM turns t WHERE t.workspace_id = $1
         UNION ALL
         SELECT (SELECT min(t.speaker) FROM turns t
                 WHERE t.workspace_id = $1 AND t.speaker > speakers.name)
         FROM speakers WHERE speakers.name IS NOT NULL
     )
     SELECT name FROM speakers WHERE name IS NOT NULL LIMIT $2",
);

/// What `$2` said last, in one of two channels or any, and in one conversation or any.
pub(crate) static LIST_SAID_BY: Statement = select!(
    "turn.list_said_by",
    "speaker = $2 AND archived_at IS NULL
     AND (conversation_id = $3 OR $3 IS NULL) AND (channel = $4 OR channel = $5 OR $4 IS NULL)
     AND (at >= $6 OR $6 IS NULL) AND (at < $7 OR $7 IS NULL)
     ORDER BY at DESC, id DESC LIMIT $8"
);

/// What a search index is built of, in the columns that it is told of memories: a turn's
/// conversation is its topic, and when it was said is when it was recorded. Where it stands and who
/// said it is told besides.
macro_rules! search_entries {
    () => {
        "SELECT t.id, t.content, 'turn' AS kind, t.channel, NULL AS domain,
                t.conversation_id AS topic, FALSE AS pinned, t.at AS created_at,
                NULL AS valid_from, NULL AS valid_to, t.archived_at AS superseded_at, v.code,
                v.pieces, t.place, t.speaker
         FROM turns t LEFT JOIN vectors v
           ON v.workspace_id = $1 AND v.item_id = t.id AND v.model = $2
         WHERE t.workspace_id = $1"
    };
}

pub(crate) static SEARCH_ENTRIES: Statement =
    Statement::workspace("turn.search_entries", search_entries!());

pub(crate) static SEARCH_ENTRY: Statement =
    Statement::workspace("turn.search_entry", concat!(search_entries!(), " AND t.id = $3"));

static PUT_AWAY: Statement = Statement::workspace(
    "turn.put_away",
    "UPDATE turns SET archived_at = $3 WHERE workspace_id = $1 AND conversation_id = $2",
);

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
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         ON CONFLICT (workspace_id, conversation_id, place) DO NOTHING"
    ),
);

static ERASE: Statement =
    Statement::workspace("turn.erase", "DELETE FROM turns WHERE workspace_id = $1 AND id = $2");

pub(crate) static ALL: &[&Statement] = &[
    &LIST_AROUND,
    &LIST_SPEAKERS,
    &LIST_SAID_BY,
    &SEARCH_ENTRIES,
    &SEARCH_ENTRY,
    &PUT_AWAY,
    &LIST_UNLEARNED,
    &UNLEARNED,
    &LEARN,
    &ERASE,
    &LOOKUP,
    &LIST_FROM,
    &LIST_BEFORE,
    &LIST_LAST,
    &FIND_AT,
    &FIND_BY_TIME,
    &ADD,
];

pub(crate) fn list_speakers(limit: usize) -> Vec<Value> {
    values![rows(limit)]
}

pub(crate) fn list_said_by(speaker: &str, filter: &SearchFilter, limit: usize) -> Vec<Value> {
    let channels = filter.channels.as_deref();
    let first = channels.and_then(<[String]>::first).map(String::as_str);
    let last = channels.and_then(<[String]>::last).map(String::as_str);
    values![speaker, filter.topic.as_deref(), first, last, filter.since, filter.until, rows(limit)]
}

/// Puts the turns of a conversation away, or takes them out again.
pub(crate) fn put_away(conversation: &str, at: Option<Timestamp>) -> Step {
    Step::new(&PUT_AWAY, values![conversation, at])
}

pub(crate) fn list(
    conversation: &str,
    span: TurnSpan,
    limit: usize,
) -> (&'static Statement, Vec<Value>) {
    match span {
        TurnSpan::From(index) => (&LIST_FROM, values![conversation, index, rows(limit)]),
        TurnSpan::Before(index) => (&LIST_BEFORE, values![conversation, index, rows(limit)]),
        TurnSpan::Last => (&LIST_LAST, values![conversation, rows(limit)]),
    }
}

pub(crate) fn spoken_from_row(row: &Row) -> Result<Spoken> {
    let place = (row.text("conversation_id")?.into(), row.int("place")?);
    let speaker = row.opt_text("speaker")?.map(Into::into);
    let (id, content) = (TurnId(row.uuid("id")?), row.text("content")?.into());
    Ok(Spoken::new(id, place, speaker, content, row.time("at")?))
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
        new.user.as_deref(),
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
        user: row.opt_string("user_name")?,
        created_at: row.time("created_at")?,
    })
}
