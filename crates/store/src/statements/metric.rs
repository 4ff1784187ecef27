//! Metrics as workspaces have defined or changed them.

use mnemic_core::ids::MetricId;
use mnemic_core::metric::{Definition, EventFilter, Metric};
use mnemic_core::text::fold_name;
use mnemic_core::{Code, Error, Result};

use super::exactly_one;
use crate::{Fields, Row, Statement, Step, Value, values};

macro_rules! columns {
    () => {
        "id, key, name, built_in, event_filter, success_condition, aggregation, window_days, \
         description, active, created_by, created_at, updated_at, revision"
    };
}

pub(crate) static LOOKUP: Statement = Statement::workspace(
    "metric.lookup",
    concat!("SELECT ", columns!(), " FROM metrics WHERE workspace_id = $1 AND id = $2"),
);

pub(crate) static LIST: Statement = Statement::workspace(
    "metric.list",
    concat!("SELECT ", columns!(), " FROM metrics WHERE workspace_id = $1 ORDER BY name, id"),
);

/// One of the same id or of the same name is there already, and stays.
static ADD: Statement = Statement::workspace(
    "metric.add",
    concat!(
        "INSERT INTO metrics (workspace_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT DO NOTHING"
    ),
);

static UPDATE: Statement = Statement::workspace(
    "metric.update",
    "UPDATE metrics SET key = $3, name = $4, event_filter = $5, success_condition = $6,
         aggregation = $7, window_days = $8, description = $9, active = $10, updated_at = $11,
         revision = $12
     WHERE workspace_id = $1 AND id = $2 AND revision = $12 - 1",
);

static ERASE: Statement =
    Statement::workspace("metric.erase", "DELETE FROM metrics WHERE workspace_id = $1 AND id = $2");

/// When the last action was of the sequences that a metric's beginnings are taken from.
pub(crate) static END_OF_FIRST: Statement = Statement::workspace(
    "metric.end_of_first",
    "SELECT max(f.last_at) AS last_at FROM (
         SELECT s.last_at FROM sequences s WHERE s.workspace_id = $1 AND s.closed_at IS NOT NULL
         ORDER BY s.first_at, s.id LIMIT $2
     ) AS f",
);

pub(crate) static ALL: &[&Statement] = &[&LOOKUP, &LIST, &ADD, &UPDATE, &ERASE, &END_OF_FIRST];

pub(crate) fn add(new: &Metric) -> Step {
    let Definition { success_condition, aggregation, window_days, .. } = &new.definition;
    let params = values![
        new.id.0,
        fold_name(&new.name),
        &new.name,
        new.built_in().is_some(),
        filter(new),
        success_condition.as_ref().map(ToString::to_string),
        aggregation.as_str(),
        *window_days,
        new.description.as_deref(),
        new.active,
        &new.created_by,
        new.created_at,
        new.updated_at,
        new.revision,
    ];
    exactly_one(&ADD, params)
}

pub(crate) fn update(changed: &Metric) -> Step {
    let Definition { success_condition, aggregation, window_days, .. } = &changed.definition;
    let params = values![
        changed.id.0,
        fold_name(&changed.name),
        &changed.name,
        filter(changed),
        success_condition.as_ref().map(ToString::to_string),
        aggregation.as_str(),
        *window_days,
        changed.description.as_deref(),
        changed.active,
        changed.updated_at,
        changed.revision,
    ];
    exactly_one(&UPDATE, params)
}

pub(crate) fn erase(id: MetricId) -> Step {
    Step::new(&ERASE, values![id.0])
}

fn filter(metric: &Metric) -> Value {
    let EventFilter { action_types, node_types } = &metric.definition.event_filter;
    Value::Json(serde_json::json!({"action_types": action_types, "node_types": node_types}))
}

pub(crate) fn from_row(row: &Row) -> Result<Metric> {
    let condition = row.opt_text("success_condition")?.map(str::parse).transpose();
    Ok(Metric {
        id: MetricId(row.uuid("id")?),
        name: row.string("name")?,
        definition: Definition {
            event_filter: row.decode("event_filter")?,
            success_condition: condition.map_err(unreadable)?,
            aggregation: row.text("aggregation")?.parse().map_err(unreadable)?,
            window_days: u32::try_from(row.int("window_days")?).unwrap_or(u32::MAX),
        },
        description: row.opt_string("description")?,
        active: row.bool("active")?,
        created_by: row.string("created_by")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        revision: row.int("revision")?,
    })
}

fn unreadable(error: Error) -> Error {
    Error::new(Code::Corrupt, "a stored metric is damaged").caused_by(error)
}
