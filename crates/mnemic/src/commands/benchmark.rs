//! Commands about benchmarks.

use anyhow::{Result, bail};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::benchmark::{BenchmarkResponse, CompareResponse, SideResponse};
use serde_json::{Value, json};

use super::metric::{find, number};
use super::{OWN, encoded};
use crate::cli::BenchmarkCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: BenchmarkCommand) -> Result<()> {
    match command {
        BenchmarkCommand::List { metric, since, until, limit, cursor } => {
            let id = find(client, &metric).await?;
            let mut wishes = Vec::new();
            for (name, value) in [("since", since), ("until", until), ("cursor", cursor)] {
                wishes.extend(value.map(|value| format!("{name}={}", encoded(&value))));
            }
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            let path = format!("{OWN}/metrics/{id}/benchmarks?{}", wishes.join("&"));
            list(client, common, &path).await
        }
        BenchmarkCommand::Compare { metric, windows } => {
            let request = comparison(client, &metric, windows).await?;
            compare(client, common, &request).await
        }
    }
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<BenchmarkResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for benchmark in &page.items {
        let day = benchmark.day.map_or_else(|| "-".to_owned(), |day| day.to_string());
        output::line(&format!(
            "{day}  {}  baseline {}  delta {}  sequences {}",
            number(benchmark.value),
            number(benchmark.baseline_value),
            number(benchmark.delta_vs_baseline),
            benchmark.sample_count
        ));
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

/// The server says what is wrong with the times.
async fn comparison(
    client: &Client,
    metrics: &[String],
    windows: Vec<(String, String)>,
) -> Result<Value> {
    let mut windows =
        windows.into_iter().map(|(since, until)| json!({"since": since, "until": until}));
    match metrics {
        [one] => {
            let id = find(client, one).await?;
            Ok(json!({"metric_id": id, "windows": windows.collect::<Vec<_>>()}))
        }
        [first, second] => {
            let ids = [find(client, first).await?, find(client, second).await?];
            let window = windows.next();
            if windows.next().is_some() {
                bail!(
                    "two metrics are compared over one window: give --window once, or one metric"
                );
            }
            Ok(match window {
                Some(window) => json!({"metric_ids": ids, "window": window}),
                None => json!({"metric_ids": ids}),
            })
        }
        _ => bail!("name one metric or two"),
    }
}

async fn compare(client: &Client, common: &CommonArgs, request: &Value) -> Result<()> {
    let path = format!("{OWN}/benchmarks/compare");
    let compared: CompareResponse = client.post(&path, request).await?;
    if common.json {
        output::json(&compared);
        return Ok(());
    }
    output::line(&side(&compared.first));
    output::line(&side(&compared.second));
    output::line(&format!("difference {}", number(compared.difference)));
    Ok(())
}

fn side(side: &SideResponse) -> String {
    let SideResponse { name, since, until, evaluation, .. } = side;
    let (value, sequences) = (number(evaluation.value), evaluation.sample_count);
    output::one_line(&format!("{value}  {name}  {since} to {until}  sequences {sequences}"))
}
