//! What a query is about: nodes by name, what they are joined to, and the memories about them.
//!
//! The edges of one record are read in the order of an index and cut before anything is joined to
//! them, far beyond what is returned, so that a record with a million edges costs little more than
//! one with a few. `CROSS JOIN` is how one engine is told to begin with those edges; without, it may
//! begin with every node or memory of the workspace. To the other it makes no difference.

use mnemic_core::Result;
use mnemic_core::ids::NodeId;
use mnemic_core::recall::{Neighbour, Sight};
use uuid::Uuid;

use super::access::{SEPARATOR, readable, readable_params};
use super::walk::counts;
use super::{limit, wishes};
use crate::{Fields, Row, Statement, Value, values};

/// Names that one statement looks up.
pub(crate) const NAMES_AT_ONCE: usize = super::WISHES;
/// Nodes that are returned for the names of one statement.
const NAMED_ROWS_MAX: usize = 64;
/// Edges that are looked through: of one relation's range and direction where everything may be
/// seen, and where not.
const OPEN_MAX: usize = 200;
const SCANNED_MAX: usize = 10_000;
/// What one memory can be about.
const SUBJECTS_MAX: usize = 100;

/// Whether a value is on a list made by [`list`]; without a list, it is.
macro_rules! listed {
    ($column:literal, $names:literal) => {
        concat!(
            "(replace(CAST(",
            $names,
            " AS TEXT), '\u{1f}' || ",
            $column,
            " || '\u{1f}', '') <> ",
            $names,
            " OR ",
            $names,
            " IS NULL)"
        )
    };
}

pub(crate) static NAMED: Statement = Statement::workspace(
    "entity.named",
    concat!(
        "SELECT a.alias_key, a.node_id FROM node_aliases a CROSS JOIN nodes n
         WHERE a.workspace_id = $1 AND n.workspace_id = $1 AND n.id = a.node_id
           AND a.alias_key IN ($2, $3, $4, $5, $6, $7, $8, $9) AND n.deleted_at IS NULL AND ",
        listed!("n.channel", "$10"),
        " AND ",
        readable!("n.domain", "$11", "$12"),
        " AND (n.created_at <= $13 OR $13 IS NULL)
         ORDER BY n.salience DESC, a.node_id, a.alias_key LIMIT $14"
    ),
);

/// The edges of one direction whose relation is in a range. What memories are about, and what was
/// done with a node, is as much as there is; ranges leave it out without reading it.
macro_rules! edges_in {
    ($from:literal, $to:literal, $direction:literal, $range:literal) => {
        concat!(
            "SELECT * FROM (
                 SELECT relation, ",
            $to,
            " AS other, ",
            $direction,
            " AS outgoing FROM edges WHERE workspace_id = $1 AND ",
            $from,
            " = $2 AND ",
            $range,
            counts!(),
            " ORDER BY relation, ",
            $to,
            ", id LIMIT $7) AS ",
            "hop"
        )
    };
}

macro_rules! edges_of {
    ($from:literal, $to:literal, $direction:literal) => {
        concat!(
            edges_in!($from, $to, $direction, "relation < 'ABOUT'"),
            " UNION ALL ",
            edges_in!($from, $to, $direction, "relation > 'ABOUT' AND relation < '_mem:'"),
            " UNION ALL ",
            edges_in!($from, $to, $direction, "relation >= '_mem;'")
        )
    };
}

pub(crate) static NEIGHBOURS: Statement = Statement::workspace(
    "entity.neighbours",
    concat!(
        "SELECT n.id, n.type, n.name, n.channel, e.relation, e.outgoing FROM (",
        edges_of!("source_id", "target_id", "CAST(1 AS BIGINT)"),
        " UNION ALL ",
        edges_of!("target_id", "source_id", "CAST(0 AS BIGINT)"),
        ") AS e CROSS JOIN nodes n
         WHERE n.workspace_id = $1 AND n.id = e.other AND n.deleted_at IS NULL AND n.id <> $2
           AND ",
        listed!("n.channel", "$8"),
        " AND ",
        readable!("n.domain", "$9", "$10"),
        " ORDER BY n.salience DESC, e.relation, n.id, e.outgoing DESC LIMIT $11"
    ),
);

/// Whether an edge from a memory to what it is about was known at `$3`, or is now. Since when, says
/// nothing of the world: the memory itself does.
macro_rules! known {
    () => {
        " AND relation = 'ABOUT' AND (recorded_at <= $3 OR $3 IS NULL)
          AND (superseded_at IS NULL OR superseded_at > $3)"
    };
}

