//! What metrics came to, day by day.

use mnemic_core::Result;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::BuiltIn;
use mnemic_core::metric::benchmark::{Benchmark, Day, Days};

use super::limit as rows;
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, metric_id, day, value, baseline_value, delta_vs_baseline, sample_count, \
         window_days, created_at"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "benchmark.lookup",
    concat!("SELECT ", columns!(), " FROM benchmarks WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST: Statement = Statement::workspace(
    "benchmark.list",
    concat!(
        "SELECT ",
        columns!(),
        " FROM benchmarks WHERE workspace_id = $1 AND metric_id = $2
           AND (day >= $3 OR $3 IS NULL) AND (day <= $4 OR $4 IS NULL)
           AND (day < $5 OR $5 IS NULL)
         ORDER BY day DESC LIMIT $6"
    ),
);

pub(crate) static LIST_OF_DAY: Statement = Statement::workspace(
    "benchmark.list_of_day",
    concat!(
        "SELECT ",
        columns!(),
        " FROM benchmarks WHERE workspace_id = $1 AND day = $2 ORDER BY metric_id"
    ),
);

/// One that is built in need not be stored; any other must still be there.
static PUT: Statement = Statement::workspace(
    "benchmark.put",
    concat!(
        "INSERT INTO benchmarks (workspace_id, ",
        columns!(),
        ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM workspaces w
         WHERE w.id = $1 AND ($11 OR EXISTS
             (SELECT 1 FROM metrics m WHERE m.workspace_id = $1 AND m.id = $3))
         ON CONFLICT (workspace_id, metric_id, day) DO UPDATE
         SET value = excluded.value, baseline_value = excluded.baseline_value,
             delta_vs_baseline = excluded.delta_vs_baseline,
             sample_count = excluded.sample_count, window_days = excluded.window_days,
             created_at = excluded.created_at"
    ),
);

static ERASE_OF: Statement = Statement::workspace(
    "benchmark.erase_of",
    "DELETE FROM benchmarks WHERE workspace_id = $1 AND metric_id = $2",
);

pub(crate) static ALL: &[&Statement] = &[&LOOKUP, &LIST, &LIST_OF_DAY, &PUT, &ERASE_OF];

pub(crate) fn list(metric: MetricId, days: Days, before: Option<Day>, limit: usize) -> Vec<Value> {
    let number = |day: Option<Day>| day.map(|day| day.0);
    values![metric.0, number(days.since), number(days.until), number(before), rows(limit)]
}

pub(crate) fn put(new: &Benchmark) -> Step {
    let params = values![
        new.id,
        new.metric_id.0,
        new.day.0,
        new.value,
        new.baseline_value,
        new.delta_vs_baseline,
        i64::try_from(new.sample_count).unwrap_or(i64::MAX),
        new.window_days,
        new.created_at,
        BuiltIn::of(new.metric_id).is_some(),
    ];
    Step::new(&PUT, params)
}

pub(crate) fn erase_of(metric: MetricId) -> Step {
    Step::new(&ERASE_OF, values![metric.0])
}

pub(crate) fn from_row(row: &Row) -> Result<Benchmark> {
    Ok(Benchmark {
        id: row.uuid("id")?,
        metric_id: MetricId(row.uuid("metric_id")?),
        day: Day(row.int("day")?),
        value: row.opt_float("value")?,
        baseline_value: row.opt_float("baseline_value")?,
        delta_vs_baseline: row.opt_float("delta_vs_baseline")?,
        sample_count: u64::try_from(row.int("sample_count")?).unwrap_or(0),
        window_days: u32::try_from(row.int("window_days")?).unwrap_or(u32::MAX),
        created_at: row.time("created_at")?,
    })
}
