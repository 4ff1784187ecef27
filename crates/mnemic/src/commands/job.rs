//! Commands about background work.

use anyhow::Result;
use serde_json::{Value, json};

use super::{OWN, encoded};
use crate::cli::JobsCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: JobsCommand) -> Result<()> {
    match command {
        JobsCommand::List => {
            let jobs: Value = client.get(&format!("{OWN}/jobs")).await?;
            if common.json {
                output::json(&jobs);
                return Ok(());
            }
            for job in jobs["items"].as_array().into_iter().flatten() {
                output::line(&summary(job));
            }
            Ok(())
        }
        JobsCommand::Run { name, dry_run } => start(client, common, &name, dry_run).await,
    }
}

pub async fn reembed(client: &Client, common: &CommonArgs) -> Result<()> {
    client.attachment().endpoint().await?;
    client.attachment().await_model(std::time::Duration::from_secs(30)).await;
    start(client, common, "reembed", false).await
}

async fn start(client: &Client, common: &CommonArgs, name: &str, dry_run: bool) -> Result<()> {
    let path = format!("{OWN}/jobs/{}/run", encoded(name));
    let report: Value = client.post(&path, &json!({ "dry_run": dry_run })).await?;
    if common.json {
        output::json(&report);
        return Ok(());
    }
    let verb = if dry_run { "would be changed" } else { "changed" };
    output::line(&format!("{name}: {} records {verb}", report["changed"]));
    Ok(())
}

fn summary(job: &Value) -> String {
    let name = job["name"].as_str().unwrap_or_default();
    let every = match job["cadence_seconds"].as_u64() {
        Some(seconds) if seconds >= 3600 => format!("every {} h", seconds / 3600),
        Some(seconds) => format!("every {} min", seconds / 60),
        None => "when called for".to_owned(),
    };
    let last = &job["last_run"];
    let finished = last["finished_at"].as_str().unwrap_or_default();
    let outcome = match (finished, last["error"].as_str()) {
        ("", _) => "never run".to_owned(),
        (at, None) => format!("done {at}, {} records changed", last["changed"]),
        (at, Some(error)) => format!("failed {at}: {error}"),
    };
    let running = if job["running_since"].is_null() { "" } else { ", running now" };
    format!("{name:<12} {every:<16} {outcome}{running}")
}
