//! Search by vector: all of them while few pass the filter, a graph where many do.
//!
//! A graph is walked before it is filtered, so it loses what a narrow filter lets through. The
//! rows that pass are therefore counted first, up to a limit: below it the scan is exact and
//! fast enough, above it enough of what the walk meets passes.

use mnemic_core::recall::SearchFilter;

use super::filter::{params, passes};
use crate::{Statement, Value, values};

/// Up to this many that pass are scanned: measured at 27 ms, with 384 dimensions, on one core.
pub(super) const SCANNED_MAX: i64 = 20_000;

static COUNT: Statement = Statement::workspace(
    "nearest.count",
    concat!(
        "SELECT count(*) AS rows FROM (SELECT 1 FROM memories m WHERE ",
        passes!(),
        " LIMIT $12) AS passing"
    ),
);

static SCAN: Statement = Statement::workspace(
    "nearest.scan",
    concat!(
        "SELECT v.item_id, 1 - (v.vector <=> $14) AS score
         FROM vectors v JOIN memories m ON m.workspace_id = $1 AND m.id = v.item_id
         WHERE v.workspace_id = $1 AND v.model = $13 AND ",
        passes!(),
        " ORDER BY v.vector <=> $14, v.item_id DESC LIMIT $12"
    ),
);

/// How a graph is walked: on and on until enough have passed the filter.
static WALK_SETTINGS: Statement = Statement::workspace(
    "nearest.walk_settings",
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
            set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true),
            set_config('enable_sort', 'off', true), CAST($1 AS uuid)",
);

macro_rules! walks {
    ($($name:ident: $dimensions:literal;)*) => {
        $(static $name: Statement = Statement::workspace(
            concat!("nearest.walk_", $dimensions),
            concat!(
                "SELECT v.item_id, 1 - (v.vector <=> $14) AS score
                 FROM vectors v JOIN memories m ON m.workspace_id = $1 AND m.id = v.item_id
                 WHERE v.workspace_id = $1 AND v.model = $13
                   AND vector_dims(v.vector) = ", $dimensions, " AND ",
                passes!(),
                " ORDER BY CAST(v.vector AS halfvec(", $dimensions, "))
                       <=> CAST($14 AS halfvec(", $dimensions, ")) LIMIT $12"
            ),
        );)*

        /// A graph for each number of dimensions that the schema has an index for.
        const WALKS: &[(usize, &Statement)] = &[$(($dimensions, &$name),)*];

        pub(super) static ALL: &[&Statement] = &[&COUNT, &SCAN, &WALK_SETTINGS, $(&$name,)*];
    };
}

walks! {
    WALK_384: 384;
    WALK_768: 768;
    WALK_1024: 1024;
    WALK_1536: 1536;
    WALK_3072: 3072;
}

type Question = (&'static Statement, Vec<Value>);

/// How many pass the filter, counted just far enough to decide.
pub(super) fn count(filter: &SearchFilter) -> Question {
    (&COUNT, params(filter, values![SCANNED_MAX + 1]))
}

pub(super) fn scan(model: &str, query: &[f32], filter: &SearchFilter, limit: usize) -> Question {
    (&SCAN, arguments(model, query, filter, limit))
}

/// The settings and the walk, to be run in one transaction; nothing, where there is no graph for
/// as many dimensions.
pub(super) fn walk(
    model: &str,
    query: &[f32],
    filter: &SearchFilter,
    limit: usize,
) -> Option<[Question; 2]> {
    let (_, walk) = WALKS.iter().find(|(dimensions, _)| *dimensions == query.len())?;
    Some([(&WALK_SETTINGS, vec![]), (walk, arguments(model, query, filter, limit))])
}

fn arguments(model: &str, query: &[f32], filter: &SearchFilter, limit: usize) -> Vec<Value> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    params(filter, values![limit, model, query])
}
