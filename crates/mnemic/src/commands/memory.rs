//! Commands about memories.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::memory::{
    KindWire, MemoryRequest, MemoryResponse, PurgeRequest, PurgeResponse,
};
use serde_json::json;
use uuid::Uuid;

use super::{OWN, encoded, erase, text_or_stdin};
use crate::cli::{MemoryCommand, RememberArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn remember(client: &Client, common: &CommonArgs, args: RememberArgs) -> Result<()> {
    let request = MemoryRequest {
        content: text_or_stdin(args.content)?,
        kind: args.fact.then_some(KindWire::Fact),
        channel: args.channel,
        domain: args.domain,
        topic: args.topic,
        confidence: args.confidence,
        entities: (!args.entities.is_empty()).then_some(args.entities),
        supersedes: args.supersedes,
        revive: args.revive.then_some(true),
        ..MemoryRequest::default()
    };
    let memory: MemoryResponse =
        client.post(&format!("{OWN}/memories"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&memory);
    } else {
        output::line(&memory.id.to_string());
    }
    Ok(())
}

pub async fn promote(client: &Client, common: &CommonArgs, id: Uuid) -> Result<()> {
    act(client, common, id, "promote", &json!({})).await
}

pub async fn forget(client: &Client, common: &CommonArgs, id: Uuid, hard: bool) -> Result<()> {
    let answer = client.delete(&format!("{OWN}/memories/{id}?hard={hard}")).await?;
    if hard {
        return erase::show(common, answer);
    }
    if common.json {
        output::json(&json!({"id": id, "hard": hard}));
    } else {
        output::line(&format!("forgot {id}; `mnemic memory restore {id}` brings it back"));
    }
    Ok(())
}

pub async fn run(client: &Client, common: &CommonArgs, command: MemoryCommand) -> Result<()> {
    match command {
        MemoryCommand::Get { id } => {
            let memory = client.get(&format!("{OWN}/memories/{id}")).await?;
            show(common, &memory);
            Ok(())
        }
        MemoryCommand::List { query, channel, kind, pinned, deleted, limit, cursor } => {
            let mut wishes = vec![format!("deleted={deleted}")];
            let mut wish = |name: &str, value: Option<String>| {
                wishes.extend(value.map(|value| format!("{name}={}", encoded(&value))));
            };
            wish("q", query);
            wish("channel", channel);
            wish("kind", kind);
            wish("pinned", pinned.then(|| "true".to_owned()));
            wish("limit", limit.map(|limit| limit.to_string()));
            wish("cursor", cursor);
            list(client, common, &format!("{OWN}/memories?{}", wishes.join("&"))).await
        }
        MemoryCommand::Restore { id } => act(client, common, id, "restore", &json!({})).await,
        MemoryCommand::Supersede { id, content } => {
            act(client, common, id, "supersede", &json!({"content": text_or_stdin(content)?})).await
        }
        MemoryCommand::Weight { id, delta } => {
            act(client, common, id, "weight", &json!({"delta": delta})).await
        }
        MemoryCommand::Pin { id } => act(client, common, id, "pin", &json!({})).await,
        MemoryCommand::Unpin { id } => act(client, common, id, "unpin", &json!({})).await,
        MemoryCommand::RecommendedPins => {
            list(client, common, &format!("{OWN}/memories/recommended-pins")).await
        }
        MemoryCommand::Stale { older_than } => {
            let days = older_than.map_or_else(String::new, |d| format!("?older_than_days={d}"));
            list(client, common, &format!("{OWN}/memories/stale{days}")).await
        }
        MemoryCommand::Purge { older_than, dry_run } => {
            purge(client, common, older_than, dry_run).await
        }
    }
}

async fn purge(
    client: &Client,
    common: &CommonArgs,
    older_than_days: Option<u32>,
    dry_run: bool,
) -> Result<()> {
    let request = PurgeRequest { older_than_days, ids: None, dry_run: Some(dry_run) };
    let purged: PurgeResponse =
        client.post(&format!("{OWN}/memories/purge"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&purged);
        return Ok(());
    }
    let verb = if dry_run { "would erase" } else { "erased" };
    let more = if purged.more { "; there are more, run it again" } else { "" };
    output::line(&format!("{verb} {} stale memories{more}", purged.ids.len()));
    Ok(())
}

async fn act(
    client: &Client,
    common: &CommonArgs,
    id: Uuid,
    verb: &str,
    body: &serde_json::Value,
) -> Result<()> {
    let memory = client.post(&format!("{OWN}/memories/{id}/{verb}"), body).await?;
    show(common, &memory);
    Ok(())
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<MemoryResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for memory in &page.items {
        show(common, memory);
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

fn show(common: &CommonArgs, memory: &MemoryResponse) {
    if common.json {
        output::json(memory);
        return;
    }
    let kind = match memory.kind {
        KindWire::Memory => "memory",
        KindWire::Fact => "fact  ",
    };
    let pin = if memory.pinned { " pinned" } else { "" };
    output::line(&format!(
        "{}  {kind}  {}  [{} · cited {} · weight {:.2}{pin}]",
        memory.id,
        output::one_line(&memory.content),
        memory.channel,
        memory.times_referenced,
        memory.weight,
    ));
}
