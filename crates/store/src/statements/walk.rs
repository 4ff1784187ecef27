//! Steps through the graph, and the records that they lead to.
//!
//! The edges of one record are read in the order of an index and cut at a limit before anything
//! is joined to them, so that a record with a million edges costs as much as one with a few.

use mnemic_core::edge::Edge;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::Glimpse;
use mnemic_core::node::{Direction, Hops, Record, Walk};
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::access::{readable, readable_params};
use super::{edge, exactly_one, limit, node, wishes};
use crate::{Fields, Row, Statement, Step, Value, values};

/// Where the columns of edges, nodes and memories begin in a step, behind the two totals.
const EDGE: usize = 2;
const NODE: usize = 13;
const MEMORY: usize = 32;
/// Edges of one record and direction that are looked through for nodes of certain types or
/// domains.
const SCANNED_MAX: usize = 10_000;

pub(crate) static GLIMPSE: Statement = Statement::workspace(
    "walk.glimpse",
    "SELECT id AS m_id, kind AS m_kind, substr(content, 1, 200) AS m_text, channel AS m_channel,
            domain AS m_domain, created_at AS m_created_at, updated_at AS m_updated_at,
            superseded_at AS m_superseded_at
     FROM memories WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL",
);

static REQUIRE: Statement = Statement::workspace(
    "walk.require",
    "SELECT id FROM nodes WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL
     UNION ALL
     SELECT id FROM memories WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL",
);

/// Whether an edge counts: as of `$4` or else `$3` in the world, as known at `$5`, and not closed
/// as of `$6`, or at all.
macro_rules! counts {
    () => {
        " AND (valid_to IS NULL OR valid_to > $3)
          AND (coalesce(valid_from, recorded_at) <= $4
               OR ($4 IS NULL AND (valid_from IS NULL OR valid_from <= $3)))
          AND (recorded_at <= $5 OR $5 IS NULL)
          AND (superseded_at IS NULL OR superseded_at > $6)"
    };
}
pub(crate) use counts;

/// The edges of one record, `$7` of those that begin and `$8` of those that end there.
macro_rules! hops {
    ($relation:literal) => {
        concat!(
            "WITH outgoing AS (
                 SELECT id, channel, source_id, target_id, relation, properties, valid_from,
                        valid_to, recorded_at, superseded_at, revision, target_id AS other,
                        CAST(1 AS BIGINT) AS leaves
                 FROM edges WHERE workspace_id = $1 AND source_id = $2",
            $relation,
            counts!(),
            " ORDER BY relation, target_id, id LIMIT $7
             ), incoming AS (
                 SELECT id, channel, source_id, target_id, relation, properties, valid_from,
                        valid_to, recorded_at, superseded_at, revision, source_id AS other,
                        CAST(0 AS BIGINT) AS leaves
                 FROM edges WHERE workspace_id = $1 AND target_id = $2",
            $relation,
            counts!(),
            " ORDER BY relation, source_id, id LIMIT $8
             ), hops AS (
                 SELECT * FROM outgoing UNION ALL SELECT * FROM incoming
             )"
        )
    };
}

/// The edges, each with what is at its other end.
macro_rules! joined {
    () => {
        "e.id AS e_id, e.channel AS e_channel, e.source_id AS e_source_id,
         e.target_id AS e_target_id, e.relation AS e_relation, e.properties AS e_properties,
         e.valid_from AS e_valid_from, e.valid_to AS e_valid_to, e.recorded_at AS e_recorded_at,
         e.superseded_at AS e_superseded_at, e.revision AS e_revision,
         n.id, n.type, n.name, n.name_key, n.aliases, n.channel, n.domain, n.description,
         n.properties, n.salience, n.connection_id, n.first_seen, n.last_accessed,
         n.access_count, n.created_by, n.created_at, n.updated_at, n.deleted_at, n.revision,
         m.id AS m_id, m.kind AS m_kind, substr(m.content, 1, 200) AS m_text,
         m.channel AS m_channel, m.domain AS m_domain, m.created_at AS m_created_at,
         m.updated_at AS m_updated_at, m.superseded_at AS m_superseded_at
         FROM hops e
         LEFT JOIN nodes n ON n.workspace_id = $1 AND n.id = e.other AND n.deleted_at IS NULL
         LEFT JOIN memories m ON m.workspace_id = $1 AND m.id = e.other AND m.deleted_at IS NULL
             AND (m.superseded_at IS NULL OR m.superseded_at > $6 OR e.relation = 'SUPERSEDES')"
    };
}

/// Every edge is a row, also one that leads to nothing, so that the rows tell whether a direction
/// was cut. They come in no order: sorting rows this wide would cost as much as reading them.
macro_rules! open {
    ($name:literal, $relation:literal) => {
        Statement::workspace(
            $name,
            concat!(
                hops!($relation),
                " SELECT e.leaves AS t_out, 1 - e.leaves AS t_in, ",
                joined!()
            ),
        )
    };
}

