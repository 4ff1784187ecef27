//! Commands about what a session has at hand.

use anyhow::Result;
use mnemic_core::conversation::ConversationId;
use mnemic_core::slot::SlotName;
use mnemic_server::wire::session::{
    ContextRequest, ContextResponse, SessionGoalRequest, SessionGoalResponse, SessionResponse,
    ThoughtRequest, ThoughtResponse,
};

use super::slot::{json_value, require_keeper};
use super::{OWN, encoded, text_or_stdin};
use crate::cli::SessionCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: SessionCommand) -> Result<()> {
    match command {
        SessionCommand::Show { conversation, turns } => {
            let turns = turns.map_or_else(String::new, |turns| format!("?turns={turns}"));
            let path = format!("{}{turns}", path(&conversation)?);
            show(common, &client.get(&path).await?);
        }
        SessionCommand::Put { conversation, key, value, ttl } => {
            require_keeper(client).await?;
            let key: SlotName = key.parse()?;
            let path = format!("{}/context/{}", path(&conversation)?, encoded(key.as_str()));
            let request = ContextRequest { value: json_value(value)?, ttl_seconds: ttl };
            let kept: ContextResponse = client.put(&path, &serde_json::to_value(request)?).await?;
            let line = format!("{} until {}", kept.key, kept.expires_at);
            tell(common, &kept, &line);
        }
        SessionCommand::Think { conversation, text } => {
            require_keeper(client).await?;
            let path = format!("{}/thoughts", path(&conversation)?);
            let request = ThoughtRequest { text: text_or_stdin(text)? };
            let thought: ThoughtResponse =
                client.post(&path, &serde_json::to_value(request)?).await?;
            tell(common, &thought, &format!("thought at {}", thought.at));
        }
        SessionCommand::Goal { conversation, goal } => {
            require_keeper(client).await?;
            let path = format!("{}/goal", path(&conversation)?);
            let request = serde_json::to_value(SessionGoalRequest { goal_id: goal })?;
            let pursued: SessionGoalResponse = client.put(&path, &request).await?;
            let line = match &pursued.active_goal {
                Some(goal) => format!("pursues {}", output::one_line(&goal.description)),
                None => "pursues no goal".to_owned(),
            };
            tell(common, &pursued, &line);
        }
    }
    Ok(())
}

fn show(common: &CommonArgs, session: &SessionResponse) {
    if common.json {
        output::json(session);
        return;
    }
    if let Some(goal) = &session.active_goal {
        output::line(&format!("goal     {}", output::one_line(&goal.description)));
    }
    for (key, value) in &session.context {
        output::line(&format!("context  {key}  {}", output::one_line(&value.to_string())));
    }
    for thought in &session.thoughts {
        output::line(&format!("thought  {}", output::one_line(&thought.text)));
    }
    for turn in &session.recent_turns {
        let who = turn.speaker.as_ref().unwrap_or(&turn.role);
        let (who, said) = (output::one_line(who), output::one_line(&turn.content));
        output::line(&format!("turn     {who}: {said}"));
    }
}

fn tell(common: &CommonArgs, answer: &impl serde::Serialize, line: &str) {
    if common.json {
        output::json(answer);
    } else {
        output::line(line);
    }
}

/// The name is checked here already, since `..` would lead to another address.
fn path(conversation: &str) -> Result<String> {
    let conversation: ConversationId = conversation.parse()?;
    Ok(format!("{OWN}/conversations/{}/session", encoded(conversation.as_str())))
}
