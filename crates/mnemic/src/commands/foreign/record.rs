//! A file of another program, and one record of it on its way to become a memory.

use anyhow::{Result, bail};
use jiff::Timestamp;
use mnemic_core::text::{CONTENT_BYTES_MAX, check_content, check_name};
use mnemic_server::wire::memory::{KindWire, MemoryRequest};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// A JSON document, or one for each line.
pub enum Document {
    One(Value),
    Lines(Vec<Value>),
}

impl Document {
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            bail!("the file is empty");
        }
        let error = match serde_json::from_str(text) {
            Ok(value) => return Ok(Self::One(value)),
            Err(error) => error,
        };
        let mut values = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(line) {
                Ok(value) => values.push(value),
                Err(_) if values.is_empty() => bail!("the file is no JSON: {error}"),
                Err(error) => bail!("line {number} is no JSON (column {})", error.column()),
            }
        }
        Ok(Self::Lines(values))
    }

    /// The items of an array, of the lines, or of an object's list of any of these names.
    pub fn items(&self, names: &[&str]) -> &[Value] {
        match self {
            Self::Lines(values) | Self::One(Value::Array(values)) => values,
            Self::One(value) => names
                .iter()
                .find_map(|name| value.get(name)?.as_array())
                .map_or(std::slice::from_ref(value), Vec::as_slice),
        }
    }

    /// The list of this name, if the document is an object that has one.
    pub fn list(&self, name: &str) -> &[Value] {
        match self {
            Self::One(value) => {
                value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
            }
            Self::Lines(_) => &[],
        }
    }
}

/// What becomes one memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Where it is in the file, for whoever has to put it right.
    pub place: String,
    /// By what it is known again.
    pub id: String,
    pub content: String,
    pub fact: bool,
    pub topic: Option<String>,
    pub entities: Vec<String>,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
}

impl Record {
    pub fn check(&self) -> Result<()> {
        if let Err(error) = check_content("its text", &self.content, CONTENT_BYTES_MAX) {
            bail!("{}: {error}", self.place);
        }
        Ok(())
    }

    pub fn request(&self, source: &str) -> MemoryRequest {
        MemoryRequest {
            content: self.content.clone(),
            kind: self.fact.then_some(KindWire::Fact),
            topic: self.topic.clone(),
            source: Some(source.to_owned()),
            source_ids: Some(vec![self.id.clone()]),
            entities: Some(self.entities.clone()),
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            ..MemoryRequest::default()
        }
    }
}

pub fn object<'v>(value: &'v Value, place: &str) -> Result<&'v Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields),
        _ => bail!("{place}: expected an object"),
    }
}

/// A field that must be there.
pub fn text<'v>(fields: &'v Map<String, Value>, name: &str, place: &str) -> Result<&'v str> {
    match fields.get(name) {
        Some(Value::String(text)) => Ok(text),
        _ => bail!("{place}: `{name}` must be a text"),
    }
}

/// The first of these fields that is a text.
pub fn any_text<'v>(fields: &'v Map<String, Value>, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

/// A time, in UTC where it does not say; absent and null are none.
pub fn time(fields: &Map<String, Value>, name: &str, place: &str) -> Result<Option<Timestamp>> {
    let text = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => bail!("{place}: `{name}` must be a time"),
    };
    let spellings = [text.clone(), format!("{text}Z"), format!("{text}T00:00:00Z")];
    match spellings.iter().find_map(|it| it.parse().ok()) {
        Some(time) => Ok(Some(time)),
        None => bail!("{place}: `{name}` is no time: {text:?}"),
    }
}

/// As a name of a topic or an entity, if it can be one.
pub fn name(text: &str) -> Option<String> {
    let text = text.trim();
    check_name("name", text).ok().map(|()| text.to_owned())
}

/// The source's id, or a digest of it where it cannot be kept as it is.
pub fn id(text: &str) -> String {
    name(text).filter(|name| name == text).unwrap_or_else(|| digest(&[text]))
}

/// An id for what has none.
pub fn digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part.len().to_le_bytes());
        sum.update(part);
    }
    hex(&sum.finalize())
}

pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// `A works for B`, of a relation spelled `WORKS_FOR` or `works_for`.
pub fn relation(from: &str, verb: &str, to: &str) -> Record {
    let entities = [from, to].into_iter().filter_map(name).collect();
    Record {
        id: digest(&["relation", from, verb, to]),
        content: format!("{from} {} {to}", verb.replace('_', " ").to_lowercase()),
        entities,
        ..Record::default()
    }
}
