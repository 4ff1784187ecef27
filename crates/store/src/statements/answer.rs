//! The answers kept for idempotency keys.

use mnemic_core::Result;
use mnemic_core::answer::Answer;
use uuid::Uuid;

use super::exactly_one;
use crate::{Fields, Row, Statement, Step, values};

pub(crate) static FIND: Statement = Statement::workspace(
    "answer.find",
    "SELECT key, fingerprint, body, created_at FROM answers WHERE workspace_id = $1 AND key = $2",
);

static KEEP: Statement = Statement::workspace(
    "answer.keep",
    "INSERT INTO answers (workspace_id, key, fingerprint, body, created_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (workspace_id, key) DO NOTHING",
);

pub(crate) static COUNT_BEFORE: Statement = Statement::workspace(
    "answer.count_before",
    "SELECT count(*) AS rows FROM answers WHERE workspace_id = $1 AND created_at < $2",
);

pub(crate) static DROP_BEFORE: Statement = Statement::workspace(
    "answer.drop_before",
    "DELETE FROM answers WHERE workspace_id = $1 AND created_at < $2 RETURNING key",
);

/// An erased text must not live on in an answer that was kept.
static ERASE_OF: Statement = Statement::workspace(
    "answer.erase_of",
    "DELETE FROM answers WHERE workspace_id = $1 AND CAST(body AS TEXT) LIKE $2",
);

pub(crate) static ALL: &[&Statement] = &[&FIND, &KEEP, &COUNT_BEFORE, &DROP_BEFORE, &ERASE_OF];

/// A key that is there already means that the same request is being carried out elsewhere.
pub(crate) fn keep(answer: &Answer) -> Step {
    let params = values![&answer.key, &answer.fingerprint, answer.body.clone(), answer.created_at];
    exactly_one(&KEEP, params)
}

pub(crate) fn erase_of(record: Uuid) -> Step {
    Step::new(&ERASE_OF, values![format!("%{record}%")])
}

/// What names a connection, whatever the spaces in how JSON is kept.
pub(crate) fn erase_of_connection(connection_id: &str) -> Step {
    Step::new(&ERASE_OF, values![of_connection(connection_id)])
}

/// What names a conversation: words of it may stand beside.
pub(crate) fn erase_of_conversation(conversation_id: &str) -> Step {
    let id = serde_json::Value::from(conversation_id);
    Step::new(&ERASE_OF, values![format!("%\"conversation_id\"%{id}%")])
}

pub(super) fn of_connection(connection_id: &str) -> String {
    format!("%\"connection_id\"%{}%", serde_json::Value::from(connection_id))
}

pub(crate) fn from_row(row: &Row) -> Result<Answer> {
    Ok(Answer {
        key: row.string("key")?,
        fingerprint: row.string("fingerprint")?,
        body: row.json("body")?,
        created_at: row.time("created_at")?,
    })
}
