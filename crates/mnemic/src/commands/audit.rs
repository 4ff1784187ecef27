//! `mnemic audit`: what was done, by whom, and how it went.

use anyhow::Result;
use serde_json::Value;

use super::{OWN, encoded};
use crate::cli::AuditArgs;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, args: &AuditArgs) -> Result<()> {
    let mut query = Vec::new();
    let mut add = |name: &str, value: Option<&str>| {
        query.extend(value.map(|value| format!("{name}={}", encoded(value))));
    };
    add("operation", args.operation.as_deref());
    add("role", args.role.as_deref());
    add("agent", args.agent.as_deref());
    add("user", args.user.as_deref());
    add("channel", args.channel.as_deref());
    add("success", args.failed.then_some("false"));
    add("since", args.since.as_deref());
    add("until", args.until.as_deref());
    add("limit", args.limit.map(|limit| limit.to_string()).as_deref());
    add("cursor", args.cursor.as_deref());
    let page: Value = client.get(&format!("{OWN}/audit?{}", query.join("&"))).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for entry in page["items"].as_array().into_iter().flatten() {
        output::line(&line(entry));
    }
    if let Some(cursor) = page["next_cursor"].as_str() {
        output::note(&format!("There is more: --cursor {cursor}"));
    }
    Ok(())
}

fn line(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let who = [text("agent"), text("user"), text("role")];
    let who = who.iter().find(|name| !name.is_empty()).unwrap_or(&"");
    let outcome = entry["error"].as_str().unwrap_or("done");
    format!(
        "{}  {:<26} {who:<12} {outcome}, {} records",
        text("at"),
        text("operation"),
        entry["count"]
    )
}
