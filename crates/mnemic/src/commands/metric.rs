//! Commands about metrics.

use anyhow::{Context as _, Result};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::metric::{
    AggregationWire, EvaluationResponse, EventFilterWire, MetricPatchRequest, MetricRequest,
    MetricResponse, PreviewRequest,
};
use serde_json::json;
use uuid::Uuid;

use super::{OWN, encoded};
use crate::cli::{AggregationArg, FilterArgs, MetricCommand, MetricUpdateArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: MetricCommand) -> Result<()> {
    let path = format!("{OWN}/metrics");
    match command {
        MetricCommand::List { active, limit, cursor } => {
            let mut wishes = Vec::new();
            wishes.extend(active.map(|active| format!("active={active}")));
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
            list(client, common, &format!("{path}?{}", wishes.join("&"))).await
        }
        MetricCommand::Create { name, definition } => {
            let request = MetricRequest {
                name,
                event_filter: filter(definition.filter),
                success_condition: definition.success_condition,
                aggregation: definition.aggregation.into(),
                window_days: definition.window_days,
                description: definition.description,
            };
            let made: MetricResponse = client.post(&path, &serde_json::to_value(request)?).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&made.id.to_string());
            }
            Ok(())
        }
        MetricCommand::Preview { definition } => {
            let request = PreviewRequest {
                name: None,
                event_filter: filter(definition.filter),
                success_condition: definition.success_condition,
                aggregation: definition.aggregation.into(),
                window_days: definition.window_days,
                description: definition.description,
            };
            preview(client, common, &format!("{path}/preview"), &request).await
        }
        MetricCommand::Update(args) => update(client, common, args).await,
        MetricCommand::Delete { metric } => {
            let id = find(client, &metric).await?;
            client.delete(&format!("{path}/{id}")).await?;
            if common.json {
                output::json(&json!({"id": id}));
            } else {
                output::line(&format!("no longer measured: {id}"));
            }
            Ok(())
        }
    }
}

/// The id of a metric that is named by its id or by its name.
pub(super) async fn find(client: &Client, metric: &str) -> Result<Uuid> {
    if let Ok(id) = metric.parse() {
        return Ok(id);
    }
    let path = format!("{OWN}/metrics?limit=200");
    let page: PageResponse<MetricResponse> = client.get(&path).await?;
    let found = page.items.into_iter().find(|it| it.name == metric);
    let found = found.map(|it| it.id);
    found.with_context(|| format!("no metric is called `{metric}`: see `mnemic metric list`"))
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<MetricResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    page.items.iter().for_each(|metric| output::line(&line(metric)));
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

async fn preview(
    client: &Client,
    common: &CommonArgs,
    path: &str,
    request: &PreviewRequest,
) -> Result<()> {
    let found: EvaluationResponse = client.post(path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    output::line(&format!(
        "{}  baseline {}  delta {}  sequences {}",
        number(found.value),
        number(found.baseline_value),
        number(found.delta_vs_baseline),
        found.sample_count
    ));
    Ok(())
}

async fn update(client: &Client, common: &CommonArgs, args: MetricUpdateArgs) -> Result<()> {
    let id = find(client, &args.metric).await?;
    let no_filter = args.no_filter.then(EventFilterWire::default);
    let no_description = args.no_description.then_some(None);
    let request = MetricPatchRequest {
        name: args.name,
        event_filter: no_filter.or_else(|| filter(args.filter)),
        success_condition: args.success_condition,
        aggregation: args.aggregation.map(Into::into),
        window_days: args.window_days,
        description: no_description.or_else(|| args.description.map(Some)),
        active: args.active,
    };
    let path = format!("{OWN}/metrics/{id}");
    let metric: MetricResponse = client.patch(&path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&metric);
    } else {
        output::line(&line(&metric));
    }
    Ok(())
}

fn filter(FilterArgs { action_types, node_types }: FilterArgs) -> Option<EventFilterWire> {
    let given = !action_types.is_empty() || !node_types.is_empty();
    given.then_some(EventFilterWire { action_types, node_types })
}

fn line(metric: &MetricResponse) -> String {
    let MetricResponse { id, name, window_days, .. } = metric;
    let state = if metric.active { "active" } else { "inactive" };
    let aggregation = metric.aggregation.as_str();
    let condition = metric.success_condition.as_deref().unwrap_or("-");
    output::one_line(&format!(
        "{id}  {state}  {aggregation}  {window_days} days  {name}  {condition}"
    ))
}

impl From<AggregationArg> for AggregationWire {
    fn from(arg: AggregationArg) -> Self {
        match arg {
            AggregationArg::Rate => Self::Rate,
            AggregationArg::Average => Self::Average,
            AggregationArg::P95 => Self::P95,
        }
    }
}
