//! Commands that erase what belongs to a conversation or a user, and how receipts are shown.

use anyhow::Result;
use mnemic_server::wire::erasure::{FilesWire, ReceiptResponse};
use serde_json::Value;

use super::{OWN, encoded};
use crate::cli::EraseCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: EraseCommand) -> Result<()> {
    let path = match command {
        EraseCommand::Conversation { id } => format!("{OWN}/conversations/{}", encoded(&id)),
        EraseCommand::User { name } => format!("{OWN}/users/{}", encoded(&name)),
    };
    show(common, client.delete(&path).await?)
}

/// Shows the receipt that a request was answered with.
pub fn show(common: &CommonArgs, answer: Value) -> Result<()> {
    let receipt: ReceiptResponse = serde_json::from_value(answer)?;
    if common.json {
        output::json(&receipt);
        return Ok(());
    }
    let subject = match &receipt.subject.id {
        Some(id) => format!("{} {id}", receipt.subject.kind),
        None => receipt.subject.kind.clone(),
    };
    output::line(&format!("erased {subject}"));
    for (noun, count) in &receipt.counts {
        output::line(&format!("  {noun:<14} {count:>8}"));
    }
    output::line(&format!("  {:<14} {:>8}", "tombstones", receipt.tombstones));
    output::line(&format!("receipt {} of {}", receipt.id, receipt.erased_at));
    match receipt.files {
        FilesWire::Rewritten => {}
        FilesWire::Pending => {
            output::note("its text may linger in the files until something else is erased");
        }
        FilesWire::LeftToDatabase => {
            output::note("the database lets go of deleted rows when it vacuums");
        }
    }
    Ok(())
}
