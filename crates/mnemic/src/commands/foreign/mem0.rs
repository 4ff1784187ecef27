//! Memories of mem0: an array of them, or `{"results": […]}` with or without `relations`.

use anyhow::Result;
use serde_json::{Map, Value};

use super::record::{Document, Record, any_text, digest, id, name, object, relation, text};

pub const EXPECTED: &str = "of mem0, an array or {\"results\":[…]} of {\"id\":…,\"memory\":…}";

const LISTS: [&str; 2] = ["results", "memories"];

pub fn looks_like(document: &Document) -> bool {
    let first = document.items(&LISTS).first();
    first.is_some_and(|it| it.get("memory").is_some_and(Value::is_string))
}

pub fn records(document: &Document) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for (number, item) in (1..).zip(document.items(&LISTS)) {
        let place = format!("record {number}");
        let fields = object(item, &place)?;
        let content = text(fields, "memory", &place)?.to_owned();
        let id = any_text(fields, &["id"]).map_or_else(|| digest(&["memory", &content]), id);
        let whose = any_text(fields, &["user_id", "agent_id"]);
        let entities = whose.and_then(name).into_iter().collect();
        records.push(Record {
            place,
            id,
            content,
            topic: topic(fields),
            entities,
            ..Record::default()
        });
    }
    for (number, item) in (1..).zip(document.list("relations")) {
        let place = format!("relation {number}");
        let fields = object(item, &place)?;
        let from = text(fields, "source", &place)?;
        let verb = text(fields, "relationship", &place)?;
        let to = any_text(fields, &["target", "destination"]);
        let to = to.map_or_else(|| text(fields, "target", &place), Ok)?;
        records.push(Record { place: place.clone(), ..relation(from, verb, to) });
    }
    Ok(records)
}

fn topic(fields: &Map<String, Value>) -> Option<String> {
    let own = fields.get("metadata").and_then(Value::as_object);
    let own = own.and_then(|it| any_text(it, &["topic", "category"]));
    let first = || fields.get("categories")?.as_array()?.first()?.as_str();
    own.or_else(first).and_then(name)
}
