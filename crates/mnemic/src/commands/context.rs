//! `mnemic context` and `mnemic ask`.

use anyhow::Result;
use mnemic_server::wire::ask::{AskRequest, AskResponse};
use mnemic_server::wire::context::{ContextRequest, ContextResponse};

use super::OWN;
use super::recall::MODEL_PATIENCE;
use crate::cli::{AskArgs, ContextArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn context(client: &Client, common: &CommonArgs, args: ContextArgs) -> Result<()> {
    let request = ContextRequest {
        query: args.query,
        conversation_id: args.conversation,
        channel: args.channel,
        budget_tokens: args.budget,
        ..ContextRequest::default()
    };
    let told: ContextResponse =
        client.post(&format!("{OWN}/context"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&told);
        return Ok(());
    }
    for skipped in &told.skipped {
        output::note(&format!("left out: {}: {}", skipped.name, skipped.reason));
    }
    if told.text.is_empty() {
        output::note("nothing to tell");
    }
    for line in told.text.lines() {
        output::line(line);
    }
    Ok(())
}

pub async fn ask(client: &Client, common: &CommonArgs, args: AskArgs) -> Result<()> {
    let request = AskRequest { question: args.question, channel: args.channel };
    // Without the model, what answers in other words would pass for no answer.
    client.attachment().endpoint().await?;
    client.attachment().await_model(MODEL_PATIENCE).await;
    let answered: AskResponse =
        client.post(&format!("{OWN}/ask"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&answered);
        return Ok(());
    }
    for degraded in &answered.degraded {
        output::note(&format!("note: {degraded}"));
    }
    if answered.answer.is_empty() {
        output::note("nothing is remembered about this");
    } else {
        let sure = answered.confidence;
        output::note(&format!("confidence that the answer is there at all: {sure:.2} of 1"));
    }
    for line in answered.answer.lines() {
        output::line(line);
    }
    Ok(())
}
