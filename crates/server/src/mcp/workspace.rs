//! Tools over the caller's own workspace. None takes its id: the token says which it is.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::workspace::Settings;
use mnemic_core::{Error, Mnemic, Result};

use super::input::Nothing;
use super::tool::{Effect, Reply, Tool};
use crate::wire::workspace::{SettingsRequest, SettingsResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "workspace.enable_memory",
            "Switch memory on",
            Effect::Set,
            "Resume capturing conversations and actions in this workspace. Use it only when the \
             user asks for it.",
            enable_memory,
        )
        .daily(),
        Tool::new(
            "workspace.disable_memory",
            "Switch memory off",
            Effect::Set,
            "Stop capturing conversations and actions in this workspace. What is stored stays \
             readable. Use it only when the user asks for it.",
            disable_memory,
        )
        .daily(),
        Tool::new(
            "workspace.settings",
            "Read settings",
            Effect::Read,
            "Read this workspace's memory settings.",
            settings,
        ),
        Tool::new(
            "workspace.update_settings",
            "Change settings",
            Effect::Set,
            "Change this workspace's memory settings; what is not named stays. Use it only when \
             the user asks for it; needs the role admin or member.",
            update_settings,
        ),
    ]
}

async fn enable_memory(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<SettingsResponse>> {
    Ok(reply(mnemic.toggle_memory(&caller.principal, true).await?))
}

async fn disable_memory(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<SettingsResponse>> {
    Ok(reply(mnemic.toggle_memory(&caller.principal, false).await?))
}

async fn settings(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<SettingsResponse>> {
    Ok(reply(mnemic.own_workspace(&caller.principal).await?.settings))
}

async fn update_settings(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: SettingsRequest,
) -> Result<Reply<SettingsResponse>> {
    let patch = serde_json::to_value(&input)
        .map_err(|e| Error::internal("the settings cannot be written").caused_by(e))?;
    Ok(reply(mnemic.update_settings(&caller.principal, &patch).await?))
}

fn reply(settings: Settings) -> Reply<SettingsResponse> {
    let value = SettingsResponse::from(settings);
    let on = |switch: bool| if switch { "on" } else { "off" };
    let memory = &value.memory;
    let text = format!(
        "Memory is {}, injection is {}; uncited memories go stale after {} days; {} citations \
         recommend a pin.",
        on(memory.enabled),
        on(memory.injection),
        memory.retention_days,
        memory.pin_references,
    );
    Reply { value, text }
}
