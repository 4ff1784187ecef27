//! Metrics on the wire.

use jiff::Timestamp;
use mnemic_core::metric::{
    Aggregation, Definition, Evaluation, EventFilter, Metric, MetricPatch, NewMetric,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{nullable, optional_object};

/// How the sequences of a window become one number: the share that meets the condition (`rate`),
/// the mean number of actions of those that meet it (`average`), or the number that 95 of 100 of
/// those do not exceed (`p95`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AggregationWire {
    Rate,
    Average,
    P95,
}

impl AggregationWire {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => Aggregation::Rate.as_str(),
            Self::Average => Aggregation::Average.as_str(),
            Self::P95 => Aggregation::P95.as_str(),
        }
    }
}

impl From<AggregationWire> for Aggregation {
    fn from(wire: AggregationWire) -> Self {
        match wire {
            AggregationWire::Rate => Self::Rate,
            AggregationWire::Average => Self::Average,
            AggregationWire::P95 => Self::P95,
        }
    }
}

impl From<Aggregation> for AggregationWire {
    fn from(aggregation: Aggregation) -> Self {
        match aggregation {
            Aggregation::Rate => Self::Rate,
            Aggregation::Average => Self::Average,
            Aggregation::P95 => Self::P95,
        }
    }
}

/// Which sequences are looked at: those with an action of one of these types on a node of one of
/// these types. An empty list means any.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EventFilterWire {
    #[serde(alias = "action_type")]
    #[schema(max_items = 8)]
    pub action_types: Vec<String>,
    #[serde(alias = "node_type", alias = "target_node_types", alias = "target_node_type")]
    #[schema(max_items = 8)]
    pub node_types: Vec<String>,
}

impl From<EventFilterWire> for EventFilter {
    fn from(EventFilterWire { action_types, node_types }: EventFilterWire) -> Self {
        Self { action_types, node_types }
    }
}

impl From<EventFilter> for EventFilterWire {
    fn from(EventFilter { action_types, node_types }: EventFilter) -> Self {
        Self { action_types, node_types }
    }
}

/// A metric to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// All sequences if absent.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub event_filter: Option<EventFilterWire>,
    /// What a sequence has to be like: `outcome == 'success'`, `outcome == 'failure'`,
    /// `action_count < 12` (also `<=`, `>`, `>=`, `==`, `!=`), joined by `and`, `or`, `not` and
    /// parentheses.
    #[schema(min_length = 1, max_length = 1000)]
    pub success_condition: String,
    pub aggregation: AggregationWire,
    /// How many days back it looks; 7 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365)]
    pub window_days: Option<u32>,
    /// At most 2,048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2048)]
    pub description: Option<String>,
}

impl From<MetricRequest> for NewMetric {
    fn from(request: MetricRequest) -> Self {
        Self {
            name: request.name,
            event_filter: request.event_filter.unwrap_or_default().into(),
            success_condition: request.success_condition,
            aggregation: request.aggregation.into(),
            window_days: request.window_days,
            description: request.description,
        }
    }
}

/// A metric to be tried out. It is not stored, and needs no name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewRequest {
    /// Not needed yet; one that is given must be a name, or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    pub name: Option<String>,
    /// All sequences if absent.
    #[serde(
        default,
        deserialize_with = "optional_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub event_filter: Option<EventFilterWire>,
    /// As that of a metric.
    #[schema(min_length = 1, max_length = 1000)]
    pub success_condition: String,
    pub aggregation: AggregationWire,
    /// How many days back it looks; 7 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365)]
    pub window_days: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2048)]
    pub description: Option<String>,
}

impl From<PreviewRequest> for NewMetric {
    fn from(request: PreviewRequest) -> Self {
        Self {
            name: request.name.unwrap_or_default(),
            event_filter: request.event_filter.unwrap_or_default().into(),
            success_condition: request.success_condition,
            aggregation: request.aggregation.into(),
            window_days: request.window_days,
            description: request.description,
        }
    }
}

/// What to change; absent fields stay, null empties `description`. Of a metric that is built in,
/// `active` and `window_days` alone can be changed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MetricPatchRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128)]
    pub name: Option<String>,
    #[serde(deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    pub event_filter: Option<EventFilterWire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1000)]
    pub success_condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationWire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 365)]
    pub window_days: Option<u32>,
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 2048)]
    pub description: Option<Option<String>>,
    /// Whether it is measured every night.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

impl From<MetricPatchRequest> for MetricPatch {
    fn from(request: MetricPatchRequest) -> Self {
        Self {
            name: request.name,
            event_filter: request.event_filter.map(Into::into),
            success_condition: request.success_condition,
            aggregation: request.aggregation.map(Into::into),
            window_days: request.window_days,
            description: request.description,
            active: request.active,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct MetricResponse {
    pub id: Uuid,
    pub name: String,
    /// Whether every workspace has it. Such a one can be switched off and not deleted.
    pub built_in: bool,
    pub event_filter: EventFilterWire,
    /// As it was understood; null means every sequence.
    pub success_condition: Option<String>,
    pub aggregation: AggregationWire,
    pub window_days: u32,
    pub description: Option<String>,
    /// Whether it is measured every night.
    pub active: bool,
    pub created_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<Metric> for MetricResponse {
    fn from(metric: Metric) -> Self {
        let built_in = metric.built_in().is_some();
        let Definition { event_filter, success_condition, aggregation, window_days } =
            metric.definition;
        Self {
            id: metric.id.0,
            name: metric.name,
            built_in,
            event_filter: event_filter.into(),
            success_condition: success_condition.map(|condition| condition.to_string()),
            aggregation: aggregation.into(),
            window_days,
            description: metric.description,
            active: metric.active,
            created_by: metric.created_by,
            created_at: metric.created_at,
            updated_at: metric.updated_at,
        }
    }
}

/// What a metric comes to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EvaluationResponse {
    /// Null if there is no sequence to be measured.
    pub value: Option<f64>,
    /// The same over the first 50 sequences that pass the filter.
    pub baseline_value: Option<f64>,
    /// `value` minus `baseline_value`.
    pub delta_vs_baseline: Option<f64>,
    /// How many sequences `value` is of: for a rate all that pass the filter, otherwise those
    /// that meet the condition.
    pub sample_count: u64,
}

impl From<Evaluation> for EvaluationResponse {
    fn from(evaluation: Evaluation) -> Self {
        Self {
            value: evaluation.value,
            baseline_value: evaluation.baseline_value,
            delta_vs_baseline: evaluation.delta_vs_baseline,
            sample_count: evaluation.sample_count,
        }
    }
}
