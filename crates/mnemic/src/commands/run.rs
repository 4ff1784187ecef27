//! `mnemic run`: a finished run and what it cited.

use anyhow::Result;
use mnemic_server::wire::run::{FinishRunRequest, FinishRunResponse};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::RunArgs;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn finish(client: &Client, common: &CommonArgs, args: RunArgs) -> Result<()> {
    let request = FinishRunRequest { text: text_or_stdin(args.text)?, outcome: args.outcome };
    let path = format!("{OWN}/runs/{}/finish", encoded(&args.run_id));
    let answer: FinishRunResponse = client.post(&path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&answer);
        return Ok(());
    }
    for id in &answer.counted {
        output::line(&format!("counted {id}"));
    }
    for ignored in &answer.ignored {
        let reason = serde_json::to_value(ignored.reason)?;
        let reason = reason.as_str().unwrap_or_default().replace('_', " ");
        output::line(&format!("ignored {}: {reason}", output::one_line(&ignored.id)));
    }
    Ok(())
}
