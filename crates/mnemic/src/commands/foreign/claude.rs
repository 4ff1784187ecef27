//! Conversations of Claude: `conversations.json` of its data export.

use anyhow::{Result, bail};
use serde_json::{Map, Value};

use super::Format;
use super::record::{Document, any_text, object, time};
use super::transcript::{Said, Transcript};

pub const EXPECTED: &str = "of Claude, conversations.json with [{\"uuid\":…,\"name\":…,\
     \"chat_messages\":[{\"sender\":…,\"text\":…}]}]";

pub fn looks_like(document: &Document) -> bool {
    let first = document.items(&[]).first();
    first.is_some_and(|it| it.get("chat_messages").is_some_and(Value::is_array))
}

pub fn transcripts(document: &Document) -> Result<Vec<Transcript>> {
    let mut all = Vec::new();
    for (number, item) in (1..).zip(document.items(&[])) {
        let place = format!("conversation {number}");
        all.push(transcript(object(item, &place)?, &place)?);
    }
    Ok(all)
}

fn transcript(fields: &Map<String, Value>, place: &str) -> Result<Transcript> {
    let Some(messages) = fields.get("chat_messages").and_then(Value::as_array) else {
        bail!("{place}: `chat_messages` must be a list");
    };
    let (id, title) = (any_text(fields, &["uuid", "id"]), any_text(fields, &["name"]));
    let began = any_text(fields, &["created_at"]).unwrap_or_default();
    let likeness = [title.unwrap_or_default(), began];
    let mut transcript = Transcript::new(Format::Claude, id, title, &likeness);
    for (number, message) in (1..).zip(messages) {
        let place = format!("{place}, message {number}");
        if !message.is_null() {
            let said = said(object(message, &place)?, &place)?;
            transcript.say(&place, &said)?;
        }
    }
    Ok(transcript)
}

fn said(message: &Map<String, Value>, place: &str) -> Result<Said> {
    let role = match any_text(message, &["sender"]) {
        Some("human" | "user") => "user",
        Some("assistant") => "assistant",
        Some("system") => "system",
        _ => bail!("{place}: `sender` must be human, assistant or system"),
    };
    let files = attached(message);
    let content = content(message);
    let content = match (content.trim().is_empty(), files.is_empty()) {
        (true, false) => "(attachment)".to_owned(),
        _ => content,
    };
    let mut metadata = Map::new();
    if !files.is_empty() {
        metadata.insert("attachments".to_owned(), files.into());
    }
    Ok(Said {
        role: role.to_owned(),
        content,
        at: time(message, "created_at", place)?,
        metadata,
        ..Said::default()
    })
}

/// The texts among the blocks. What tools were given and gave, and what was thought in between,
/// was not said; where there are no blocks, there is one text.
fn content(message: &Map<String, Value>) -> String {
    let blocks = message.get("content").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter(|block| {
        block.get("type").and_then(Value::as_str).is_none_or(|sort| sort == "text")
    });
    let texts: Vec<_> = texts
        .filter_map(|block| block.get("text")?.as_str())
        .filter(|text| !text.trim().is_empty())
        .collect();
    if texts.is_empty() {
        return any_text(message, &["text"]).unwrap_or_default().to_owned();
    }
    texts.join("\n\n")
}

/// The names of files; what was in them is not what was said.
fn attached(message: &Map<String, Value>) -> Vec<Value> {
    let lists = ["attachments", "files"].into_iter().filter_map(|it| message.get(it)?.as_array());
    let names = lists.flatten().filter_map(|file| file.get("file_name"));
    names.filter(|name| name.is_string()).cloned().collect()
}
