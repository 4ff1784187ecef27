//! Commands about workspaces and their settings.

use anyhow::{Context as _, Result, bail};
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::workspace::{
    DeletedWorkspaceResponse, SettingsResponse, WorkspaceRequest, WorkspaceResponse,
};
use serde_json::{Value, json};

use super::{OWN, encoded};
use crate::cli::WorkspaceCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: WorkspaceCommand) -> Result<()> {
    match command {
        WorkspaceCommand::Create { name } => {
            let body = serde_json::to_value(WorkspaceRequest { name })?;
            let made: WorkspaceResponse = client.post("/v1/workspaces", &body).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&made.id.to_string());
            }
            Ok(())
        }
        WorkspaceCommand::List => {
            let workspaces = all(client).await?;
            if common.json {
                output::json(&workspaces);
                return Ok(());
            }
            for workspace in &workspaces {
                let memory = if workspace.settings.memory.enabled { "on" } else { "off" };
                output::line(&format!("{}  {}  memory {memory}", workspace.id, workspace.name));
            }
            Ok(())
        }
        WorkspaceCommand::Delete { name, hard } => delete(client, common, &name, hard).await,
        WorkspaceCommand::Settings { patch: None } => {
            settings(common, &client.get(&format!("{OWN}/settings")).await?);
            Ok(())
        }
        WorkspaceCommand::Settings { patch: Some(patch) } => {
            let patch: Value =
                serde_json::from_str(&patch).context("the settings must be given as JSON")?;
            settings(common, &client.put(&format!("{OWN}/settings"), &patch).await?);
            Ok(())
        }
        WorkspaceCommand::EnableMemory => toggle(client, common, "enable").await,
        WorkspaceCommand::DisableMemory => toggle(client, common, "disable").await,
    }
}

async fn toggle(client: &Client, common: &CommonArgs, verb: &str) -> Result<()> {
    settings(common, &client.post(&format!("{OWN}/memory/{verb}"), &json!({})).await?);
    Ok(())
}

fn settings(common: &CommonArgs, settings: &SettingsResponse) {
    if common.json {
        output::json(settings);
        return;
    }
    let memory = &settings.memory;
    let word = |on| if on { "on" } else { "off" };
    output::line(&format!("memory          {}", word(memory.enabled)));
    output::line(&format!("injection       {}", word(memory.injection)));
    output::line(&format!("retention_days  {}", memory.retention_days));
    output::line(&format!("pin_references  {}", memory.pin_references));
}

async fn delete(client: &Client, common: &CommonArgs, name: &str, hard: bool) -> Result<()> {
    let id = match name.parse::<uuid::Uuid>() {
        Ok(id) => id,
        Err(_) => match all(client).await?.into_iter().find(|w| w.name == name) {
            Some(workspace) => workspace.id,
            None => {
                bail!("there is no workspace called `{name}`; `mnemic workspace list` shows all")
            }
        },
    };
    let answer = client.delete(&format!("/v1/workspaces/{id}?hard={hard}")).await?;
    if common.json {
        output::json(&answer);
        return Ok(());
    }
    let answer: DeletedWorkspaceResponse = serde_json::from_value(answer)?;
    if answer.hard {
        let rows: u64 = answer.removed.values().sum();
        output::line(&format!("erased {name} ({id}): {rows} rows, {} left", answer.remaining));
    } else {
        output::line(&format!(
            "deleted {name} ({id}); its rows stay until `mnemic workspace delete {id} --hard`"
        ));
    }
    Ok(())
}

async fn all(client: &Client) -> Result<Vec<WorkspaceResponse>> {
    let mut workspaces = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/workspaces?limit=200{cursor}");
        let page: PageResponse<WorkspaceResponse> = client.get(&path).await?;
        workspaces.extend(page.items);
        let Some(next) = page.next_cursor else { return Ok(workspaces) };
        cursor = format!("&cursor={}", encoded(&next));
    }
}
