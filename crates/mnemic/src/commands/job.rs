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
                output::line(job["name"].as_str().unwrap_or_default());
            }
            Ok(())
        }
        JobsCommand::Run { name } => start(client, common, &name).await,
    }
}

pub async fn reembed(client: &Client, common: &CommonArgs) -> Result<()> {
    client.attachment().endpoint().await?;
    client.attachment().await_model(std::time::Duration::from_secs(30)).await;
    start(client, common, "reembed").await
}

async fn start(client: &Client, common: &CommonArgs, name: &str) -> Result<()> {
    let report: Value =
        client.post(&format!("{OWN}/jobs/{}/run", encoded(name)), &json!({})).await?;
    if common.json {
        output::json(&report);
    } else {
        output::line(&format!("{name}: {} records changed", report["changed"]));
    }
    Ok(())
}