/// Only what is of certain types or domains, of far more edges than are returned.
macro_rules! step {
    ($name:literal, $relation:literal) => {
        Statement::workspace(
            $name,
            concat!(
                hops!($relation),
                ", totals AS (
                     SELECT (SELECT count(*) FROM outgoing) AS t_out,
                            (SELECT count(*) FROM incoming) AS t_in
                 ), hits AS (
                     SELECT ",
                joined!(),
                " WHERE (n.id IS NOT NULL OR m.id IS NOT NULL)
                       AND (coalesce(n.type, 'memory')
                                IN ($9, $10, $11, $12, $13, $14, $15, $16)
                            OR $9 IS NULL)
                       AND ",
                readable!("coalesce(n.domain, m.domain)", "$18", "$19"),
                ")
                 SELECT * FROM totals LEFT JOIN hits ON 1 = 1
                 ORDER BY e_relation NULLS FIRST, coalesce(id, m_id), e_id LIMIT $17"
            ),
        )
    };
}

static OPEN: Statement = open!("walk.open", "");
static OPEN_BY: Statement = open!("walk.open_by", " AND relation = $9");
static STEP: Statement = step!("walk.step", "");
static STEP_BY: Statement = step!("walk.step_by", " AND relation = $20");

pub(crate) static ALL: &[&Statement] = &[&GLIMPSE, &REQUIRE, &OPEN, &OPEN_BY, &STEP, &STEP_BY];

pub(crate) fn require(id: Uuid) -> Step {
    exactly_one(&REQUIRE, values![id])
}

/// Whether a walk takes whatever it meets.
fn is_open(walk: &Walk) -> bool {
    walk.types.is_empty() && walk.readable.is_everything()
}

/// How many edges of each direction are looked through.
fn scanned(walk: &Walk, edges_max: usize) -> usize {
    if is_open(walk) { edges_max } else { SCANNED_MAX.max(edges_max) }
}

pub(crate) fn statement(walk: &Walk) -> &'static Statement {
    match (is_open(walk), walk.relations.is_empty()) {
        (true, true) => &OPEN,
        (true, false) => &OPEN_BY,
        (false, true) => &STEP,
        (false, false) => &STEP_BY,
    }
}

/// What the statement takes, once, or once for each of the relations that are asked for.
pub(crate) fn steps(from: Uuid, walk: &Walk, edges_max: usize) -> Vec<Vec<Value>> {
    let scanned = limit(scanned(walk, edges_max));
    let (outgoing, incoming) = match walk.direction {
        Direction::Out => (scanned, 0),
        Direction::In => (0, scanned),
        Direction::Both => (scanned, scanned),
    };
    let mut params = values![
        from,
        walk.as_of.unwrap_or(walk.now),
        walk.as_of,
        walk.known_at,
        walk.known_at.or(walk.as_of),
        outgoing,
        incoming,
    ];
    if !is_open(walk) {
        params.extend(wishes(&walk.types));
        params.push(Value::from(limit(edges_max)));
        params.extend(readable_params(&walk.readable));
    }
    if walk.relations.is_empty() {
        return vec![params];
    }
    let by = |relation: &String| params.iter().cloned().chain([Value::from(relation)]).collect();
    walk.relations.iter().map(by).collect()
}

/// What one statement found, in an order that is the same on every engine.
pub(crate) fn hops(rows: &[Row], walk: &Walk, edges_max: usize) -> Result<Hops> {
    let mut found = Vec::with_capacity(rows.len());
    let (mut outgoing, mut incoming) = (0, 0);
    for (place, row) in rows.iter().enumerate() {
        if is_open(walk) || place == 0 {
            outgoing += row.int(0)?;
            incoming += row.int(1)?;
        }
        found.extend(hop_from_row(row)?);
    }
    if is_open(walk) {
        found.sort_by(|(a, x), (b, y)| {
            (&a.relation, x.id(), a.id).cmp(&(&b.relation, y.id(), b.id))
        });
        found.truncate(edges_max);
    }
    let scanned = limit(scanned(walk, edges_max));
    Ok(Hops { found, cut: outgoing >= scanned || incoming >= scanned })
}

/// The edge and what is at its other end; nothing where it leads nowhere.
fn hop_from_row(row: &Row) -> Result<Option<(Edge, Record)>> {
    let (node, memory) = (row.opt_uuid(NODE)?, row.opt_uuid(MEMORY)?);
    if node.is_none() && memory.is_none() {
        return Ok(None);
    }
    let record = match node {
        Some(_) => Record::Node(Box::new(node::from_columns(row, NODE)?)),
        None => glimpse_from_row(row)?,
    };
    Ok(Some((edge::from_columns(row, EDGE)?, record)))
}

pub(crate) fn glimpse_from_row(row: &Row) -> Result<Record> {
    let damaged = |e: Error| Error::new(Code::Corrupt, "a stored memory is damaged").caused_by(e);
    Ok(Record::Memory(Glimpse {
        id: MemoryId(row.uuid("m_id")?),
        kind: row.text("m_kind")?.parse().map_err(damaged)?,
        text: row.string("m_text")?,
        channel: row.string("m_channel")?,
        domain: row.opt_string("m_domain")?,
        created_at: row.time("m_created_at")?,
        updated_at: row.time("m_updated_at")?,
        superseded_at: row.opt_time("m_superseded_at")?,
    }))
}
