//! Edges between records.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::edge::{Edge, SUPERSEDES};
use mnemic_core::ids::{EdgeId, NodeId};
use uuid::Uuid;

use super::{exactly_one, object, object_from};
use crate::{Fields, Row, Statement, Step, values};

macro_rules! columns {
    () => {
        "id, channel, source_id, target_id, relation, properties, valid_from, valid_to, \
         recorded_at, superseded_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "edge.lookup",
    concat!("SELECT ", columns!(), " FROM edges WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static FIND: Statement = Statement::workspace(
    "edge.find",
    concat!(
        "SELECT ",
        columns!(),
        " FROM edges
         WHERE workspace_id = $1 AND source_id = $2 AND relation = $3 AND target_id = $4
           AND superseded_at IS NULL"
    ),
);

pub(crate) static LIST_FROM: Statement = Statement::workspace(
    "edge.list_from",
    concat!(
        "SELECT ",
        columns!(),
        " FROM edges
         WHERE workspace_id = $1 AND source_id = $2 AND relation = $3 AND superseded_at IS NULL
         ORDER BY target_id"
    ),
);

pub(crate) static LIST_TO: Statement = Statement::workspace(
    "edge.list_to",
    concat!(
        "SELECT ",
        columns!(),
        " FROM edges
         WHERE workspace_id = $1 AND target_id = $2 AND relation = $3 AND superseded_at IS NULL
         ORDER BY source_id"
    ),
);

static ADD: Statement = Statement::workspace(
    "edge.add",
    concat!(
        "INSERT INTO edges (workspace_id, ",
        columns!(),
        ")
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "edge.update",
    "UPDATE edges SET properties = $3, valid_from = $4, valid_to = $5, revision = $6
     WHERE workspace_id = $1 AND id = $2 AND revision = $6 - 1 AND superseded_at IS NULL",
);

static CLOSE: Statement = Statement::workspace(
    "edge.close",
    "UPDATE edges SET superseded_at = $3, revision = revision + 1
     WHERE workspace_id = $1 AND id = $2 AND revision = $4 AND superseded_at IS NULL",
);

static CLOSE_FROM: Statement = Statement::workspace(
    "edge.close_from",
    "UPDATE edges SET superseded_at = $3, revision = revision + 1
     WHERE workspace_id = $1 AND source_id = $2 AND superseded_at IS NULL",
);

static CLOSE_TO: Statement = Statement::workspace(
    "edge.close_to",
    "UPDATE edges SET superseded_at = $3, revision = revision + 1
     WHERE workspace_id = $1 AND target_id = $2 AND superseded_at IS NULL",
);

static MOVE: Statement = Statement::workspace(
    "edge.move",
    "UPDATE edges SET revision = revision + 1,
         source_id = CASE WHEN source_id = $3 THEN $4 ELSE source_id END,
         target_id = CASE WHEN target_id = $3 THEN $4 ELSE target_id END
     WHERE workspace_id = $1 AND id = $2 AND superseded_at IS NULL
       AND (source_id = $3 OR target_id = $3)",
);

/// What joins `$2` and `$3`, and what joins `$2` with itself: joined to one, it would say nothing.
static CLOSE_BETWEEN: Statement = Statement::workspace(
    "edge.close_between",
    "UPDATE edges SET superseded_at = $4, revision = revision + 1
     WHERE workspace_id = $1 AND superseded_at IS NULL
       AND ((source_id = $2 AND target_id IN ($2, $3)) OR (source_id = $3 AND target_id = $2))",
);

static CLOSE_TWINS_FROM: Statement = Statement::workspace(
    "edge.close_twins_from",
    "UPDATE edges SET superseded_at = $4, revision = revision + 1
     WHERE workspace_id = $1 AND source_id = $2 AND superseded_at IS NULL
       AND EXISTS (SELECT 1 FROM edges twin
                   WHERE twin.workspace_id = $1 AND twin.source_id = $3
                     AND twin.relation = edges.relation AND twin.target_id = edges.target_id
                     AND twin.superseded_at IS NULL)",
);

static CLOSE_TWINS_TO: Statement = Statement::workspace(
    "edge.close_twins_to",
    "UPDATE edges SET superseded_at = $4, revision = revision + 1
     WHERE workspace_id = $1 AND target_id = $2 AND superseded_at IS NULL
       AND EXISTS (SELECT 1 FROM edges twin
                   WHERE twin.workspace_id = $1 AND twin.target_id = $3
                     AND twin.relation = edges.relation AND twin.source_id = edges.source_id
                     AND twin.superseded_at IS NULL)",
);

/// Closed ones too, so that questions about the past find them at the node that is left.
static MOVE_FROM: Statement = Statement::workspace(
    "edge.move_from",
    "UPDATE edges SET source_id = $3, revision = revision + 1
     WHERE workspace_id = $1 AND source_id = $2 AND target_id NOT IN ($2, $3)",
);

static MOVE_TO: Statement = Statement::workspace(
    "edge.move_to",
    "UPDATE edges SET target_id = $3, revision = revision + 1
     WHERE workspace_id = $1 AND target_id = $2 AND source_id NOT IN ($2, $3)",
);

/// What `$2` had replaced is now replaced by the one that replaced `$2`, if there is one.
static BRIDGE: Statement = Statement::workspace(
    "edge.bridge",
    "UPDATE edges SET source_id =
         (SELECT gone.superseded_by FROM memories gone
          WHERE gone.workspace_id = $1 AND gone.id = $2)
     WHERE workspace_id = $1 AND source_id = $2 AND relation = $3
       AND EXISTS (SELECT 1 FROM memories gone
                   WHERE gone.workspace_id = $1 AND gone.id = $2
                     AND gone.superseded_by IS NOT NULL)
       AND EXISTS (SELECT 1 FROM memories older
                   WHERE older.workspace_id = $1 AND older.id = edges.target_id)",
);

static ERASE_OF: Statement = Statement::workspace(
    "edge.erase_of",
    "DELETE FROM edges WHERE workspace_id = $1 AND (source_id = $2 OR target_id = $2)",
);

pub(crate) static ALL: &[&Statement] = &[
    &LOOKUP,
    &FIND,
    &LIST_FROM,
    &LIST_TO,
    &ADD,
    &UPDATE,
    &CLOSE,
    &CLOSE_FROM,
    &CLOSE_TO,
    &MOVE,
    &CLOSE_BETWEEN,
    &CLOSE_TWINS_FROM,
    &CLOSE_TWINS_TO,
    &MOVE_FROM,
    &MOVE_TO,
    &BRIDGE,
    &ERASE_OF,
];

pub(crate) fn add(edge: &Edge) -> Step {
    let params = values![
        edge.id.0,
        &edge.channel,
        edge.source_id,
        edge.target_id,
        &edge.relation,
        object(&edge.properties),
        edge.valid_from,
        edge.valid_to,
        edge.recorded_at,
        edge.superseded_at,
        edge.revision,
    ];
    exactly_one(&ADD, params)
}

pub(crate) fn update(edge: &Edge) -> Step {
    let params = values![
        edge.id.0,
        object(&edge.properties),
        edge.valid_from,
        edge.valid_to,
        edge.revision,
    ];
    exactly_one(&UPDATE, params)
}

pub(crate) fn close(edge: &Edge, at: Timestamp) -> Step {
    exactly_one(&CLOSE, values![edge.id.0, at, edge.revision])
}

pub(crate) fn close_of(id: Uuid, at: Timestamp) -> [Step; 2] {
    [&CLOSE_FROM, &CLOSE_TO].map(|statement| Step::new(statement, values![id, at]))
}

pub(crate) fn move_one(id: EdgeId, from: NodeId, to: NodeId) -> Step {
    exactly_one(&MOVE, values![id.0, from.0, to.0])
}

/// Lets every edge of a node be another's.
pub(crate) fn move_all(from: NodeId, to: NodeId, at: Timestamp) -> [Step; 5] {
    let closing = |statement| Step::new(statement, values![from.0, to.0, at]);
    let moving = |statement| Step::new(statement, values![from.0, to.0]);
    [
        closing(&CLOSE_BETWEEN),
        closing(&CLOSE_TWINS_FROM),
        closing(&CLOSE_TWINS_TO),
        moving(&MOVE_FROM),
        moving(&MOVE_TO),
    ]
}

/// Closes the gap that a memory leaves in its chain of replacements.
pub(crate) fn bridge(id: Uuid) -> Step {
    Step::new(&BRIDGE, values![id, SUPERSEDES])
}

/// Every edge from or to a record.
pub(crate) fn erase_of(id: Uuid) -> Step {
    Step::new(&ERASE_OF, values![id])
}

pub(crate) fn from_row(row: &Row) -> Result<Edge> {
    from_columns(row, 0)
}

/// An edge whose columns, in the order in which they are kept, begin at `first`.
pub(crate) fn from_columns(row: &Row, first: usize) -> Result<Edge> {
    Ok(Edge {
        id: EdgeId(row.uuid(first)?),
        channel: row.string(first + 1)?,
        source_id: row.uuid(first + 2)?,
        target_id: row.uuid(first + 3)?,
        relation: row.string(first + 4)?,
        properties: object_from(row.json(first + 5)?)?,
        valid_from: row.opt_time(first + 6)?,
        valid_to: row.opt_time(first + 7)?,
        recorded_at: row.time(first + 8)?,
        superseded_at: row.opt_time(first + 9)?,
        revision: row.int(first + 10)?,
    })
}
