//! Conversations.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::conversation::{Conversation, ConversationFilter};
use uuid::Uuid;

use super::{exactly_one, limit as rows, object, object_from};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, key, channel, title, metadata, turns, next_index, created_by, user_name, \
         created_at, updated_at, archived_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "conversation.lookup",
    concat!("SELECT ", columns!(), " FROM conversations WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static FIND_BY_KEY: Statement = Statement::workspace(
    "conversation.find_by_key",
    concat!("SELECT ", columns!(), " FROM conversations WHERE workspace_id = $1 AND key = $2"),
);

/// Keys are ordered by time, so the newest come first.
pub(crate) static LIST: Statement = Statement::workspace(
    "conversation.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM conversations
         WHERE workspace_id = $1 AND (key < $2 OR $2 IS NULL)
           AND (channel = $3 OR $3 IS NULL) AND (archived_at IS NULL OR $4)
         ORDER BY key DESC LIMIT $5"
    ),
);

/// Those with more turns than so many, oldest first.
pub(crate) static LIST_LONG: Statement = Statement::workspace(
    "conversation.list_long",
    concat!(
        "SELECT ",
        columns!(),
        " FROM conversations
         WHERE workspace_id = $1 AND turns > $2 AND (key > $3 OR $3 IS NULL)
         ORDER BY key LIMIT $4"
    ),
);

/// Those in which nothing was said since.
pub(crate) static LIST_DORMANT: Statement = Statement::workspace(
    "conversation.list_dormant",
    concat!(
        "SELECT ",
        columns!(),
        " FROM conversations c
         WHERE c.workspace_id = $1 AND c.archived_at IS NULL AND c.created_at < $2
           AND NOT EXISTS (SELECT 1 FROM turns t
                           WHERE t.workspace_id = $1 AND t.conversation_id = c.id
                             AND t.created_at >= $2)
           AND NOT EXISTS (SELECT 1 FROM episodes e
                           WHERE e.workspace_id = $1 AND e.conversation_id = c.id
                             AND e.last_at >= $2)
           AND (c.key > $3 OR $3 IS NULL)
         ORDER BY c.key LIMIT $4"
    ),
);

