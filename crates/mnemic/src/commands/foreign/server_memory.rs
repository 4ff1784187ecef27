//! The knowledge graph of server-memory: its JSON Lines, or what its `read_graph` answers.

use anyhow::{Result, bail};
use serde_json::{Map, Value};

use super::record::{Document, Record, digest, name, object, relation, text};

pub const EXPECTED: &str = "of server-memory, lines such as {\"type\":\"entity\",\"name\":…,\
     \"entityType\":…,\"observations\":[…]} and {\"type\":\"relation\",\"from\":…,\"to\":…,\
     \"relationType\":…}";

pub fn looks_like(document: &Document) -> bool {
    let first = document.items(&["entities", "relations"]).first();
    first.is_some_and(|it| {
        it.get("entityType").or_else(|| it.get("relationType")).is_some_and(Value::is_string)
    })
}

pub fn records(document: &Document) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    let (entities, relations) = (document.list("entities"), document.list("relations"));
    if entities.len() + relations.len() > 0 {
        for (number, entity) in (1..).zip(entities) {
            let place = format!("entity {number}");
            records.extend(observations(object(entity, &place)?, &place)?);
        }
        for (number, it) in (1..).zip(relations) {
            let place = format!("relation {number}");
            records.push(related(object(it, &place)?, place)?);
        }
        return Ok(records);
    }
    for (number, line) in (1..).zip(document.items(&[])) {
        let place = format!("record {number}");
        let fields = object(line, &place)?;
        match fields.get("type").and_then(Value::as_str) {
            Some("entity") => records.extend(observations(fields, &place)?),
            Some("relation") => records.push(related(fields, place)?),
            _ => bail!("{place}: `type` must be entity or relation"),
        }
    }
    Ok(records)
}

/// One memory for each observation, which names what it is about.
fn observations(fields: &Map<String, Value>, place: &str) -> Result<Vec<Record>> {
    let (about, sort) = (text(fields, "name", place)?, text(fields, "entityType", place)?);
    let Some(observations) = fields.get("observations").and_then(Value::as_array) else {
        bail!("{place}: `observations` must be a list of texts");
    };
    let record = |id, content, number: usize| Record {
        place: format!("{place}, observation {number}"),
        id,
        content,
        topic: name(sort),
        entities: name(about).into_iter().collect(),
        ..Record::default()
    };
    if observations.is_empty() {
        let id = digest(&["entity", about, sort]);
        return Ok(vec![record(id, format!("{about} is a {sort}"), 0)]);
    }
    let mut records = Vec::new();
    for (number, observation) in (1..).zip(observations) {
        let Some(said) = observation.as_str() else {
            bail!("{place}: observation {number} is no text");
        };
        let id = digest(&["observation", about, said]);
        let content = if said.to_lowercase().contains(&about.to_lowercase()) {
            said.to_owned()
        } else {
            format!("{about}: {said}")
        };
        records.push(record(id, content, number));
    }
    Ok(records)
}

fn related(fields: &Map<String, Value>, place: String) -> Result<Record> {
    let from = text(fields, "from", &place)?;
    let to = text(fields, "to", &place)?;
    let verb = text(fields, "relationType", &place)?;
    Ok(Record { place, ..relation(from, verb, to) })
}
