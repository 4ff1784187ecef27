//! What fades with time: the salience of entities and the confidence in what was inferred.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::job::Fading;
use mnemic_core::store::Faded;
use uuid::Uuid;

use super::{exactly_one, limit as rows};
use crate::{Fields, Row, Statement, Step, Value, values};

/// Entities that nobody has looked at since, and that have not faded up to now yet.
pub(crate) static NODES: Statement = Statement::workspace(
    "fading.nodes",
    "SELECT id, salience AS value, access_count, coalesce(last_accessed, first_seen) AS accessed,
            decayed_at, revision
     FROM nodes
     WHERE workspace_id = $1 AND deleted_at IS NULL AND salience > 0
       AND coalesce(last_accessed, first_seen) < $2 AND (decayed_at < $3 OR decayed_at IS NULL)
       AND (id > $4 OR $4 IS NULL)
     ORDER BY id LIMIT $5",
);

/// The same of suggestions that were drawn from a source and never were sure.
pub(crate) static MEMORIES: Statement = Statement::workspace(
    "fading.memories",
    "SELECT id, confidence AS value, access_count, coalesce(last_accessed, created_at) AS accessed,
            decayed_at, revision
     FROM memories
     WHERE workspace_id = $1 AND deleted_at IS NULL AND superseded_at IS NULL
       AND kind = 'memory' AND pinned = $6 AND source IS NOT NULL
       AND confidence > 0 AND confidence <= $7
       AND coalesce(last_accessed, created_at) < $2 AND (decayed_at < $3 OR decayed_at IS NULL)
       AND (id > $4 OR $4 IS NULL)
     ORDER BY id LIMIT $5",
);

static FADE_NODE: Statement = Statement::workspace(
    "fading.fade_node",
    "UPDATE nodes SET salience = $3, decayed_at = $4, revision = revision + 1
     WHERE workspace_id = $1 AND id = $2 AND revision = $5 AND deleted_at IS NULL",
);

static FADE_MEMORY: Statement = Statement::workspace(
    "fading.fade_memory",
    "UPDATE memories SET confidence = $3, decayed_at = $4, revision = revision + 1
     WHERE workspace_id = $1 AND id = $2 AND revision = $5 AND deleted_at IS NULL",
);

macro_rules! forgotten {
    () => {
        "n.deleted_at IS NULL AND n.connection_id IS NULL AND n.salience < $2
           AND coalesce(n.last_accessed, n.first_seen) < $3
           AND NOT EXISTS (SELECT 1 FROM edges e
                           JOIN memories m ON m.workspace_id = $1 AND m.id = e.source_id
                           WHERE e.workspace_id = $1 AND e.target_id = n.id
                             AND e.relation = 'ABOUT' AND e.superseded_at IS NULL
                             AND m.deleted_at IS NULL AND m.superseded_at IS NULL)"
    };
}

/// Entities that faded away, that nobody has looked at since, and that nothing live is about.
pub(crate) static FORGOTTEN: Statement = Statement::workspace(
    "fading.forgotten",
    concat!(
        "SELECT n.id FROM nodes n WHERE n.workspace_id = $1 AND ",
        forgotten!(),
        " AND (n.id > $4 OR $4 IS NULL) ORDER BY n.id LIMIT $5"
    ),
);

/// Changes nothing, but is refused once it no longer holds.
static REQUIRE_FORGOTTEN: Statement = Statement::workspace(
    "fading.require_forgotten",
    concat!(
        "UPDATE nodes SET deleted_at = NULL WHERE workspace_id = $1 AND id IN
             (SELECT n.id FROM nodes n WHERE n.workspace_id = $1 AND n.id = $4 AND ",
        forgotten!(),
        ")"
    ),
);

pub(crate) static ALL: &[&Statement] =
    &[&NODES, &MEMORIES, &FADE_NODE, &FADE_MEMORY, &FORGOTTEN, &REQUIRE_FORGOTTEN];

pub(crate) fn nodes(
    accessed: Timestamp,
    until: Timestamp,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    values![accessed, until, after, rows(limit)]
}

pub(crate) fn memories(
    accessed: Timestamp,
    until: Timestamp,
    confidence_max: f64,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    values![accessed, until, after, rows(limit), false, confidence_max]
}

pub(crate) fn forgotten(
    salience: f64,
    accessed: Timestamp,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<Value> {
    values![salience, accessed, after, rows(limit)]
}

pub(crate) fn fade_node(faded: &Faded) -> Step {
    exactly_one(&FADE_NODE, values![faded.id, faded.value, faded.until, faded.revision])
}

pub(crate) fn fade_memory(faded: &Faded) -> Step {
    exactly_one(&FADE_MEMORY, values![faded.id, faded.value, faded.until, faded.revision])
}

pub(crate) fn require_forgotten(id: Uuid, salience: f64, accessed: Timestamp) -> Step {
    exactly_one(&REQUIRE_FORGOTTEN, values![salience, accessed, id])
}

pub(crate) fn from_row(row: &Row) -> Result<Fading> {
    Ok(Fading {
        id: row.uuid("id")?,
        value: row.float("value")?,
        accesses: row.int("access_count")?,
        accessed: row.time("accessed")?,
        decayed_at: row.opt_time("decayed_at")?,
        revision: row.int("revision")?,
    })
}
