//! Commands about what agents did.

use anyhow::{Context as _, Result};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::action::{ActionRequest, ActionResponse, CapturedResponse, OutcomeWire};
use mnemic_server::wire::past::{PastRunResponse, PastRunsRequest, PastRunsResponse};
use mnemic_server::wire::sequence::SequenceResponse;
use serde_json::Value;

use super::{OWN, encoded};
use crate::cli::{ActionArgs, ActionCommand, ActionListArgs, SequenceCommand, SequenceListArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ActionCommand) -> Result<()> {
    match command {
        ActionCommand::Add(args) => add(client, common, args).await,
        ActionCommand::List(args) => list(client, common, args).await,
    }
}

pub async fn sequences(
    client: &Client,
    common: &CommonArgs,
    command: SequenceCommand,
) -> Result<()> {
    match command {
        SequenceCommand::List(args) => list_sequences(client, common, args).await,
        SequenceCommand::Search { query, limit } => {
            search(client, common, PastRunsRequest { query, limit }).await
        }
    }
}

async fn list_sequences(
    client: &Client,
    common: &CommonArgs,
    args: SequenceListArgs,
) -> Result<()> {
    let path = format!("{OWN}/sequences?{}", sequence_wishes(args));
    let page: PageResponse<SequenceResponse> = client.get(&path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for it in &page.items {
        let summary = it.intent_summary.as_deref().unwrap_or("(open)");
        let SequenceResponse { id, last_at, session_id, action_count, outcome, .. } = it;
        let outcome = word(*outcome);
        let line =
            format!("{last_at}  {id}  {session_id}  {action_count} actions  {outcome}  {summary}");
        output::line(&output::one_line(&line));
    }
    more(page.next_cursor);
    Ok(())
}

async fn search(client: &Client, common: &CommonArgs, request: PastRunsRequest) -> Result<()> {
    let path = format!("{OWN}/sequences/search");
    let found: PastRunsResponse = client.post(&path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    for PastRunResponse { intent_summary, score, runs, succeeded, sequences } in &found.items {
        let last = sequences.first().map(|it| format!("  last in {}", it.session_id));
        let last = last.unwrap_or_default();
        let line = format!("{score:.3}  succeeded {succeeded} of {runs}{last}  {intent_summary}");
        output::line(&output::one_line(&line));
    }
    found.degraded.iter().for_each(|part| output::note(&format!("incomplete: {part}")));
    Ok(())
}

async fn add(client: &Client, common: &CommonArgs, args: ActionArgs) -> Result<()> {
    let body = if args.action_type == "-" { lines()? } else { serde_json::to_value(one(args)?)? };
    let captured: CapturedResponse = client.post(&format!("{OWN}/actions"), &body).await?;
    if common.json {
        output::json(&captured);
        return Ok(());
    }
    if let [id] = captured.ids.as_slice() {
        output::line(&id.to_string());
    } else {
        let CapturedResponse { recorded, duplicates, .. } = captured;
        output::line(&format!("recorded {recorded}, known before {duplicates}"));
    }
    Ok(())
}

/// Actions as JSON Lines. What is wrong with one is the server's to say.
fn lines() -> Result<Value> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("line {} is not JSON", number + 1))
    };
    lines.map(parse).collect::<Result<Vec<Value>>>().map(Value::Array)
}

fn one(args: ActionArgs) -> Result<ActionRequest> {
    let session_id = args.session.context("name the session that it is part of: --session ID")?;
    let at = args.at.map(|at| at.parse()).transpose().context("--at is not a time (RFC 3339)")?;
    let outcome = if args.failed.is_some() { OutcomeWire::Failure } else { OutcomeWire::Success };
    Ok(ActionRequest {
        id: args.id,
        session_id,
        agent_id: args.agent,
        action_type: args.action_type,
        node_type: args.node_type,
        node_ids: args.nodes,
        outcome,
        error_code: args.failed.filter(|error| !error.is_empty()),
        latency_ms: args.latency,
        at,
    })
}

async fn list(client: &Client, common: &CommonArgs, args: ActionListArgs) -> Result<()> {
    let path = format!("{OWN}/actions?{}", action_wishes(args));
    let page: PageResponse<ActionResponse> = client.get(&path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for it in &page.items {
        let node = it.node_type.as_deref().map(|node| format!(" on {node}")).unwrap_or_default();
        let error = it.error_code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default();
        let ActionResponse { at, session_id, agent_id, action_type, outcome, .. } = it;
        let outcome = word(*outcome);
        let line = format!("{at}  {session_id}  {agent_id}  {action_type}{node}  {outcome}{error}");
        output::line(&output::one_line(&line));
    }
    more(page.next_cursor);
    Ok(())
}

fn action_wishes(args: ActionListArgs) -> String {
    wishes(&[
        ("session_id", args.session),
        ("agent_id", args.agent),
        ("action_type", args.action_type),
        ("node_type", args.node_type),
        ("node_id", args.node.map(|id| id.to_string())),
        ("outcome", args.outcome.map(|outcome| outcome.as_str().to_owned())),
        ("error_code", args.error),
        ("sequence_id", args.sequence.map(|id| id.to_string())),
        ("since", args.since),
        ("until", args.until),
        ("cursor", args.cursor),
        ("limit", args.limit.map(|limit| limit.to_string())),
    ])
}

fn sequence_wishes(args: SequenceListArgs) -> String {
    wishes(&[
        ("session_id", args.session),
        ("agent_id", args.agent),
        ("action_type", args.action_type),
        ("node_type", args.node_type),
        ("error_code", args.error),
        ("outcome", args.outcome.map(|outcome| outcome.as_str().to_owned())),
        ("since", args.since),
        ("until", args.until),
        ("cursor", args.cursor),
        ("limit", args.limit.map(|limit| limit.to_string())),
    ])
}

fn wishes(wishes: &[(&str, Option<String>)]) -> String {
    let named = wishes.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    named.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

fn word(outcome: OutcomeWire) -> &'static str {
    match outcome {
        OutcomeWire::Success => "success",
        OutcomeWire::Failure => "failure",
    }
}

fn more(cursor: Option<String>) {
    if let Some(cursor) = cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
}
