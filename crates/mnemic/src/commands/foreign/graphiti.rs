//! The graph of Graphiti: its edges are facts with a time at which they hold, and its nodes give
//! the names of what they are about.

use std::collections::HashMap;

use anyhow::Result;
use serde_json::{Map, Value};

use super::record::{Document, Record, any_text, digest, id, name, object, text, time};

pub const EXPECTED: &str = "of Graphiti, {\"nodes\":[{\"uuid\":…,\"name\":…}],\"edges\":[{\"uuid\":…,\
     \"fact\":…,\"source_node_uuid\":…,\"target_node_uuid\":…,\"valid_at\":…,\"invalid_at\":…}]}";

const EDGES: [&str; 3] = ["edges", "facts", "entity_edges"];
const NODES: [&str; 2] = ["nodes", "entity_nodes"];

pub fn looks_like(document: &Document) -> bool {
    let first = document.items(&EDGES).first();
    first.is_some_and(|it| it.get("fact").is_some_and(Value::is_string))
}

pub fn records(document: &Document) -> Result<Vec<Record>> {
    let mut names = HashMap::new();
    for node in NODES.iter().flat_map(|list| document.list(list)) {
        let field = |name: &str| node.get(name).and_then(Value::as_str);
        if let (Some(uuid), Some(name)) = (field("uuid"), field("name")) {
            names.insert(uuid, name);
        }
    }
    let mut records = Vec::new();
    for (number, edge) in (1..).zip(document.items(&EDGES)) {
        let place = format!("edge {number}");
        records.push(fact(object(edge, &place)?, place, &names)?);
    }
    Ok(records)
}

fn fact(fields: &Map<String, Value>, place: String, names: &HashMap<&str, &str>) -> Result<Record> {
    let content = text(fields, "fact", &place)?.to_owned();
    let id = any_text(fields, &["uuid", "id"]).map_or_else(|| digest(&["fact", &content]), id);
    let mut entities = Vec::new();
    for end in ["source", "target"] {
        let node = any_text(fields, &[&format!("{end}_node_uuid"), &format!("{end}_uuid")]);
        let given = any_text(fields, &[&format!("{end}_node_name"), &format!("{end}_name"), end]);
        let found = given.or_else(|| node.and_then(|uuid| names.get(uuid).copied())).and_then(name);
        entities.extend(found.filter(|name| !entities.contains(name)));
    }
    // What was found to be outdated does not hold any more, even if nobody said since when.
    let ended = time(fields, "invalid_at", &place)?;
    let valid_to = ended.map_or_else(|| time(fields, "expired_at", &place), |it| Ok(Some(it)))?;
    let began = time(fields, "valid_at", &place)?;
    // One that ended when it began, or before, has no time at which it held.
    let valid_from = began.filter(|from| valid_to.is_none_or(|to| *from < to));
    Ok(Record { place, id, content, fact: true, topic: None, entities, valid_from, valid_to })
}
