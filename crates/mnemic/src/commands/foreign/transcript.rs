//! Conversations of another program on their way into the store.
//!
//! A conversation keeps the id that it had there, so that it is known again: what was stored of it
//! is not stored again, even where it became an episode since, and what was said later follows.

use anyhow::{Result, bail};
use jiff::Timestamp;
use mnemic_core::conversation::{ConversationId, TURN_BYTES_MAX};
use mnemic_core::text::{NAME_CHARS_MAX, check_content, visible};
use mnemic_server::wire::conversation::{
    ConversationRequest, ConversationResponse, TurnRequest, TurnsResponse,
};
use serde_json::{Map, Value, json};

use super::record::{digest, name};
use super::{Format, key};
use crate::client::{Client, Refused};
use crate::commands::{OWN, encoded};
use crate::config::CommonArgs;
use crate::output;
use crate::progress::Bar;

/// A request carries so many turns, and about so many bytes, which is well below the limits.
const BATCH_TURNS: usize = 200;
const BATCH_BYTES: usize = 512 * 1024;

/// A conversation with its turns in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    pub id: String,
    pub title: Option<String>,
    pub turns: Vec<Said>,
}

/// One message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    pub role: String,
    pub speaker: Option<String>,
    pub content: String,
    pub at: Option<Timestamp>,
    pub model: Option<String>,
    pub metadata: Map<String, Value>,
}

impl Transcript {
    /// Under the id that it had there, or a digest of what is known of it.
    pub fn new(format: Format, id: Option<&str>, title: Option<&str>, likeness: &[&str]) -> Self {
        let source = format.source();
        let id = id.map(|id| format!("{source}-{id}"));
        let id = id.filter(|id| id.parse::<ConversationId>().is_ok());
        let id = id.unwrap_or_else(|| format!("{source}-{}", &digest(likeness)[..32]));
        Self { id, title: title.and_then(short), turns: Vec::new() }
    }

    /// Adds a message, unless it says nothing; what is too long for one turn becomes several.
    pub fn say(&mut self, place: &str, said: &Said) -> Result<()> {
        let content = visible(&said.content);
        let mut rest = content.trim();
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.floor_char_boundary(TURN_BYTES_MAX));
            if !part.trim().is_empty() {
                if let Err(error) = check_content("its text", part, TURN_BYTES_MAX) {
                    bail!("{place}: {error}");
                }
                self.turns.push(Said { content: part.to_owned(), ..said.clone() });
            }
            rest = after;
        }
        Ok(())
    }

    fn requests(&self, from: usize) -> Vec<TurnRequest> {
        let request = |(index, said): (usize, &Said)| TurnRequest {
            role: said.role.clone(),
            content: said.content.clone(),
            index: i64::try_from(index).ok(),
            timestamp: said.at,
            speaker: said.speaker.clone(),
            token_count: None,
            model: said.model.clone(),
            metadata: (!said.metadata.is_empty()).then(|| said.metadata.clone()),
            revive: false,
        };
        self.turns.iter().enumerate().skip(from).map(request).collect()
    }
}

/// A title as a name, which is one short line.
fn short(title: &str) -> Option<String> {
    let title = visible(title).split_whitespace().collect::<Vec<_>>().join(" ");
    name(&title.chars().take(NAME_CHARS_MAX).collect::<String>())
}

/// What became of the conversations of a file.
#[derive(Debug, Default)]
struct Outcome {
    imported: usize,
    known: usize,
    erased: usize,
    turns: usize,
}

pub async fn import(
    client: &Client,
    common: &CommonArgs,
    format: Format,
    all: &[Transcript],
) -> Result<()> {
    let (bar, mut outcome) = (Bar::new(), Outcome::default());
    for (number, transcript) in (1..).zip(all) {
        if let Err(error) = store(client, format, transcript, &mut outcome).await {
            bar.clear();
            let Transcript { id, .. } = transcript;
            let again = "run it again to go on from there";
            let place = format!("conversation {number} of {} ({id}; {again})", all.len());
            return Err(error.context(place));
        }
        bar.set("importing".to_owned(), number, all.len() as u64);
    }
    bar.clear();
    let Outcome { imported, known, erased, turns } = outcome;
    let source = format.source();
    if common.json {
        output::json(&json!({
            "format": source, "conversations": all.len(), "imported": imported, "known": known,
            "erased": erased, "turns": turns,
        }));
    } else {
        let known = if known > 0 { format!("; {known} were there already") } else { String::new() };
        let gone = if erased > 0 { format!("; {erased} had been erased") } else { String::new() };
        output::line(&format!(
            "imported {imported} conversations with {turns} turns from {source}{known}{gone}"
        ));
    }
    Ok(())
}

/// Stores what is not there yet of a conversation.
async fn store(
    client: &Client,
    format: Format,
    transcript: &Transcript,
    outcome: &mut Outcome,
) -> Result<()> {
    let Some(there) = begin(client, format, transcript).await? else {
        outcome.erased += 1;
        return Ok(());
    };
    let requests = transcript.requests(usize::try_from(there.next_index).unwrap_or(0));
    if requests.is_empty() {
        outcome.known += 1;
        return Ok(());
    }
    let path = format!("{OWN}/conversations/{}/turns", encoded(&transcript.id));
    for batch in batches(&requests) {
        let key = key(format, &(&transcript.id, batch))?;
        let sent = client.post_once(&path, &serde_json::to_value(batch)?, &key).await;
        let sent: TurnsResponse = match sent {
            Err(error) if is(&error, "erased") => {
                outcome.erased += 1;
                return Ok(());
            }
            sent => sent?,
        };
        outcome.turns += sent.items.len();
    }
    outcome.imported += 1;
    Ok(())
}

/// The conversation as it is, or as it is made; none, if it was erased.
async fn begin(
    client: &Client,
    format: Format,
    transcript: &Transcript,
) -> Result<Option<ConversationResponse>> {
    let path = format!("{OWN}/conversations");
    let there = client.get(&format!("{path}/{}", encoded(&transcript.id))).await;
    match there {
        Ok(there) => return Ok(Some(there)),
        Err(error) if !is(&error, "not_found") => return Err(error),
        Err(_) => {}
    }
    let mut metadata = Map::new();
    metadata.insert("source".to_owned(), format.source().into());
    let request = ConversationRequest {
        id: Some(transcript.id.clone()),
        title: transcript.title.clone(),
        metadata: Some(metadata),
        ..ConversationRequest::default()
    };
    match client.post(&path, &serde_json::to_value(request)?).await {
        Ok(made) => Ok(Some(made)),
        Err(error) if is(&error, "erased") => Ok(None),
        Err(error) => Err(error),
    }
}

fn is(error: &anyhow::Error, code: &str) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|it| it.code.as_deref() == Some(code))
}

fn batches(requests: &[TurnRequest]) -> Vec<&[TurnRequest]> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, request) in requests.iter().enumerate() {
        let length = request.content.len();
        if at - start == BATCH_TURNS || (at > start && bytes + length > BATCH_BYTES) {
            batches.push(&requests[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += length;
    }
    if start < requests.len() {
        batches.push(&requests[start..]);
    }
    batches
}
