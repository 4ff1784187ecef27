//! Commands about scratchpads.

use anyhow::Result;
use mnemic_server::wire::scratchpad::{ScratchpadRequest, ScratchpadResponse};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::ScratchpadCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ScratchpadCommand) -> Result<()> {
    let path = |agent: &str| format!("{OWN}/agents/{}/scratchpad", encoded(agent));
    match command {
        ScratchpadCommand::Read { agent } => {
            let pad: ScratchpadResponse = client.get(&path(&agent)).await?;
            if common.json {
                output::json(&pad);
            } else {
                pad.text.lines().for_each(|line| output::line(&output::one_line(line)));
            }
        }
        ScratchpadCommand::Write { agent, text, revision } => {
            let request = ScratchpadRequest { text: text_or_stdin(text)?, revision };
            let request = serde_json::to_value(request)?;
            let pad: ScratchpadResponse = client.put(&path(&agent), &request).await?;
            if common.json {
                output::json(&pad);
            } else {
                output::line(&format!("revision {}", pad.revision));
            }
        }
    }
    Ok(())
}