pub(crate) static ABOUT: Statement = Statement::workspace(
    "entity.about",
    concat!(
        "SELECT m.id FROM (
             SELECT source_id FROM edges WHERE workspace_id = $1 AND target_id = $2",
        known!(),
        " ORDER BY source_id DESC LIMIT $4
         ) AS e CROSS JOIN memories m
         WHERE m.workspace_id = $1 AND m.id = e.source_id AND m.deleted_at IS NULL AND ",
        listed!("m.channel", "$5"),
        " AND ",
        readable!("m.domain", "$6", "$7"),
        " AND (m.kind = $8 OR $8 IS NULL)
          AND (m.domain = $9 OR $9 IS NULL)
          AND (m.topic = $10 OR $10 IS NULL)
          AND (m.pinned = $11 OR $11 IS NULL)
          AND (m.created_at >= $12 OR $12 IS NULL)
          AND (m.created_at < $13 OR $13 IS NULL)
          AND ((coalesce(m.valid_from, m.created_at) <= $14
                AND (m.valid_to IS NULL OR m.valid_to > $14)
                AND (m.superseded_at IS NULL OR m.superseded_at > $14)) OR $14 IS NULL)
          AND ((m.created_at <= $3
                AND (m.superseded_at IS NULL OR m.superseded_at > $3)) OR $3 IS NULL)
          AND ($15 OR m.superseded_at IS NULL)
         ORDER BY e.source_id DESC LIMIT $16"
    ),
);

pub(crate) static SUBJECTS: Statement = Statement::workspace(
    "entity.subjects",
    concat!(
        "SELECT target_id FROM edges WHERE workspace_id = $1 AND source_id = $2",
        known!(),
        " ORDER BY target_id LIMIT $4"
    ),
);

pub(crate) static ALL: &[&Statement] = &[&NAMED, &NEIGHBOURS, &ABOUT, &SUBJECTS];

/// A list of names between separators; nothing, where all are meant.
fn list(names: Option<&[String]>) -> Value {
    let between = |name: &String| format!("{SEPARATOR}{name}{SEPARATOR}");
    names.map(|names| names.iter().map(between).collect::<String>()).into()
}

fn channels(sight: &Sight<'_>) -> Value {
    list(sight.filter.channels.as_deref())
}

/// At most [`NAMES_AT_ONCE`] names.
pub(crate) fn named(keys: &[String], sight: &Sight<'_>) -> Vec<Value> {
    let mut params = wishes(keys);
    params.push(channels(sight));
    params.extend(readable_params(&sight.filter.readable));
    params.extend(values![sight.filter.known_at, limit(NAMED_ROWS_MAX)]);
    params
}

pub(crate) fn neighbours(of: NodeId, sight: &Sight<'_>, rows_max: usize) -> Vec<Value> {
    let filter = sight.filter;
    let open = filter.channels.is_none() && filter.readable.is_everything();
    let scanned = if open { OPEN_MAX } else { SCANNED_MAX };
    let mut params = values![
        of.0,
        filter.as_of.unwrap_or(sight.now),
        filter.as_of,
        filter.known_at,
        filter.known_at.or(filter.as_of),
        limit(scanned),
        channels(sight),
    ];
    params.extend(readable_params(&filter.readable));
    params.push(limit(rows_max).into());
    params
}

pub(crate) fn about(node: NodeId, sight: &Sight<'_>, rows_max: usize) -> Vec<Value> {
    let filter = sight.filter;
    let mut params = values![node.0, filter.known_at, limit(SCANNED_MAX), channels(sight)];
    params.extend(readable_params(&filter.readable));
    params.extend(values![
        filter.kind.map(mnemic_core::memory::Kind::as_str),
        filter.domain.as_deref(),
        filter.topic.as_deref(),
        filter.pinned,
        filter.since,
        filter.until,
        filter.as_of,
        !filter.live_only(),
        limit(rows_max),
    ]);
    params
}

pub(crate) fn subjects(memory: Uuid, sight: &Sight<'_>) -> Vec<Value> {
    values![memory, sight.filter.known_at, limit(SUBJECTS_MAX)]
}

pub(crate) fn neighbour_from_row(row: &Row) -> Result<Neighbour> {
    Ok(Neighbour {
        id: NodeId(row.uuid("id")?),
        node_type: row.string("type")?,
        name: row.string("name")?,
        channel: row.string("channel")?,
        relation: row.string("relation")?,
        outgoing: row.int("outgoing")? == 1,
    })
}
