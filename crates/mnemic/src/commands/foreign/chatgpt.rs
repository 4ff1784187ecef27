//! Conversations of ChatGPT: `conversations.json` of its data export.
//!
//! Each is a tree of messages, because a message that was edited or answered again begins another
//! branch. What is taken is the branch that was shown last, from `current_node` up to the root.

use std::collections::HashSet;

use anyhow::{Result, bail};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Format;
use super::record::{Document, any_text, name, object};
use super::transcript::{Said, Transcript};

pub const EXPECTED: &str = "of ChatGPT, conversations.json with [{\"title\":…,\"mapping\":{…},\
     \"current_node\":…}]";

/// Forms of content that are no part of the conversation.
const UNSAID: [&str; 4] =
    ["thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"];

pub fn looks_like(document: &Document) -> bool {
    document.items(&[]).first().is_some_and(|it| it.get("mapping").is_some_and(Value::is_object))
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
    let Some(Value::Object(mapping)) = fields.get("mapping") else {
        bail!("{place}: `mapping` must be an object");
    };
    let id = any_text(fields, &["conversation_id", "id"]);
    let title = any_text(fields, &["title"]);
    let began = fields.get("create_time").map(Value::to_string).unwrap_or_default();
    let likeness = [title.unwrap_or_default(), &began];
    let mut transcript = Transcript::new(Format::Chatgpt, id, title, &likeness);
    for node in branch(fields, mapping, place)? {
        let place = format!("{place}, node {node}");
        let Some(message) = mapping.get(node).and_then(|it| it.get("message")) else { continue };
        if !message.is_null() && is_shown(message) {
            let said = said(object(message, &place)?, &place)?;
            transcript.say(&place, &said)?;
        }
    }
    Ok(transcript)
}

/// The ids of the nodes that were shown last, from the first to the last.
fn branch<'v>(
    fields: &'v Map<String, Value>,
    mapping: &'v Map<String, Value>,
    place: &str,
) -> Result<Vec<&'v str>> {
    let mut next = match any_text(fields, &["current_node"]) {
        Some(node) => Some(node),
        None => last(mapping),
    };
    let (mut branch, mut met) = (Vec::new(), HashSet::new());
    while let Some(id) = next {
        let Some(node) = mapping.get(id) else {
            bail!("{place}: node {id} is named but is not in `mapping`");
        };
        if !met.insert(id) {
            bail!("{place}: node {id} is its own ancestor");
        }
        branch.push(id);
        next = node.get("parent").and_then(Value::as_str);
    }
    branch.reverse();
    Ok(branch)
}

/// Where it does not say what was shown: the leaf that was made last.
fn last(mapping: &Map<String, Value>) -> Option<&str> {
    let is_leaf =
        |node: &Value| node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let made = |node: &Value| node.get("message")?.get("create_time")?.as_f64();
    let leaves = mapping.iter().filter(|(_, node)| is_leaf(node));
    let latest = leaves.max_by(|(_, a), (_, b)| {
        made(a).unwrap_or_default().total_cmp(&made(b).unwrap_or_default())
    });
    latest.map(|(id, _)| id.as_str())
}

/// What nobody saw was not said: instructions that are put in silently, and how long it thought.
fn is_shown(message: &Value) -> bool {
    let hidden = message["metadata"]["is_visually_hidden_from_conversation"].as_bool();
    let sort = message["content"]["content_type"].as_str().unwrap_or_default();
    hidden != Some(true) && !UNSAID.contains(&sort)
}

fn said(message: &Map<String, Value>, place: &str) -> Result<Said> {
    let author = message.get("author").and_then(Value::as_object);
    let Some(role) = author.and_then(|it| any_text(it, &["role"])).and_then(name) else {
        bail!("{place}: `author.role` must be a name");
    };
    let about = message.get("metadata").and_then(Value::as_object);
    let mut metadata = Map::new();
    let attached = about.and_then(|it| it.get("attachments")).and_then(Value::as_array);
    let attached: Vec<_> =
        attached.into_iter().flatten().filter_map(|it| it.get("name")).cloned().collect();
    let content = content(message.get("content"));
    let content = match (content.trim().is_empty(), attached.is_empty()) {
        (true, false) => "(attachment)".to_owned(),
        _ => content,
    };
    if !attached.is_empty() {
        metadata.insert("attachments".to_owned(), attached.into());
    }
    Ok(Said {
        role,
        speaker: author.and_then(|it| any_text(it, &["name"])).and_then(name),
        content,
        at: time(message.get("create_time"), place)?,
        model: about.and_then(|it| any_text(it, &["model_slug"])).and_then(name),
        metadata,
    })
}

/// The texts of a message, whatever its form: `parts` of texts and of objects, or a `text`.
fn content(content: Option<&Value>) -> String {
    let Some(Value::Object(content)) = content else { return String::new() };
    let mut texts = Vec::new();
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        match part {
            Value::String(text) => texts.push(text.clone()),
            Value::Object(part) => match any_text(part, &["text", "content"]) {
                Some(text) => texts.push(text.to_owned()),
                None if part.contains_key("asset_pointer") => texts.push("(image)".to_owned()),
                None => {}
            },
            _ => {}
        }
    }
    if texts.is_empty() {
        texts.extend(any_text(content, &["text", "result", "content"]).map(str::to_owned));
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.join("\n\n")
}

/// Seconds since 1970, with a fraction.
fn time(value: Option<&Value>, place: &str) -> Result<Option<Timestamp>> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let micros = value.as_f64().map(|seconds| (seconds * 1e6).round());
    // Beyond this a time is no time of anybody's.
    let micros = micros.filter(|micros| micros.abs() < 1e17);
    #[expect(clippy::cast_possible_truncation, reason = "it was checked to be in range")]
    let time = micros.and_then(|micros| Timestamp::from_microsecond(micros as i64).ok());
    match time {
        Some(time) => Ok(Some(time)),
        None => bail!("{place}: `create_time` is no time: {value}"),
    }
}
