//! Benchmarks and comparisons on the wire.

use jiff::Timestamp;
use jiff::civil::Date;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::benchmark::Benchmark;
use mnemic_core::metric::{Compared, Comparison, Side, Window};
use mnemic_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::metric::EvaluationResponse;
use super::{Object, optional_object};

/// What a metric came to on a day.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct BenchmarkResponse {
    pub id: Uuid,
    pub metric_id: Uuid,
    /// The day (UTC) on which it was measured.
    #[schema(value_type = Option<String>, format = Date)]
    pub day: Option<Date>,
    /// Null if there was no sequence to be measured.
    pub value: Option<f64>,
    /// The same over the first 50 sequences that pass the filter.
    pub baseline_value: Option<f64>,
    /// `value` minus `baseline_value`.
    pub delta_vs_baseline: Option<f64>,
    pub sample_count: u64,
    /// How many days back it looked.
    pub window_days: u32,
    /// When it was measured last on that day.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<Benchmark> for BenchmarkResponse {
    fn from(benchmark: Benchmark) -> Self {
        Self {
            id: benchmark.id,
            metric_id: benchmark.metric_id.0,
            day: benchmark.day.date(),
            value: benchmark.value,
            baseline_value: benchmark.baseline_value,
            delta_vs_baseline: benchmark.delta_vs_baseline,
            sample_count: benchmark.sample_count,
            window_days: benchmark.window_days,
            created_at: benchmark.created_at,
        }
    }
}

/// A stretch of time, with its beginning and without its end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowWire {
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

impl From<WindowWire> for Window {
    fn from(WindowWire { since, until }: WindowWire) -> Self {
        Self { since, until }
    }
}

/// Two metrics (`metric_ids`, each over its own window unless `window` is given), or one metric
/// over two windows (`metric_id` and `windows`).
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 2, max_items = 2)]
    pub metric_ids: Option<Vec<Uuid>>,
    #[serde(deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowWire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_id: Option<Uuid>,
    #[serde(deserialize_with = "objects", skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 2, max_items = 2)]
    pub windows: Option<Vec<WindowWire>>,
}

fn objects<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<WindowWire>>, D::Error> {
    let windows = Option::<Vec<Object<WindowWire>>>::deserialize(deserializer)?;
    Ok(windows.map(|windows| windows.into_iter().map(|Object(window)| window).collect()))
}

impl TryFrom<CompareRequest> for Comparison {
    type Error = Error;

    fn try_from(request: CompareRequest) -> Result<Self> {
        let CompareRequest { metric_ids, window, metric_id, windows } = request;
        match (metric_ids, metric_id) {
            (Some(_), Some(_)) => {
                Err(Error::invalid("metric_id", "give either metric_ids or metric_id, not both"))
            }
            (None, None) => Err(Error::invalid(
                "metric_ids",
                "name two metrics here, or one as metric_id with two windows",
            )),
            (Some(ids), None) => {
                if windows.is_some() {
                    let problem = "belongs to metric_id; with metric_ids give one window for both";
                    return Err(Error::invalid("windows", problem));
                }
                let ids: [Uuid; 2] = pair("metric_ids", ids)?;
                Ok(Self::Metrics(ids.map(MetricId), window.map(Into::into)))
            }
            (None, Some(id)) => {
                if window.is_some() {
                    let problem = "belongs to metric_ids; with metric_id give two as windows";
                    return Err(Error::invalid("window", problem));
                }
                let windows = pair("windows", windows.unwrap_or_default())?;
                Ok(Self::Windows(MetricId(id), windows.map(Into::into)))
            }
        }
    }
}

fn pair<T>(field: &str, given: Vec<T>) -> Result<[T; 2]> {
    let count = given.len();
    given.try_into().map_err(|_| Error::invalid(field, format!("needs exactly 2, found {count}")))
}

/// One of the two that are compared.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SideResponse {
    pub metric_id: Uuid,
    pub name: String,
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
    #[serde(flatten)]
    pub evaluation: EvaluationResponse,
}

impl From<Side> for SideResponse {
    fn from(side: Side) -> Self {
        Self {
            metric_id: side.metric.id.0,
            name: side.metric.name,
            since: side.window.since,
            until: side.window.until,
            evaluation: side.evaluation.into(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct CompareResponse {
    pub first: SideResponse,
    pub second: SideResponse,
    /// The value of the second minus that of the first; null if either has none, or if the two
    /// metrics are not aggregated alike.
    pub difference: Option<f64>,
}

impl From<Compared> for CompareResponse {
    fn from(compared: Compared) -> Self {
        Self {
            first: compared.first.into(),
            second: compared.second.into(),
            difference: compared.difference,
        }
    }
}
