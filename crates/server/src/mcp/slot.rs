//! Tools over the slots of a conversation. What a slot holds was stored by somebody: it is shown
//! on one line, as JSON, and said to be data.

use std::fmt::Write as _;
use std::sync::Arc;

use mnemic_core::page::{Page, PageRequest};
use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::input::{Beside, Subject};
use super::text;
use super::tool::{Effect, Reply, Tool};
use crate::wire::slot::{ClearedSlotsResponse, SlotRequest, SlotResponse};

/// More of a value than this is left to `slot.get` in lists.
const SHOWN_CHARS_MAX: usize = 500;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "slot.set",
            "Write a slot",
            Effect::Set,
            "Keep a JSON value for a short time under a name in a conversation, such as a plan or \
             intermediate results. It is gone an hour after it was last written or read, unless \
             ttl_seconds says otherwise. For what must last, use memory.remember.",
            set,
        )
        .verbatim(),
        Tool::new(
            "slot.get",
            "Read a slot",
            Effect::Read,
            "Read a value that was kept in a slot of a conversation; its time begins anew.",
            get,
        )
        .verbatim(),
        Tool::new(
            "slot.list",
            "List slots",
            Effect::Read,
            "List the slots of a conversation by name, with their values; their time begins anew.",
            list,
        )
        .verbatim(),
        Tool::new(
            "slot.delete",
            "Delete a slot",
            Effect::Destroy,
            "Delete one slot of a conversation.",
            delete,
        ),
        Tool::new(
            "slot.clear",
            "Clear slots",
            Effect::Destroy,
            "Delete all slots of a conversation, when it has ended.",
            clear,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfSlot {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// A name of your choice of letters, digits, `.`, `_` and `-`, such as planner_decision.
    slot: String,
}

impl Subject for OfSlot {
    const FIELDS: &'static [&'static str] = &["conversation_id", "slot"];
}

async fn set(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfSlot, SlotRequest>,
) -> Result<Reply<SlotResponse>> {
    let Beside { subject, body } = input;
    let put =
        mnemic.put_slot(&caller.principal, &subject.conversation_id, &subject.slot, body.into());
    let value = SlotResponse::from(put.await?);
    let text = format!("Kept in {} until {}.", value.slot, value.expires_at);
    Ok(Reply { value, text })
}

async fn get(mnemic: Arc<Mnemic>, caller: Caller, input: OfSlot) -> Result<Reply<SlotResponse>> {
    let slot = mnemic.get_slot(&caller.principal, &input.conversation_id, &input.slot).await?;
    let value = SlotResponse::from(slot);
    let text = format!("{}\n{}: {}", text::DATA, value.slot, value.value);
    Ok(Reply { value, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
    /// How many, 1 to 200; 50 if absent.
    #[serde(default)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    items: Vec<SlotResponse>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(mnemic: Arc<Mnemic>, caller: Caller, input: ListInput) -> Result<Reply<Listed>> {
    let page = PageRequest { limit: input.limit, cursor: input.cursor };
    let page = mnemic.list_slots(&caller.principal, &input.conversation_id, &page).await?;
    let Page { items, next_cursor } = page.map(SlotResponse::from);
    let mut text = text::DATA.to_owned();
    for slot in &items {
        let _ = write!(text, "\n- {}: {}", slot.slot, shown(&slot.value));
    }
    if items.is_empty() {
        "The conversation has no slots.".clone_into(&mut text);
    }
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere are more: call again with cursor {cursor}");
    }
    Ok(Reply { value: Listed { items, next_cursor }, text })
}

fn shown(value: &Value) -> String {
    let whole = value.to_string();
    match whole.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}… (cut: get it by its name to read all)", &whole[..end]),
        None => whole,
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Deleted {
    slot: String,
}

async fn delete(mnemic: Arc<Mnemic>, caller: Caller, input: OfSlot) -> Result<Reply<Deleted>> {
    let OfSlot { conversation_id, slot } = input;
    mnemic.delete_slot(&caller.principal, &conversation_id, &slot).await?;
    let text = format!("Deleted {slot}.");
    Ok(Reply { value: Deleted { slot }, text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfConversation {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
}

async fn clear(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfConversation,
) -> Result<Reply<ClearedSlotsResponse>> {
    let cleared = mnemic.clear_slots(&caller.principal, &input.conversation_id).await?;
    let text = format!("Cleared {cleared} slots.");
    Ok(Reply { value: ClearedSlotsResponse { cleared }, text })
}
