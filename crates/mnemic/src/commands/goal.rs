//! Commands about goals.

use anyhow::{Context as _, Result};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::goal::{
    CompleteGoalRequest, EndWire, FinishedGoalResponse, GoalRequest, GoalResponse, GoalViewResponse,
};
use serde_json::Value;

use super::{OWN, encoded, text_or_stdin};
use crate::cli::{GoalArgs, GoalCommand};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: GoalCommand) -> Result<()> {
    let path = format!("{OWN}/goals");
    match command {
        GoalCommand::Add(args) => add(client, common, &path, args).await,
        GoalCommand::Get { id } => get(client, common, &format!("{path}/{id}")).await,
        GoalCommand::List { status, channel, conversation, limit, cursor } => {
            let mut wishes = Vec::new();
            wishes.extend(status.map(|status| format!("status={}", status.as_str())));
            wishes.extend(channel.map(|channel| format!("channel={}", encoded(&channel))));
            let conversation = conversation.map(|id| format!("conversation_id={}", encoded(&id)));
            wishes.extend(conversation);
            wishes.extend(limit.map(|limit| format!("limit={limit}")));
            wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
            list(client, common, &format!("{path}?{}", wishes.join("&"))).await
        }
        GoalCommand::Update { id, patch } => {
            let patch: Value = serde_json::from_str(&patch)
                .context("the change must be a JSON object such as '{\"priority\": 5}'")?;
            let goal: GoalResponse = client.patch(&format!("{path}/{id}"), &patch).await?;
            if common.json {
                output::json(&goal);
            } else {
                output::line(&line(&goal));
            }
            Ok(())
        }
        GoalCommand::Complete { id, result, abandoned } => {
            let status = if abandoned { EndWire::Abandoned } else { EndWire::Completed };
            let result = result.map(text_or_stdin).transpose()?;
            let request = serde_json::to_value(CompleteGoalRequest { status, result })?;
            complete(client, common, &format!("{path}/{id}/complete"), &request).await
        }
    }
}

async fn add(client: &Client, common: &CommonArgs, path: &str, args: GoalArgs) -> Result<()> {
    let request = GoalRequest {
        description: text_or_stdin(args.description)?,
        priority: args.priority,
        deadline: args.deadline,
        parent_id: args.parent,
        blocked_by: (!args.blocked_by.is_empty()).then_some(args.blocked_by),
        channel: args.channel,
        conversation_id: args.conversation,
    };
    let goal: GoalResponse = client.post(path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&goal);
    } else {
        output::line(&goal.id.to_string());
    }
    Ok(())
}

async fn get(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let view: GoalViewResponse = client.get(path).await?;
    if common.json {
        output::json(&view);
        return Ok(());
    }
    output::line(&line(&view.goal));
    if let Some(parent) = &view.parent {
        output::line(&format!("part of  {}", line(parent)));
    }
    for (heading, ids) in [
        ("blocked by", &view.goal.blocked_by),
        ("has part", &view.children),
        ("blocks", &view.blocks),
    ] {
        for id in ids {
            output::line(&format!("{heading}  {id}"));
        }
    }
    Ok(())
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<GoalResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    page.items.iter().for_each(|goal| output::line(&line(goal)));
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

async fn complete(client: &Client, common: &CommonArgs, path: &str, request: &Value) -> Result<()> {
    let done: FinishedGoalResponse = client.post(path, request).await?;
    if common.json {
        output::json(&done);
        return Ok(());
    }
    output::line(&line(&done.goal));
    done.unblocked.iter().for_each(|id| output::line(&format!("no longer blocked  {id}")));
    Ok(())
}

fn line(goal: &GoalResponse) -> String {
    let GoalResponse { id, priority, description, .. } = goal;
    let status = goal.status.as_str();
    output::one_line(&format!("{id}  {status}  {priority}  {description}"))
}
