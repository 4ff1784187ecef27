//! Commands about conversations and what was said in them.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::conversation::{
    ConversationRequest, ConversationResponse, EpisodeResponse, SummarizeRequest,
    SummarizedResponse, TurnRequest, TurnResponse, TurnsResponse,
};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::ConversationCommand;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: ConversationCommand) -> Result<()> {
    let path = format!("{OWN}/conversations");
    match command {
        ConversationCommand::Create { id, channel, title, revive } => {
            let request = ConversationRequest { id, channel, title, metadata: None, revive };
            let request = serde_json::to_value(request)?;
            let made: ConversationResponse = client.post(&path, &request).await?;
            if common.json {
                output::json(&made);
            } else {
                output::line(&made.id);
            }
            Ok(())
        }
        ConversationCommand::List { channel, archived, limit, cursor } => {
            let mut wishes = vec![format!("archived={archived}")];
            wishes.extend(channel.map(|channel| format!("channel={}", encoded(&channel))));
            wishes.extend(page(limit, cursor));
            list(client, common, &format!("{path}?{}", wishes.join("&"))).await
        }
        ConversationCommand::Say { conversation, content, role, speaker, index, at, revive } => {
            let request = TurnRequest {
                role,
                content: text_or_stdin(content)?,
                index,
                timestamp: at,
                speaker,
                token_count: None,
                model: None,
                metadata: None,
                revive,
            };
            let path = format!("{path}/{}/turns", encoded(&conversation));
            let said: TurnsResponse = client.post(&path, &serde_json::to_value(request)?).await?;
            for turn in &said.items {
                if common.json {
                    output::json(turn);
                } else {
                    output::line(&turn.index.to_string());
                }
            }
            Ok(())
        }
        ConversationCommand::Summarize { conversation, retain_last, max_age_days } => {
            let request = SummarizeRequest { retain_last, max_age_days };
            let path = format!("{path}/{}/summarize", encoded(&conversation));
            let request = serde_json::to_value(request)?;
            let made: SummarizedResponse = client.post(&path, &request).await?;
            if common.json {
                output::json(&made);
            } else if made.items.is_empty() {
                output::note("no turn was old enough");
            }
            if !common.json {
                made.items.iter().for_each(|episode| output::line(&told(episode)));
            }
            Ok(())
        }
        ConversationCommand::Episodes { conversation, limit, cursor } => {
            let wishes = page(limit, cursor).join("&");
            let path = format!("{path}/{}/episodes?{wishes}", encoded(&conversation));
            let page: PageResponse<EpisodeResponse> = client.get(&path).await?;
            if common.json {
                output::json(&page);
                return Ok(());
            }
            page.items.iter().for_each(|episode| output::line(&told(episode)));
            more(page.next_cursor.as_deref());
            Ok(())
        }
        ConversationCommand::Turns { conversation, last, limit, cursor } => {
            let mut wishes = vec![format!("last={last}")];
            wishes.extend(page(limit, cursor));
            let path = format!("{path}/{}/turns?{}", encoded(&conversation), wishes.join("&"));
            turns(client, common, &path).await
        }
    }
}

fn page(limit: Option<usize>, cursor: Option<String>) -> Vec<String> {
    let mut wishes = Vec::new();
    wishes.extend(limit.map(|limit| format!("limit={limit}")));
    wishes.extend(cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
    wishes
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<ConversationResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for ConversationResponse { id, channel, title, turns, updated_at, .. } in &page.items {
        let title = title.as_deref().unwrap_or("-");
        let line = format!("{id}  {channel}  {turns} turns  {updated_at}  {title}");
        output::line(&output::one_line(&line));
    }
    more(page.next_cursor.as_deref());
    Ok(())
}

async fn turns(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<TurnResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    for TurnResponse { index, role, speaker, content, .. } in &page.items {
        let who = speaker.as_ref().unwrap_or(role);
        output::line(&output::one_line(&format!("{index}  {who}  {content}")));
    }
    more(page.next_cursor.as_deref());
    Ok(())
}

fn told(episode: &EpisodeResponse) -> String {
    let EpisodeResponse { id, turn_count, summary, .. } = episode;
    output::one_line(&format!("{id}  {turn_count} turns  {summary}"))
}

fn more(cursor: Option<&str>) {
    if let Some(cursor) = cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
}
