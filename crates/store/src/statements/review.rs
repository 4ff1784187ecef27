//! Reviews: contradictions that somebody is to decide. They are seen by whoever may see both
//! memories.

use mnemic_core::grant::Readable;
use mnemic_core::ids::{MemoryId, ReviewId};
use mnemic_core::review::Review;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::access::{readable, readable_params};
use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! select {
    ($name:literal, $rest:expr) => {
        Statement::workspace(
            $name,
            concat!(
                "SELECT r.id, r.topic, r.old_id, r.new_id, r.created_at, r.decision, r.decided_at,
                     r.revision
                 FROM reviews r
                 JOIN memories o ON o.workspace_id = $1 AND o.id = r.old_id
                 JOIN memories n ON n.workspace_id = $1 AND n.id = r.new_id
                 WHERE r.workspace_id = $1 AND ",
                $rest
            ),
        )
    };
}

pub(crate) static LOOKUP: Statement = select!("review.lookup", "r.id = $2");

/// Newest first; those that are open, or those that are decided.
pub(crate) static LIST: Statement = select!(
    "review.list",
    concat!(
        "(r.id < $2 OR $2 IS NULL) AND (r.decided_at IS NULL) = $3
           AND o.deleted_at IS NULL AND n.deleted_at IS NULL AND ",
        readable!("o.domain", "$4", "$5"),
        " AND ",
        readable!("n.domain", "$4", "$5"),
        " ORDER BY r.id DESC LIMIT $6"
    )
);

static ADD: Statement = Statement::workspace(
    "review.add",
    "INSERT INTO reviews
         (workspace_id, id, topic, old_id, new_id, created_at, decision, decided_at, revision)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
);

static UPDATE: Statement = Statement::workspace(
    "review.update",
    "UPDATE reviews SET decision = $3, decided_at = $4, revision = $5
     WHERE workspace_id = $1 AND id = $2 AND revision = $5 - 1",
);

static ERASE_OF: Statement = Statement::workspace(
    "review.erase_of",
    "DELETE FROM reviews WHERE workspace_id = $1 AND (old_id = $2 OR new_id = $2)",
);

pub(crate) static ALL: &[&Statement] = &[&LOOKUP, &LIST, &ADD, &UPDATE, &ERASE_OF];

pub(crate) fn list(
    open: bool,
    visible: &Readable,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    let mut params = values![after, open];
    params.extend(readable_params(visible));
    params.push(Value::Int(rows(limit)));
    params
}

pub(crate) fn add(new: &Review) -> Step {
    let params = values![
        new.id.0,
        &new.topic,
        new.old_id.0,
        new.new_id.0,
        new.created_at,
        new.decision.map(mnemic_core::review::Decision::as_str),
        new.decided_at,
        new.revision,
    ];
    Step::new(&ADD, params)
}

pub(crate) fn update(changed: &Review) -> Step {
    let decision = changed.decision.map(mnemic_core::review::Decision::as_str);
    exactly_one(&UPDATE, values![changed.id.0, decision, changed.decided_at, changed.revision])
}

pub(crate) fn erase_of(memory: MemoryId) -> Step {
    Step::new(&ERASE_OF, values![memory.0])
}

pub(crate) fn from_row(row: &Row) -> Result<Review> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored review is damaged").caused_by(e);
    Ok(Review {
        id: ReviewId(row.uuid("id")?),
        topic: row.string("topic")?,
        old_id: MemoryId(row.uuid("old_id")?),
        new_id: MemoryId(row.uuid("new_id")?),
        created_at: row.time("created_at")?,
        decision: row.opt_text("decision")?.map(str::parse).transpose().map_err(damaged)?,
        decided_at: row.opt_time("decided_at")?,
        revision: row.int("revision")?,
    })
}
