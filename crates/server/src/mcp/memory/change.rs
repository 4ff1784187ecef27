//! Tools that change a memory's standing: promoted, weighed, pinned, forgotten, restored.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::erasure::told;
use super::super::input::{Beside, MemoryRef, OfMemory};
use super::super::text;
use super::super::tool::{Effect, Reply, Tool};
use crate::wire::erasure::ReceiptResponse;
use crate::wire::memory::{MemoryResponse, WeightRequest};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "memory.promote",
            "Promote to a fact",
            Effect::Set,
            "Make a memory a fact, which is authoritative from then on. Use it when the user \
             confirms that a memory is certain.",
            promote,
        )
        .daily(),
        Tool::new(
            "memory.forget",
            "Forget a memory",
            Effect::Destroy,
            "Remove a memory from recall, when the user asks for it or it was stored by mistake. \
             It can be restored, unless `hard` erases it for good.",
            forget,
        )
        .daily(),
        Tool::new(
            "memory.restore",
            "Restore a memory",
            Effect::Set,
            "Bring back a memory that was forgotten (not erased), with its citations.",
            restore,
        ),
        Tool::new(
            "memory.weight",
            "Weigh a memory",
            Effect::Add,
            "Raise (delta above 0) or lower (below 0) how much a memory counts in recall, when \
             it came up too late or too often. Counts less the more the memory is cited.",
            weight,
        ),
        Tool::new(
            "memory.pin",
            "Pin a memory",
            Effect::Set,
            "Keep a memory in front: it ranks higher and never goes stale.",
            pin,
        )
        .daily(),
        Tool::new(
            "memory.unpin",
            "Unpin a memory",
            Effect::Set,
            "Take the pin off a memory; it stays stored.",
            unpin,
        ),
    ]
}

async fn promote(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMemory,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.promote_memory(&caller, input.id.0).await?;
    let text = format!("{} is a fact.", text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetInput {
    id: MemoryRef,
    /// Erase it for good. There is no way back; needs the role admin or member.
    #[serde(default)]
    hard: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Forgotten {
    id: Uuid,
    /// Gone for good; otherwise it can be restored.
    erased: bool,
    /// What was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptResponse>,
}

async fn forget(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ForgetInput,
) -> Result<Reply<Forgotten>> {
    let id = input.id.0;
    if input.hard {
        let receipt = ReceiptResponse::from(mnemic.erase_memory(&caller, id).await?);
        let text = format!("Erased {id} for good. {}", told(&receipt));
        return Ok(Reply {
            value: Forgotten { id: id.0, erased: true, receipt: Some(receipt) },
            text,
        });
    }
    mnemic.forget_memory(&caller, id).await?;
    let text = format!("Forgot {id}. It can be restored.");
    Ok(Reply { value: Forgotten { id: id.0, erased: false, receipt: None }, text })
}

async fn restore(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMemory,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.restore_memory(&caller, input.id.0).await?;
    let text = format!("Restored {}.", text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}

async fn weight(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfMemory, WeightRequest>,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.weight_memory(&caller, input.subject.id.0, input.body.delta).await?;
    let text = format!("{} weighs {:.2}.", text::cite(memory.id.0), memory.weight);
    Ok(Reply { value: memory.into(), text })
}

async fn pin(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMemory,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.pin_memory(&caller, input.id.0, true).await?;
    let text = format!("Pinned {}.", text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}

async fn unpin(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfMemory,
) -> Result<Reply<MemoryResponse>> {
    let memory = mnemic.pin_memory(&caller, input.id.0, false).await?;
    let text = format!("Unpinned {}.", text::cite(memory.id.0));
    Ok(Reply { value: memory.into(), text })
}
