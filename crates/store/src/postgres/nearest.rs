//! Search by vector: all of them while few pass the filter, a graph where many do.
//!
//! A graph is walked before it is filtered, so it loses what a narrow filter lets through. The
//! rows that pass are therefore counted first, up to a limit: below it the scan is exact and
//! fast enough, above it enough of what the walk meets passes. Counting and scanning are one
//! statement, because deciding what passes is most of the work under a narrow filter.

use mnemic_core::Result;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter};

use super::filter::{params, passes};
use uuid::Uuid;

use super::words::{self, hit};
use crate::{Fields as _, Row, Statement, Value, values};

/// What passes is found once, at most `$15` rows of it, and scanned only if that was all. Each row
/// says how many were found; without a hit there is one row that says it alone.
macro_rules! scan {
    ($kind:ident, $table:literal, $id:literal) => {
        Statement::workspace(
            concat!("nearest.scan_", stringify!($kind)),
            concat!(
                "WITH passing AS MATERIALIZED (
                     SELECT ", $id, " FROM ", $table, " WHERE ", passes!($kind), " LIMIT $15
                 ), counted AS MATERIALIZED (
                     SELECT count(*) AS rows FROM passing
                 )
                 SELECT counted.rows, near.item_id, near.score
                 FROM counted LEFT JOIN LATERAL (
                     SELECT v.item_id, 1 - (v.vector <=> $14) AS score
                     FROM passing JOIN vectors v ON v.workspace_id = $1 AND v.item_id = passing.id
                     WHERE v.workspace_id = $1 AND v.model = $13 AND counted.rows < $15
                     ORDER BY v.vector <=> $14, v.item_id DESC LIMIT $12
                 ) AS near ON true"
            ),
        )
    };
}

/// How a graph is walked: on and on until enough have passed the filter.
static WALK_SETTINGS: Statement = Statement::workspace(
    "nearest.walk_settings",
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
            set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true),
            set_config('enable_sort', 'off', true), CAST($1 AS uuid)",
);

macro_rules! walk {
    ($kind:ident, $table:literal, $id:literal, $dimensions:literal) => {
        Statement::workspace(
            concat!("nearest.walk_", stringify!($kind), "_", $dimensions),
            concat!(
                "SELECT v.item_id, 1 - (v.vector <=> $14) AS score
                 FROM vectors v JOIN ",
                $table,
                " ON ",
                $id,
                " = v.item_id
                 WHERE v.workspace_id = $1 AND v.model = $13
                   AND vector_dims(v.vector) = ",
                $dimensions,
                " AND ",
                passes!($kind),
                " ORDER BY CAST(v.vector AS halfvec(",
                $dimensions,
                "))
                       <=> CAST($14 AS halfvec(",
                $dimensions,
                ")) LIMIT $12"
            ),
        )
    };
}

/// How one kind of item is searched.
struct Ways {
    scan: Statement,
    /// One for each number of dimensions that the schema has a graph for.
    walks: [(usize, Statement); 5],
}

macro_rules! ways {
    ($kind:ident, $table:literal, $id:literal) => {
        Ways {
            scan: scan!($kind, $table, $id),
            walks: [
                (384, walk!($kind, $table, $id, 384)),
                (768, walk!($kind, $table, $id, 768)),
                (1024, walk!($kind, $table, $id, 1024)),
                (1536, walk!($kind, $table, $id, 1536)),
                (3072, walk!($kind, $table, $id, 3072)),
            ],
        }
    };
}

static MEMORIES: Ways = ways!(memory, "memories m", "m.id");
static NODES: Ways = ways!(node, "nodes n", "n.id");
static TURNS: Ways = ways!(turn, "turns t", "t.id");
static STRATEGIES: Ways = ways!(strategy, "strategies s", "s.id");
static INTENTS: Ways = ways!(intent, "intents i", "i.id");

/// The cosines of the items of `$4`.
static COSINES: Statement = Statement::workspace(
    "nearest.cosines",
    "SELECT v.item_id, 1 - (v.vector <=> $3) AS score FROM vectors v
     WHERE v.workspace_id = $1 AND v.model = $2
       AND v.item_id = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text($4) AS uuid)))",
);

/// The one list of kinds here; another one is an entry of its own.
fn ways(kind: ItemKind) -> &'static Ways {
    match kind {
        ItemKind::Memory => &MEMORIES,
        ItemKind::Node => &NODES,
        ItemKind::Turn => &TURNS,
        ItemKind::Strategy => &STRATEGIES,
        ItemKind::Intent => &INTENTS,
    }
}

pub(super) fn all() -> impl Iterator<Item = &'static Statement> {
    let of = |ways: &'static Ways| {
        [&ways.scan].into_iter().chain(ways.walks.iter().map(|(_, walk)| walk))
    };
    ItemKind::ALL.into_iter().map(ways).flat_map(of).chain([&WALK_SETTINGS, &COSINES])
}

type Question = (&'static Statement, Vec<Value>);

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) kind: ItemKind,
    pub(super) model: &'a str,
    pub(super) query: &'a [f32],
    pub(super) filter: &'a SearchFilter,
    pub(super) limit: usize,
}

impl Asked<'_> {
    /// A scan of what passes the filter, unless more than `scanned_max` do.
    pub(super) fn scan(self, scanned_max: usize) -> Question {
        let mut params = self.params();
        params.push(Value::Int(i64::try_from(scanned_max).unwrap_or(i64::MAX).saturating_add(1)));
        (&ways(self.kind).scan, params)
    }

    /// The settings and the walk, to be run in one transaction; nothing, where there is no graph
    /// for as many dimensions.
    pub(super) fn walk(self) -> Option<[Question; 2]> {
        let mut walks = ways(self.kind).walks.iter();
        let (_, walk) = walks.find(|(dimensions, _)| *dimensions == self.query.len())?;
        Some([(&WALK_SETTINGS, vec![]), (walk, self.params())])
    }

    fn params(self) -> Vec<Value> {
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        params(self.filter, values![limit, self.model, self.query])
    }
}

pub(super) fn cosines(model: &str, query: &[f32], ids: &[Uuid]) -> Question {
    (&COSINES, values![model, query, words::id_list(ids)])
}

/// What a scan found; nothing, if more passed the filter than it was to scan.
pub(super) fn scanned(rows: &[Row], scanned_max: usize) -> Result<Option<Vec<Hit>>> {
    let mut hits = Vec::with_capacity(rows.len());
    for row in rows {
        if usize::try_from(row.int("rows")?).is_ok_and(|passing| passing > scanned_max) {
            return Ok(None);
        }
        if row.opt_uuid("item_id")?.is_some() {
            hits.push(hit(row)?);
        }
    }
    Ok(Some(hits))
}