static ADD: Statement = Statement::workspace(
    "conversation.add",
    concat!(
        "INSERT INTO conversations (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (workspace_id, id) DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "conversation.update",
    "UPDATE conversations SET channel = $3, title = $4, metadata = $5, turns = $6,
         next_index = $7, updated_at = $8, archived_at = $9, revision = $10
     WHERE workspace_id = $1 AND id = $2 AND revision = $10 - 1",
);

/// Turns and episodes of a conversation until `$3`, and the conversation itself.
macro_rules! said {
    () => {
        "SELECT t.id FROM turns t WHERE t.workspace_id = $1 AND t.conversation_id = $2
           AND (t.created_at <= $3 OR $3 IS NULL)
         UNION ALL
         SELECT p.id FROM episodes p WHERE p.workspace_id = $1 AND p.conversation_id = $2
           AND (p.created_at <= $3 OR $3 IS NULL)
         UNION ALL
         SELECT c.key FROM conversations c WHERE c.workspace_id = $1 AND c.id = $2
           AND (c.created_at <= $3 OR $3 IS NULL)"
    };
}

static ERASE_VECTORS: Statement = Statement::workspace(
    "conversation.erase_vectors",
    concat!("DELETE FROM vectors WHERE workspace_id = $1 AND item_id IN (", said!(), ")"),
);

static ERASE_EDGES_FROM: Statement = Statement::workspace(
    "conversation.erase_edges_from",
    concat!("DELETE FROM edges WHERE workspace_id = $1 AND source_id IN (", said!(), ")"),
);

static ERASE_EDGES_TO: Statement = Statement::workspace(
    "conversation.erase_edges_to",
    concat!("DELETE FROM edges WHERE workspace_id = $1 AND target_id IN (", said!(), ")"),
);

/// Answers that name the conversation, in either way in which JSON is kept. They are read through
/// once, and compared letter by letter: to `LIKE`, `_` is any letter.
static ERASE_ANSWERS: Statement = Statement::workspace(
    "conversation.erase_answers",
    "DELETE FROM answers WHERE workspace_id = $1
       AND (replace(CAST(body AS TEXT), $2, '') <> CAST(body AS TEXT)
            OR replace(CAST(body AS TEXT), $3, '') <> CAST(body AS TEXT))
       AND (created_at <= $4 OR $4 IS NULL)",
);

static ERASE_EPISODES: Statement = Statement::workspace(
    "conversation.erase_episodes",
    "DELETE FROM episodes WHERE workspace_id = $1 AND conversation_id = $2
       AND (created_at <= $3 OR $3 IS NULL)",
);

static ERASE_TURNS: Statement = Statement::workspace(
    "conversation.erase_turns",
    "DELETE FROM turns WHERE workspace_id = $1 AND conversation_id = $2
       AND (created_at <= $3 OR $3 IS NULL)",
);

/// Of all times, or if nothing was said in it since.
static ERASE: Statement = Statement::workspace(
    "conversation.erase",
    "DELETE FROM conversations WHERE workspace_id = $1 AND id = $2
       AND (created_at <= $3 OR $3 IS NULL)
       AND NOT EXISTS (SELECT 1 FROM turns t
                       WHERE t.workspace_id = $1 AND t.conversation_id = $2)",
);

/// Counts again what an erasure left of a conversation's turns, and moves the revision so that
/// whoever decided on what was before decides again.
pub(super) static RECOUNT: Statement = Statement::workspace(
    "conversation.recount",
    "UPDATE conversations SET revision = revision + 1,
         turns = (SELECT count(*) FROM turns t
                  WHERE t.workspace_id = $1 AND t.conversation_id = conversations.id)
     WHERE workspace_id = $1
       AND turns <> (SELECT count(*) FROM turns t
                     WHERE t.workspace_id = $1 AND t.conversation_id = conversations.id)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &FIND_BY_KEY,
    &LIST,
    &LIST_LONG,
    &LIST_DORMANT,
    &ADD,
    &UPDATE,
    &ERASE_VECTORS,
    &ERASE_EDGES_FROM,
    &ERASE_EDGES_TO,
    &ERASE_ANSWERS,
    &ERASE_EPISODES,
    &ERASE_TURNS,
    &ERASE,
    &RECOUNT,
];

pub(crate) fn list(filter: &ConversationFilter, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![after, filter.channel.as_deref(), filter.archived, rows(limit)]
}

pub(crate) fn long(turns: i64, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![turns, after, rows(limit)]
}

pub(crate) fn dormant(before: Timestamp, after: Option<Uuid>, limit: usize) -> Vec<Value> {
    values![before, after, rows(limit)]
}

pub(crate) fn add(new: &Conversation) -> Step {
    let params = values![
        &new.id,
        new.key,
        &new.channel,
        new.title.as_deref(),
        object(&new.metadata),
        new.turns,
        new.next_index,
        &new.created_by,
        new.user.as_deref(),
        new.created_at,
        new.updated_at,
        new.archived_at,
        new.revision,
    ];
    exactly_one(&ADD, params)
}

pub(crate) fn update(changed: &Conversation) -> Step {
    let params = values![
        &changed.id,
        &changed.channel,
        changed.title.as_deref(),
        object(&changed.metadata),
        changed.turns,
        changed.next_index,
        changed.updated_at,
        changed.archived_at,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

/// A conversation with all that is its own, however much was said in it; until a time, if there
/// is one.
pub(crate) fn erase(id: &str, until: Option<Timestamp>) -> Vec<Step> {
    let own = || values![id, until];
    let name = serde_json::Value::from(id);
    let answers = values![
        format!("\"conversation_id\":{name}"),
        format!("\"conversation_id\": {name}"),
        until
    ];
    let mut steps = vec![
        Step::new(&ERASE_VECTORS, own()).counted("vectors"),
        Step::new(&ERASE_EDGES_FROM, own()).counted("edges"),
        Step::new(&ERASE_EDGES_TO, own()).counted("edges"),
        Step::new(&ERASE_ANSWERS, answers).counted("answers"),
        Step::new(&ERASE_EPISODES, own()).counted("episodes"),
        Step::new(&ERASE_TURNS, own()).counted("turns"),
        Step::new(&ERASE, own()).counted("conversations"),
    ];
    steps.extend(until.map(|_| Step::new(&RECOUNT, vec![])));
    steps
}

pub(crate) fn from_row(row: &Row) -> Result<Conversation> {
    Ok(Conversation {
        id: row.string("id")?,
        key: row.uuid("key")?,
        channel: row.string("channel")?,
        title: row.opt_string("title")?,
        metadata: object_from(row.json("metadata")?)?,
        turns: row.int("turns")?,
        next_index: row.int("next_index")?,
        created_by: row.string("created_by")?,
        user: row.opt_string("user_name")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        archived_at: row.opt_time("archived_at")?,
        revision: row.int("revision")?,
    })
}
