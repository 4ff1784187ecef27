//! Commands about tools.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::tool::{InvocationRequest, InvocationResponse, ToolResponse};

use super::{OWN, encoded};
use crate::cli::ToolCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ToolCommand) -> Result<()> {
    let path = format!("{OWN}/tools");
    match command {
        ToolCommand::Record(args) => {
            let request = InvocationRequest {
                tool: args.tool,
                success: !args.failed,
                latency_ms: args.latency,
                error: args.error,
                input: None,
                output: None,
                conversation_id: args.conversation,
                id: args.id,
            };
            let request = serde_json::to_value(request)?;
            let call: InvocationResponse =
                client.post(&format!("{path}/invocations"), &request).await?;
            if common.json {
                output::json(&call);
            } else {
                output::line(&call.id.to_string());
            }
            Ok(())
        }
        ToolCommand::List { limit, cursor } => {
            let mut wishes = Vec::new();
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
            list(client, common, &format!("{path}?{}", wishes.join("&"))).await
        }
    }
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<ToolResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for tool in &page.items {
        let ToolResponse { usage_count, success_count, last_used_at, .. } = tool;
        let mean = tool.mean_latency_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0} ms"));
        let line = format!(
            "{}  worked {success_count} of {usage_count}  {mean}  last {last_used_at}",
            tool.tool
        );
        output::line(&output::one_line(&line));
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}
