//! Tools over metrics. Names and descriptions are stored data, and shown as such.

use std::sync::Arc;

use mnemic_core::ids::MetricId;
use mnemic_core::metric::MetricPatch;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::input::{Beside, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::metric::{MetricPatchRequest, MetricRequest, MetricResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.metric_create",
            "Make a metric",
            Effect::Add,
            "Define what is to be measured every night over sequences of actions: which ones \
             (event_filter), what they have to be like (success_condition, such as \
             outcome == 'success' or action_count < 12), and as what (aggregation: rate, average \
             or p95).",
            create,
        ),
        Tool::new(
            "memory.metric_update",
            "Change a metric",
            Effect::Destroy,
            "Change the fields of a metric that are given, or switch it on or off (active). Of a \
             built-in one only active and window_days can be changed. `clear` empties description.",
            update,
        ),
        Tool::new(
            "memory.metric_delete",
            "Delete a metric",
            Effect::Destroy,
            "Delete a metric with its benchmarks. A built-in one is switched off instead, and \
             keeps them.",
            delete,
        ),
        Tool::new(
            "memory.metric_list",
            "List metrics",
            Effect::Read,
            "Show the metrics of the workspace by name, the built-in ones among them.",
            list,
        ),
    ]
}

async fn create(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: MetricRequest,
) -> Result<Reply<MetricResponse>> {
    let value = MetricResponse::from(mnemic.create_metric(&caller, &input.into()).await?);
    let text = format!("Made the metric {}.", value.id);
    Ok(Reply { value, text })
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Description,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfChange {
    /// The metric's id.
    #[serde(alias = "id")]
    metric_id: Uuid,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for OfChange {
    const FIELDS: &'static [&'static str] = &["metric_id", "id", "clear"];
}

async fn update(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfChange, MetricPatchRequest>,
) -> Result<Reply<MetricResponse>> {
    let OfChange { metric_id, clear } = input.subject;
    let mut patch = MetricPatch::from(input.body);
    for Clearable::Description in clear {
        patch.description = Some(None);
    }
    let metric = mnemic.update_metric(&caller, MetricId(metric_id), &patch).await?;
    let text = format!("Changed the metric {}.", metric.id);
    Ok(Reply { value: metric.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfMetric {
    /// The metric's id.
    #[serde(alias = "id")]
    metric_id: Uuid,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RemovedResponse {
    metric_id: Uuid,
    /// It is built in, and was switched off.
    deactivated: bool,
}

async fn delete(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMetric,
) -> Result<Reply<RemovedResponse>> {
    let removed = mnemic.delete_metric(&caller, MetricId(input.metric_id)).await?;
    let (metric_id, deactivated) = (removed.id.0, removed.deactivated);
    let text = if deactivated {
        format!("Switched off the metric {metric_id}, which is built in.")
    } else {
        format!("Deleted the metric {metric_id} and its benchmarks.")
    };
    Ok(Reply { value: RemovedResponse { metric_id, deactivated }, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Only those that are measured every night, or only those that are not.
    active: Option<bool>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<MetricResponse>>> {
    let ListInput { active, limit, cursor } = input;
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_metrics(&caller.principal, active, &page).await?;
    let value = PageResponse::<MetricResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(metric: &MetricResponse) -> String {
    let MetricResponse { id, window_days, .. } = metric;
    let (name, aggregation) = (quoted(&metric.name), metric.aggregation.as_str());
    let condition = metric.success_condition.as_ref();
    let condition = condition.map_or_else(String::new, |it| format!(" of {}", quoted(it)));
    let state = if metric.active { "" } else { ", not active" };
    format!("{id} {name}: {aggregation}{condition} over {window_days} days{state}")
}
