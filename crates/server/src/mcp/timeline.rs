//! The tool over the timeline.

use std::sync::Arc;

use jiff::Timestamp;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::timeline::TimelineFilter;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::timeline::EventResponse;

pub(super) fn tools() -> Vec<Tool> {
    vec![Tool::new(
        "timeline.list",
        "Read the timeline",
        Effect::Read,
        "Show what was learned, promoted, replaced, forgotten and restored, the latest first. type \
         is one of those (learned, promoted, superseded, forgotten, restored), or what it happened \
         to (memory, fact, strategy).",
        list,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    channel: Option<String>,
    #[serde(rename = "type")]
    word: Option<String>,
    /// Not before this time (RFC 3339).
    since: Option<Timestamp>,
    /// Before this time (RFC 3339).
    until: Option<Timestamp>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<EventResponse>>> {
    let ListInput { channel, word, since, until, limit, cursor } = input;
    let filter = TimelineFilter { channel, since, until, ..TimelineFilter::default() };
    let filter = filter.of_type(word.as_deref())?;
    let page = PageRequest { limit, cursor };
    let found = mnemic.list_timeline(&caller.principal, &filter, &page).await?;
    let value = PageResponse::<EventResponse>::of(found);
    let text = text::lines(value.items.iter().map(line), value.next_cursor.as_deref());
    Ok(Reply { value, text })
}

fn line(event: &EventResponse) -> String {
    let EventResponse { at, event: happened, record_type, record_id, summary, .. } = event;
    format!("{at} {happened} {record_type} {record_id}: {}", quoted(summary))
}
