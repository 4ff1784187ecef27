//! Commands about the slots of a conversation.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use mnemic_core::conversation::ConversationId;
use mnemic_core::slot::SlotName;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::slot::{ClearedSlotsResponse, SlotRequest, SlotResponse};
use serde_json::{Value, json};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::SlotCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: SlotCommand) -> Result<()> {
    match command {
        SlotCommand::Set { conversation, slot, value, ttl } => {
            let request = SlotRequest { value: json_value(value)?, ttl_seconds: ttl };
            set(client, common, &path(&conversation, &slot)?, request).await
        }
        SlotCommand::Get { conversation, slot } => {
            let found: SlotResponse = client.get(&path(&conversation, &slot)?).await?;
            if common.json {
                output::json(&found);
            } else {
                output::line(&shown(&found.value));
            }
            Ok(())
        }
        SlotCommand::List { conversation, limit, cursor } => {
            let mut wishes = Vec::new();
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
            list(client, common, &format!("{}?{}", all(&conversation)?, wishes.join("&"))).await
        }
        SlotCommand::Delete { conversation, slot } => {
            client.delete(&path(&conversation, &slot)?).await?;
            if common.json {
                output::json(&json!({"slot": slot}));
            } else {
                output::line(&format!("deleted {slot}"));
            }
            Ok(())
        }
        SlotCommand::Clear { conversation } => {
            let answer = client.delete(&all(&conversation)?).await?;
            let cleared: ClearedSlotsResponse = serde_json::from_value(answer)?;
            if common.json {
                output::json(&cleared);
            } else {
                output::line(&format!("cleared {} slots", cleared.cleared));
            }
            Ok(())
        }
    }
}

async fn set(client: &Client, common: &CommonArgs, path: &str, request: SlotRequest) -> Result<()> {
    require_keeper(client).await?;
    let written: SlotResponse = client.put(path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&written);
    } else {
        output::line(&format!("{} until {}", written.slot, written.expires_at));
    }
    Ok(())
}

/// Refuses to write where nobody would keep it.
pub(super) async fn require_keeper(client: &Client) -> Result<()> {
    if !client.attachment().keeps_slots().await? {
        bail!(
            "no server runs, so the slot would be gone when this command ends: start `mnemic \
             serve`, or keep slots in Redis with MNEMIC_REDIS"
        );
    }
    Ok(())
}

/// The JSON that was given, or that standard input has.
pub(super) fn json_value(given: String) -> Result<Value> {
    serde_json::from_str(&text_or_stdin(given)?)
        .context("the value must be JSON; a text stands in quotes, such as '\"a text\"'")
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<SlotResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for slot in &page.items {
        output::line(&format!("{}  {}", slot.slot, shown(&slot.value)));
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

/// Names are checked here already, since `..` would lead to another address.
fn all(conversation: &str) -> Result<String> {
    let conversation: ConversationId = conversation.parse()?;
    Ok(format!("{OWN}/conversations/{}/slots", encoded(conversation.as_str())))
}

fn path(conversation: &str, slot: &str) -> Result<String> {
    let slot: SlotName = slot.parse()?;
    Ok(format!("{}/{}", all(conversation)?, encoded(slot.as_str())))
}

/// The same JSON on one line, without anything that a terminal would obey.
fn shown(value: &Value) -> String {
    value.to_string().chars().fold(String::new(), |mut text, c| {
        if c.is_control() {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
        text
    })
}
