//! Tools that look after the store: what is worth pinning, and what has gone stale.

use std::sync::Arc;

use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::tool::{Effect, Reply, Tool};
use super::page_reply;
use crate::wire::PageResponse;
use crate::wire::memory::{MemoryResponse, PurgeRequest, PurgeResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.recommended_pins",
            "Recommended pins",
            Effect::Read,
            "List memories that are cited often but not pinned, most cited first.",
            recommended_pins,
        ),
        Tool::new(
            "memory.stale",
            "Stale memories",
            Effect::Read,
            "List memories that nobody has cited within the retention window. Facts and pinned \
             memories never go stale.",
            stale,
        ),
        Tool::new(
            "memory.purge",
            "Purge stale memories",
            Effect::Destroy,
            "Erase stale memories for good. Call it with dry_run first and let the user confirm; \
             needs the role admin or member.",
            purge,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PinsInput {
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
}

async fn recommended_pins(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: PinsInput,
) -> Result<Reply<PageResponse<MemoryResponse>>> {
    let page = PageRequest { limit: input.limit, cursor: None };
    let found = mnemic.recommended_pins(&caller.principal, &page).await?;
    let items = found.into_iter().map(Into::into).collect();
    Ok(page_reply(PageResponse { items, next_cursor: None }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StaleInput {
    /// Instead of the workspace's retention window.
    older_than_days: Option<u32>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn stale(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: StaleInput,
) -> Result<Reply<PageResponse<MemoryResponse>>> {
    let page = PageRequest { limit: input.limit, cursor: input.cursor };
    let found = mnemic.stale_memories(&caller.principal, input.older_than_days, &page).await?;
    Ok(page_reply(PageResponse::of(found)))
}

async fn purge(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: PurgeRequest,
) -> Result<Reply<PurgeResponse>> {
    let value = PurgeResponse::from(mnemic.purge_memories(&caller, &input.into()).await?);
    let (count, more) = (value.ids.len(), if value.more { " More are stale." } else { "" });
    let text = if value.dry_run {
        format!("{count} stale memories would be erased.{more}")
    } else {
        format!("Erased {count} stale memories.{more}")
    };
    Ok(Reply { value, text })
}
