//! Tools over user profiles and the agent's own scratchpad. What they hold is shown as data.

use std::sync::Arc;

use mnemic_core::principal::Caller;
use mnemic_core::{Error, Mnemic, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::input::{Beside, Nothing, Subject};
use super::text::{self, quoted};
use super::tool::{Effect, Reply, Tool};
use crate::wire::profile::{ProfileRequest, ProfileResponse};
use crate::wire::scratchpad::{ScratchpadRequest, ScratchpadResponse};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "profile.get",
            "Read a user's profile",
            Effect::Read,
            "Read what is known of how a user wants to be served: preferences, expertise, \
             communication style, metadata.",
            get,
        )
        .verbatim(),
        Tool::new(
            "profile.update",
            "Change a user's profile",
            Effect::Destroy,
            "Merge into a user's profile: objects merge, null removes a key, everything else \
             replaces.",
            update,
        )
        .verbatim(),
        Tool::new(
            "scratchpad.read",
            "Read your scratchpad",
            Effect::Read,
            "Read the text that you, the agent, keep for yourself. Nobody else can read it.",
            read,
        ),
        Tool::new(
            "scratchpad.write",
            "Write your scratchpad",
            Effect::Destroy,
            "Replace the text that you, the agent, keep for yourself; an empty one clears it. With \
             revision, only if nobody wrote it since you read that revision.",
            write,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfUser {
    /// The user's name, as tokens have it.
    user: String,
}

impl Subject for OfUser {
    const FIELDS: &'static [&'static str] = &["user"];
}

async fn get(mnemic: Arc<Mnemic>, caller: Caller, input: OfUser) -> Result<Reply<ProfileResponse>> {
    let value = ProfileResponse::from(mnemic.get_profile(&caller.principal, &input.user).await?);
    let text = told(&value);
    Ok(Reply { value, text })
}

async fn update(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: Beside<OfUser, ProfileRequest>,
) -> Result<Reply<ProfileResponse>> {
    let Beside { subject, body } = input;
    let profile = mnemic.update_profile(&caller, &subject.user, &body.into()).await?;
    let value = ProfileResponse::from(profile);
    let text = told(&value);
    Ok(Reply { value, text })
}

fn told(profile: &ProfileResponse) -> String {
    let object = |fields: &serde_json::Map<_, _>| serde_json::Value::Object(fields.clone());
    format!(
        "{}\n- user {}\n- preferences: {}\n- expertise: {}\n- communication style: {}\n- metadata: {}",
        text::DATA,
        quoted(&profile.user),
        object(&profile.preferences),
        profile.expertise,
        profile.communication_style,
        object(&profile.metadata),
    )
}

/// The agent that the token speaks for; a tool names no other.
fn own_agent(caller: &Caller) -> Result<String> {
    let agent = caller.principal.agent.clone();
    agent.ok_or_else(|| {
        Error::denied("a scratchpad is an agent's own: that needs a token made with --agent")
    })
}

async fn read(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    _: Nothing,
) -> Result<Reply<ScratchpadResponse>> {
    let agent = own_agent(&caller)?;
    let pad = mnemic.read_scratchpad(&caller.principal, &agent).await?;
    let value = ScratchpadResponse::of(agent, pad);
    let text = if value.text.is_empty() {
        "The scratchpad is empty.".to_owned()
    } else {
        format!("{}\n{}", text::DATA, quoted(&value.text))
    };
    Ok(Reply { value, text })
}

async fn write(
    mnemic: Arc<Mnemic>,
    caller: Caller,
    input: ScratchpadRequest,
) -> Result<Reply<ScratchpadResponse>> {
    let agent = own_agent(&caller)?;
    let written = mnemic.write_scratchpad(&caller, &agent, &input.text, input.revision).await?;
    let value = ScratchpadResponse::from(written);
    let text = format!("Written, as revision {}.", value.revision);
    Ok(Reply { value, text })
}
