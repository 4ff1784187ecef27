//! Commands about strategies.

use anyhow::Result;
use mnemic_server::wire::strategy::{
    FoundStrategiesResponse, ReinforceRequest, StrategyRequest, StrategyResponse,
    StrategySearchRequest,
};
use serde_json::json;

use super::{OWN, text_or_stdin};
use crate::cli::StrategyCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: StrategyCommand) -> Result<()> {
    let path = format!("{OWN}/strategies");
    match command {
        StrategyCommand::Learn(args) => {
            let request = StrategyRequest {
                description: text_or_stdin(args.description)?,
                context_pattern: args.context,
                tool_sequence: (!args.tools.is_empty()).then_some(args.tools),
                success: args.failed.then_some(false),
                channel: args.channel,
                domain: args.domain,
            };
            let learned: StrategyResponse =
                client.post(&path, &serde_json::to_value(request)?).await?;
            if common.json {
                output::json(&learned);
            } else {
                output::line(&learned.id.to_string());
            }
            Ok(())
        }
        StrategyCommand::Find { task, channel, limit } => {
            let request = StrategySearchRequest { task, channel, limit };
            find(client, common, &format!("{path}/search"), request).await
        }
        StrategyCommand::Reinforce { id, failed } => {
            let request = serde_json::to_value(ReinforceRequest { success: !failed })?;
            let strategy: StrategyResponse =
                client.post(&format!("{path}/{id}/reinforce"), &request).await?;
            if common.json {
                output::json(&strategy);
            } else {
                output::line(&line(&strategy));
            }
            Ok(())
        }
        StrategyCommand::Forget { id } => {
            client.delete(&format!("{path}/{id}")).await?;
            if common.json {
                output::json(&json!({"id": id}));
            } else {
                output::line(&format!("forgot {id}"));
            }
            Ok(())
        }
    }
}

async fn find(
    client: &Client,
    common: &CommonArgs,
    path: &str,
    request: StrategySearchRequest,
) -> Result<()> {
    let found: FoundStrategiesResponse = client.post(path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    found.items.iter().for_each(|hit| output::line(&line(&hit.strategy)));
    found.degraded.iter().for_each(|part| output::note(&format!("incomplete: {part}")));
    Ok(())
}

fn line(strategy: &StrategyResponse) -> String {
    let StrategyResponse { id, success_count, failure_count, description, .. } = strategy;
    let uses = success_count + failure_count;
    output::one_line(&format!("{id}  worked {success_count} of {uses}  {description}"))
}
