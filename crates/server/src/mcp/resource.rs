//! Memories as resources, which a person can attach to a conversation.

use mnemic_core::memory::{Memory, MemoryFilter};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Error, Mnemic, Result};
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::schema::without_nulls;
use crate::wire::memory::MemoryResponse;

pub(super) const MEMORY_URI: &str = "mem://memory/";
const NAME_CHARS_MAX: usize = 60;
/// Data stays data: as JSON, stored text cannot pass for anything else.
const MIME_TYPE: &str = "application/json";

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{MEMORY_URI}{{id}}"), "memory")
            .with_title("Memory")
            .with_description("One memory or fact by its id, the one that citations name.")
            .with_mime_type(MIME_TYPE),
    ]
}

/// What is live, newest first.
pub(super) async fn list(
    mnemic: &Mnemic,
    caller: &Caller,
    cursor: Option<String>,
) -> Result<ListResourcesResult> {
    let page = PageRequest { limit: None, cursor };
    let filter = MemoryFilter::default();
    let found = mnemic.list_memories(&caller.principal, &filter, None, &page).await?;
    let mut result =
        ListResourcesResult::with_all_items(found.items.iter().map(describe).collect());
    result.next_cursor = found.next_cursor;
    Ok(result)
}

/// Anything that is not a visible memory is answered as absent, whatever the reason.
pub(super) async fn read(
    mnemic: &Mnemic,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult> {
    let id = uri.strip_prefix(MEMORY_URI).and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| Error::not_found("resource"))?;
    let memory = mnemic.get_memory(&caller.principal, id).await?;
    let value = serde_json::to_value(MemoryResponse::from(memory))
        .map_err(|e| Error::internal("the memory cannot be written").caused_by(e))?;
    let contents = ResourceContents::text(format!("{:#}", without_nulls(value)), uri)
        .with_mime_type(MIME_TYPE);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn describe(memory: &Memory) -> Resource {
    let first_line = memory.content.trim().lines().next().unwrap_or_default();
    let mut name: String = first_line.chars().take(NAME_CHARS_MAX).collect();
    if name.len() < memory.content.trim().len() {
        name.push('…');
    }
    let kind = memory.kind.as_str();
    let pinned = if memory.pinned { ", pinned" } else { "" };
    Resource::new(format!("{MEMORY_URI}{}", memory.id), name)
        .with_description(format!("A {kind} in channel {}{pinned}.", memory.channel))
        .with_mime_type(MIME_TYPE)
}
