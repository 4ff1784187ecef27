//! Tools over the calls and figures of tools. Not called `tool`, which here is what MCP calls so.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::tool::{InvocationRequest, InvocationResponse, ToolResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "tool.record",
            "Report a tool call",
            Effect::Add,
            "Report that a tool was called: whether it worked, how long it took and what went \
             wrong. Reported again under the same id, it counts once. Input and output are kept \
             only where the workspace allows it.",
            record,
        ),
        Tool::new(
            "tool.list",
            "List tool figures",
            Effect::Read,
            "Show how often each tool was called, how often that worked and how long it took.",
            list,
        ),
    ]
}

async fn record(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: InvocationRequest,
) -> Result<Reply<InvocationResponse>> {
    let value = InvocationResponse::from(mnemic.record_invocation(&caller, &input.into()).await?);
    let text = format!("Counted the call {}.", value.id);
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<ToolResponse>>> {
    let page = PageRequest { limit: input.limit, cursor: input.cursor };
    let found = mnemic.list_tools(&caller.principal, &page).await?;
    let value = PageResponse::<ToolResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(tool: &ToolResponse) -> String {
    let ToolResponse { usage_count, success_count, .. } = tool;
    let mut line = format!("{}: worked {success_count} of {usage_count} times", quoted(&tool.tool));
    if let Some(mean) = tool.mean_latency_ms {
        let _ = write!(line, ", {mean:.0} ms on average");
    }
    let _ = write!(line, ", last {}", tool.last_used_at);
    line
}
