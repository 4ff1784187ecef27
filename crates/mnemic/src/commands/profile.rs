//! Commands about user profiles.

use anyhow::{Context as _, Result};
use mnemic_server::wire::profile::ProfileResponse;
use serde_json::Value;

use super::{OWN, encoded, text_or_stdin};
use crate::cli::ProfileCommand;
use crate::client::Client;
use crate::output;

/// A profile is JSON, for people as for machines.
pub async fn run(client: &Client, command: ProfileCommand) -> Result<()> {
    let path = |user: &str| format!("{OWN}/users/{}/profile", encoded(user));
    let profile: ProfileResponse = match command {
        ProfileCommand::Get { user } => client.get(&path(&user)).await?,
        ProfileCommand::Update { user, patch } => {
            let patch: Value = serde_json::from_str(&text_or_stdin(patch)?).context(
                "the change must be a JSON object such as '{\"expertise\": [\"rust\"]}'",
            )?;
            client.put(&path(&user), &patch).await?
        }
    };
    output::json(&profile);
    Ok(())
}
