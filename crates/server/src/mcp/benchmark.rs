//! Tools over benchmarks: a metric's trend, and comparisons.

use std::sync::Arc;

use jiff::civil::Date;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::benchmark::Days;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::benchmark::{BenchmarkResponse, CompareRequest, CompareResponse, SideResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.benchmark_get",
            "Read a metric's trend",
            Effect::Read,
            "Show what a metric came to from day to day, the latest first, each against the \
             workspace's first 50 sequences (delta_vs_baseline).",
            get,
        ),
        Tool::new(
            "memory.benchmark_compare",
            "Compare metrics",
            Effect::Read,
            "Measure two metrics side by side (metric_ids), or one over two stretches of time \
             (metric_id with windows).",
            compare,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetInput {
    /// The metric's id.
    #[serde(alias = "id")]
    metric_id: Uuid,
    /// Not before this day, such as 2026-11-01.
    since: Option<Date>,
    /// Not behind this day.
    until: Option<Date>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn get(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: GetInput,
) -> Result<Reply<PageResponse<BenchmarkResponse>>> {
    let GetInput { metric_id, since, until, limit, cursor } = input;
    let days = Days { since: since.map(Into::into), until: until.map(Into::into) };
    let (id, page) = (MetricId(metric_id), PageRequest { limit, cursor });
    let found = mnemic.list_benchmarks(&caller.principal, id, days, &page).await?;
    let value = PageResponse::<BenchmarkResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(benchmark: &BenchmarkResponse) -> String {
    let day = benchmark.day.map_or_else(|| "?".to_owned(), |day| day.to_string());
    let (value, sequences) = (number(benchmark.value), benchmark.sample_count);
    let (baseline, delta) = (number(benchmark.baseline_value), number(benchmark.delta_vs_baseline));
    format!("{day}: {value} over {sequences} sequences; baseline {baseline}, delta {delta}")
}

async fn compare(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: CompareRequest,
) -> Result<Reply<CompareResponse>> {
    let compared = mnemic.compare_benchmarks(&caller.principal, input.try_into()?).await?;
    let value = CompareResponse::from(compared);
    let (first, second) = (side(&value.first), side(&value.second));
    let text = format!("{first}\n{second}\nDifference: {}", number(value.difference));
    Ok(Reply { value, text })
}

fn side(side: &SideResponse) -> String {
    let SideResponse { name, since, until, evaluation, .. } = side;
    let (value, sequences) = (number(evaluation.value), evaluation.sample_count);
    format!("{} from {since} to {until}: {value} over {sequences} sequences", quoted(name))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:.4}"))
}
