//! Commands about the workspace's language model. Its key is read from standard input, so that it
//! is in no list of processes and no history.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use mnemic_server::wire::model::ModelResponse;
use serde_json::json;

use super::OWN;
use crate::cli::ModelCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ModelCommand) -> Result<()> {
    match command {
        ModelCommand::Show => show(common, &client.get(&format!("{OWN}/model")).await?),
        ModelCommand::SetKey => {
            let body = json!({ "key": read_key()? });
            show(common, &client.put(&format!("{OWN}/model/key"), &body).await?);
        }
        ModelCommand::DeleteKey => {
            client.delete(&format!("{OWN}/model/key")).await?;
            if !common.json {
                output::line("the key is gone");
            }
        }
    }
    Ok(())
}

fn read_key() -> Result<String> {
    if std::io::stdin().is_terminal() {
        output::note("The key, followed by Enter and Ctrl-D:");
    }
    let key = std::io::read_to_string(std::io::stdin())?;
    match key.trim() {
        "" => bail!("the key is read from standard input, and nothing was there"),
        key => Ok(key.to_owned()),
    }
}

fn show(common: &CommonArgs, model: &ModelResponse) {
    if common.json {
        output::json(model);
        return;
    }
    let provider = serde_json::to_value(model.provider).unwrap_or_default();
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    output::line(&format!("provider  {}", provider.as_str().unwrap_or("none: rules serve")));
    output::line(&format!("name      {}", text(&model.name)));
    output::line(&format!("base_url  {}", text(&model.base_url)));
    output::line(&format!("source    {}", text(&model.source)));
    output::line(&format!("key       {}", if model.key_set { "set" } else { "not set" }));
    output::line(&format!("breaker   {}", text(&model.breaker)));
    if let Some(problem) = &model.problem {
        output::line(&output::one_line(&format!("problem   {problem}")));
    }
}
