//! Tools over memories and facts: storing, reading and correcting them.

mod care;
mod change;

use std::sync::Arc;

use jiff::Timestamp;
use mnemic_core::memory::{MemoryFilter, MemoryPatch};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{Beside, MemoryRef, OfMemory, Subject};
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::PageResponse;
use crate::wire::memory::{
    KindWire, MemoryPatchRequest, MemoryRequest, MemoryResponse, SupersedeRequest,
};

pub(super) fn tools() -> Vec<Tool> {
    let mut tools = vec![
        Tool::new(
            "memory.remember",
            "Remember",
            Effect::Add,
            "Store one durable statement: a decision, preference, fact or lesson that will matter \
             beyond this conversation. Write it so that it stands alone. Use kind `fact` only for \
             what is certain and must always be obeyed. Do not store secrets or chatter. To \
             correct something stored, use supersede instead.",
            remember,
        )
        .daily(),
        Tool::new(
            "memory.get",
            "Get a memory",
            Effect::Read,
            "Read one memory in full by its id, for instance to check a citation [mem:<uuid>].",
            get,
        )
        .daily(),
        Tool::new(
            "memory.list",
            "List memories",
            Effect::Read,
            "Browse memories, newest first, by kind, channel, domain, topic or pin. To find what \
             is relevant to a question, use recall instead.",
            list,
        )
        .daily(),
        Tool::new(
            "memory.supersede",
            "Replace a memory",
            Effect::Add,
            "Replace a memory or fact that is outdated or wrong by a new statement. The old one \
             leaves recall but stays on record.",
            supersede,
        )
        .daily(),
        Tool::new(
            "memory.update",
            "Edit a memory",
            Effect::Destroy,
            "Change fields of a memory in place: labels, validity, or a slip in its wording. If \
             what it says is no longer true, use supersede instead. `clear` empties fields.",
            update,
        ),
    ];
    tools.extend(change::tools());
    tools.extend(care::tools());
    tools
}

async fn remember(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: MemoryRequest,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.create_memory(&caller, input.into()).await?;
    let text = format!("Remembered as a {}: {}.", memory.kind.as_str(), text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}

async fn get(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMemory,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.get_memory(&caller.principal, input.id.0).await?;
    let value = MemoryResponse::from(memory);
    let text = text::memory(&value);
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Only memories or only facts.
    kind: Option<KindWire>,
    channel: Option<String>,
    domain: Option<String>,
    topic: Option<String>,
    pinned: Option<bool>,
    /// Words to look for; then the best match comes first.
    q: Option<String>,
    /// Also what has been replaced.
    include_superseded: Option<bool>,
    /// Only what was forgotten and can be restored.
    deleted: Option<bool>,
    /// What was true in the world at this time (RFC 3339).
    as_of: Option<Timestamp>,
    /// What was held to be true at this time (RFC 3339).
    known_at: Option<Timestamp>,
    /// 1 to 200; 50 if absent.
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn list(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ListInput,
) -> Result<Reply<PageResponse<MemoryResponse>>> {
    let filter = MemoryFilter {
        kind: input.kind.map(Into::into),
        channel: input.channel,
        domain: input.domain,
        topic: input.topic,
        pinned: input.pinned,
        include_superseded: input.include_superseded.unwrap_or(false),
        deleted: input.deleted.unwrap_or(false),
        as_of: input.as_of,
        known_at: input.known_at,
    };
    let page = PageRequest { limit: input.limit, cursor: input.cursor };
    let words = input.q.as_deref();
    let found = mnemic.list_memories(&caller.principal, &filter, words, &page).await?;
    Ok(page_reply(PageResponse::of(found)))
}

fn page_reply(value: PageResponse<MemoryResponse>) -> Reply<PageResponse<MemoryResponse>> {
    let text = text::page(&value);
    Reply { value, text }
}

async fn supersede(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfMemory, SupersedeRequest>,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.supersede_memory(&caller, input.subject.id.0, input.body).await?;
    let text =
        format!("Replaced. The new {} is {}.", memory.kind.as_str(), text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}

/// What `clear` can empty. A schema without null leaves no other way to ask for it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Clearable {
    Domain,
    Topic,
    Source,
    Temporal,
    ValidFrom,
    ValidTo,
}

impl Clearable {
    fn clear(self, patch: &mut MemoryPatch) {
        match self {
            Self::Domain => patch.domain = Some(None),
            Self::Topic => patch.topic = Some(None),
            Self::Source => patch.source = Some(None),
            Self::Temporal => patch.temporal = Some(None),
            Self::ValidFrom => patch.valid_from = Some(None),
            Self::ValidTo => patch.valid_to = Some(None),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Target {
    id: MemoryRef,
    /// Fields to empty.
    #[serde(default)]
    clear: Vec<Clearable>,
}

impl Subject for Target {
    const FIELDS: &'static [&'static str] = &["id", "clear"];
}

async fn update(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<Target, MemoryPatchRequest>,
) -> Result<Reply<MemoryResponse>> {
    let mut patch = MemoryPatch::from(input.body);
    for field in input.subject.clear {
        field.clear(&mut patch);
    }
    let memory = mnemic.update_memory(&caller, input.subject.id.0, &patch).await?;
    let text = format!("Changed {}.", text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}
