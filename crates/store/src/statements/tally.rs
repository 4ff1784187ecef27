//! Counts of closed sequences, kept by the day for patterns and made on demand for metrics.

use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::action::Outcome;
use mnemic_core::sequence::{Key, KeyTally, TallyFilter, Unmined};

use super::action::outcome;
use super::{limit as rows, wishes};
use crate::{Fields, Row, Statement, Step, Value, values};

static COUNT_KEY: Statement = Statement::workspace(
    "tally.count_key",
    "INSERT INTO key_counts
         (workspace_id, action_type, node_type, error_code, day, sequences, last_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (workspace_id, action_type, node_type, error_code, day) DO UPDATE
     SET sequences = key_counts.sequences + excluded.sequences,
         last_at = CASE WHEN excluded.last_at > key_counts.last_at
                        THEN excluded.last_at ELSE key_counts.last_at END",
);

static DROP_KEY: Statement = Statement::workspace(
    "tally.drop_key",
    "DELETE FROM key_counts WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3
       AND error_code = $4 AND day = $5 AND sequences <= 0",
);

static COUNT_PAIR: Statement = Statement::workspace(
    "tally.count_pair",
    "INSERT INTO action_counts (workspace_id, action_type, node_type, day, sequences)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, action_type, node_type, day) DO UPDATE
     SET sequences = action_counts.sequences + excluded.sequences",
);

static DROP_PAIR: Statement = Statement::workspace(
    "tally.drop_pair",
    "DELETE FROM action_counts WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3
       AND day = $4 AND sequences <= 0",
);

static TOUCH: Statement = Statement::workspace(
    "tally.touch",
    "INSERT INTO unmined (workspace_id, action_type, node_type, revision) VALUES ($1, $2, $3, 1)
     ON CONFLICT (workspace_id, action_type, node_type) DO UPDATE
     SET revision = unmined.revision + 1",
);

static FORGET: Statement = Statement::workspace(
    "tally.forget",
    "DELETE FROM unmined
     WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND revision = $4",
);

pub(crate) static LIST_UNMINED: Statement = Statement::workspace(
    "tally.list_unmined",
    "SELECT action_type, node_type, revision FROM unmined WHERE workspace_id = $1
     ORDER BY action_type, node_type LIMIT $2",
);

pub(crate) static LIST_PAIRS: Statement = Statement::workspace(
    "tally.list_pairs",
    "SELECT DISTINCT action_type, node_type FROM action_counts
     WHERE workspace_id = $1 AND day >= $2 AND day <= $3 ORDER BY action_type, node_type",
);

pub(crate) static TOTAL: Statement = Statement::workspace(
    "tally.total",
    "SELECT CAST(coalesce(sum(sequences), 0) AS BIGINT) AS rows FROM action_counts
     WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND day >= $4",
);

pub(crate) static KEYS: Statement = Statement::workspace(
    "tally.keys",
    "SELECT error_code, CAST(sum(sequences) AS BIGINT) AS sequences, max(last_at) AS last_at
     FROM key_counts
     WHERE workspace_id = $1 AND action_type = $2 AND node_type = $3 AND day >= $4
     GROUP BY error_code ORDER BY error_code",
);

/// Whether a closed sequence has a key of one of eight action types and one of eight node types;
/// the first of each is null where any will do.
macro_rules! has_key {
    () => {
        "s.workspace_id = $1 AND s.closed_at IS NOT NULL
         AND EXISTS (SELECT 1 FROM sequence_keys k
                     WHERE k.workspace_id = $1 AND k.sequence_id = s.id
                       AND (k.action_type IN ($2, $3, $4, $5, $6, $7, $8, $9) OR $2 IS NULL)
                       AND (k.node_type IN ($10, $11, $12, $13, $14, $15, $16, $17)
                            OR $10 IS NULL))"
    };
}

pub(crate) static SEQUENCES: Statement = Statement::workspace(
    "tally.sequences",
    concat!(
        "SELECT s.outcome, s.action_count, count(*) AS rows FROM sequences s WHERE ",
        has_key!(),
        " AND (s.last_at >= $18 OR $18 IS NULL) AND (s.last_at < $19 OR $19 IS NULL)
         GROUP BY s.outcome, s.action_count ORDER BY s.outcome, s.action_count"
    ),
);

pub(crate) static FIRST: Statement = Statement::workspace(
    "tally.first",
    concat!(
        "SELECT f.outcome, f.action_count, count(*) AS rows FROM (
             SELECT s.outcome, s.action_count FROM sequences s WHERE ",
        has_key!(),
        " ORDER BY s.first_at, s.id LIMIT $18
         ) AS f GROUP BY f.outcome, f.action_count ORDER BY f.outcome, f.action_count"
    ),
);

pub(crate) static ALL: &[&Statement] = &[
    &COUNT_KEY,
    &DROP_KEY,
    &COUNT_PAIR,
    &DROP_PAIR,
    &TOUCH,
    &FORGET,
    &LIST_UNMINED,
    &LIST_PAIRS,
    &TOTAL,
    &KEYS,
    &SEQUENCES,
    &FIRST,
];

pub(crate) fn count_key(key: &Key, day: i64, difference: i64, last_at: Timestamp) -> Vec<Step> {
    let named = || values![&key.action_type, &key.node_type, &key.error_code, day];
    let mut params = named();
    params.extend(values![difference, last_at]);
    let gone = (difference < 0).then(|| Step::new(&DROP_KEY, named()));
    std::iter::once(Step::new(&COUNT_KEY, params)).chain(gone).collect()
}

pub(crate) fn count_pair(
    action_type: &str,
    node_type: &str,
    day: i64,
    difference: i64,
) -> Vec<Step> {
    let counted = Step::new(&COUNT_PAIR, values![action_type, node_type, day, difference]);
    let gone =
        (difference < 0).then(|| Step::new(&DROP_PAIR, values![action_type, node_type, day]));
    std::iter::once(counted).chain(gone).collect()
}

pub(crate) fn touch(action_type: &str, node_type: &str) -> Step {
    Step::new(&TOUCH, values![action_type, node_type])
}

pub(crate) fn forget(action_type: &str, node_type: &str, revision: i64) -> Step {
    Step::new(&FORGET, values![action_type, node_type, revision])
}

pub(crate) fn sequences(
    filter: &TallyFilter,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Vec<Value> {
    wanted(filter).into_iter().chain(values![since, until]).collect()
}

pub(crate) fn first(filter: &TallyFilter, limit: usize) -> Vec<Value> {
    wanted(filter).into_iter().chain(values![rows(limit)]).collect()
}

fn wanted(filter: &TallyFilter) -> Vec<Value> {
    wishes(&filter.action_types).into_iter().chain(wishes(&filter.node_types)).collect()
}

pub(crate) fn unmined_from_row(row: &Row) -> Result<Unmined> {
    Ok(Unmined {
        action_type: row.string("action_type")?,
        node_type: row.string("node_type")?,
        revision: row.int("revision")?,
    })
}

pub(crate) fn key_from_row(row: &Row) -> Result<KeyTally> {
    Ok(KeyTally {
        error_code: row.string("error_code")?,
        sequences: row.int("sequences")?,
        last_at: row.time("last_at")?,
    })
}

pub(crate) fn from_row(row: &Row) -> Result<(Outcome, i64, i64)> {
    Ok((outcome(row)?, row.int("action_count")?, row.int("rows")?))
}
