//! Tools that erase what belongs to a conversation or a user. There is no way back, so they say
//! when to use them.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::{Effect, Reply, Tool};
use crate::wire::erasure::ReceiptResponse;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "conversation.delete",
            "Erase a conversation",
            Effect::Destroy,
            "Erase for good a conversation: turns, episodes, slots, where memories were seen, and \
             its words in the audit. Use it only when the user asks for it; needs the role admin \
             or member.",
            erase_conversation,
        ),
        Tool::new(
            "user.delete",
            "Erase a user",
            Effect::Destroy,
            "Erase for good what a user's tokens made, the user's name and words in the audit, and \
             revoke the tokens. Use it only when the user asks for it; needs the role admin.",
            erase_user,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfConversation {
    /// A UUID or any other name of letters, digits, `.`, `_` and `-`.
    conversation_id: String,
}

async fn erase_conversation(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfConversation,
) -> Result<Reply<ReceiptResponse>> {
    let receipt = mnemic.erase_conversation(&caller, &input.conversation_id).await?;
    Ok(reply(receipt.into()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfUser {
    /// The user's name, as tokens have it.
    user: String,
}

async fn erase_user(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: OfUser,
) -> Result<Reply<ReceiptResponse>> {
    let receipt = mnemic.erase_user(&caller, &input.user).await?;
    Ok(reply(receipt.into()))
}

pub(super) fn reply(value: ReceiptResponse) -> Reply<ReceiptResponse> {
    let text = told(&value);
    Reply { value, text }
}

/// A receipt in a sentence.
pub(super) fn told(receipt: &ReceiptResponse) -> String {
    format!("Erased for good: {}. Receipt {}.", receipt.summary(), receipt.id)
}
