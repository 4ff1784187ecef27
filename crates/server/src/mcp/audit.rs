//! The tool that shows what was done.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};

use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::audit::{AuditEntryResponse, AuditRequest};

pub(super) fn tools() -> Vec<Tool> {
    vec![Tool::new(
        "audit.list",
        "Read the audit",
        Effect::Read,
        "Show who did what in this workspace, newest first. Needs the role admin or member.",
        list,
    )]
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: AuditRequest,
) -> Result<Reply<PageResponse<AuditEntryResponse>>> {
    let (filter, page) = input.into();
    let entries = mnemic.list_audit(&caller.principal, &filter, &page).await?;
    let value = PageResponse::<AuditEntryResponse>::of(entries);
    let mut lines: Vec<_> = value.items.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("Nothing was written down.".to_owned());
    }
    if let Some(cursor) = &value.next_cursor {
        lines.push(format!("There is more: call again with cursor {cursor}"));
    }
    Ok(Reply { text: lines.join("\n"), value })
}

fn line(entry: &AuditEntryResponse) -> String {
    let who = entry.agent.as_ref().or(entry.user.as_ref()).unwrap_or(&entry.role);
    let outcome = entry.error.as_deref().unwrap_or("done");
    format!("{} {} by {who}: {outcome}, {} records", entry.at, entry.operation, entry.count)
}
