//! Nodes: what memories are about, typed and named, each once per channel and type.
//!
//! The graph holds entities, their names and what joins them, never documents. Memories are its
//! nodes too, but stay where they are: an edge may join any two records of a workspace.

mod change;
mod merge;
mod search;
mod traverse;
mod upsert;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Mnemic;
use crate::action::Done;
use crate::audit::Reading;
use crate::conversation::Said;
use crate::error::{Code, Error, Result};
use crate::ids::NodeId;
use crate::memory::Glimpse;
use crate::principal::{Action, Operation, Principal};
use crate::text::{check_content, check_name, fold_name};

pub(crate) use change::hidden;
pub use change::{NodePatch, Slice};
pub use merge::{NodeSplit, SplitNode};
pub use search::{Match, NodeFilter, NodeHit, NodeSearch};
pub use traverse::{DEPTH_MAX, Direction, Hops, Subgraph, Traversal, Visit, Walk};
pub(crate) use upsert::Weaving;
pub use upsert::{NewNode, Upserted};

/// The longest description, in bytes of UTF-8.
pub const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;
/// The most that the properties of one node or edge can take as JSON.
pub const PROPERTIES_BYTES_MAX: usize = 16 * 1024;
/// The most names beside its own that a node can have.
pub const ALIASES_MAX: usize = 200;
/// What is made of a name of which nothing else is known.
pub const ENTITY: &str = "entity";
/// The type of memories among nodes.
pub const MEMORY: &str = "memory";
const SALIENCE_DEFAULT: f64 = 0.5;

pub type Properties = Map<String, Value>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    #[serde(rename = "type")]
    pub node_type: String,
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    pub channel: String,
    pub domain: Option<String>,
    pub description: Option<String>,
    pub properties: Properties,
    /// How much it stands out, 0 to 1.
    pub salience: f64,
    /// The source that it came from.
    pub connection_id: Option<String>,
    pub first_seen: Timestamp,
    pub last_accessed: Option<Timestamp>,
    pub access_count: i64,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Node {
    /// Its names as they are compared, its own first, each once.
    pub fn name_keys(&self) -> Vec<(String, &str)> {
        let mut keys: Vec<(String, &str)> = Vec::new();
        for name in std::iter::once(&self.name).chain(&self.aliases) {
            let key = fold_name(name);
            if keys.iter().all(|(known, _)| *known != key) {
                keys.push((key, name));
            }
        }
        keys
    }

    /// Takes names that it does not have yet; whether there were any.
    fn add_aliases<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) -> bool {
        let mut keys: Vec<_> = self.name_keys().into_iter().map(|(key, _)| key).collect();
        let before = self.aliases.len();
        for name in names {
            let key = fold_name(name);
            if !keys.contains(&key) {
                keys.push(key);
                self.aliases.push(name.clone());
            }
        }
        self.aliases.len() > before
    }

    fn check_size(&self) -> Result<()> {
        if self.aliases.len() > ALIASES_MAX {
            let problem = format!("the node would have more than {ALIASES_MAX}");
            return Err(Error::invalid("aliases", problem));
        }
        check_properties(&self.properties)
    }

    /// Whether it says the same of itself by name and description.
    fn reads_like(&self, other: &Self) -> bool {
        (&self.name, &self.description) == (&other.name, &other.description)
    }

    pub(crate) fn found(&self) -> (Uuid, &str) {
        (self.id.0, &self.channel)
    }

    fn stamp(&mut self, now: Timestamp) {
        self.updated_at = now;
        self.revision += 1;
    }
}

/// A record of the graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Node(Box<Node>),
    Memory(Glimpse),
    Said(Said),
    Done(Done),
}

impl Record {
    pub fn id(&self) -> Uuid {
        match self {
            Self::Node(node) => node.id.0,
            Self::Memory(memory) => memory.id.0,
            Self::Said(said) => said.id(),
            Self::Done(done) => done.id(),
        }
    }

    pub fn channel(&self) -> &str {
        match self {
            Self::Node(node) => &node.channel,
            Self::Memory(memory) => &memory.channel,
            Self::Said(said) => said.channel(),
            Self::Done(done) => done.channel(),
        }
    }

    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Node(node) => node.domain.as_deref(),
            Self::Memory(memory) => memory.domain.as_deref(),
            Self::Said(_) | Self::Done(_) => None,
        }
    }
}

static GET: Operation = Operation::new("node.get", Action::ReadGraph);

impl Mnemic {
    pub async fn get_node(&self, principal: &Principal, id: NodeId) -> Result<Node> {
        self.authorize(principal, &GET)?;
        let started = self.clock.now();
        let node = self.visible_node(principal, id).await?;
        let reading = Reading { found: vec![node.found()], ..Reading::default() };
        self.note_read(principal, &GET, &reading, started);
        Ok(node)
    }

    /// The node, unless it is absent, foreign, deleted or in a domain that is closed to the
    /// caller.
    async fn visible_node(&self, principal: &Principal, id: NodeId) -> Result<Node> {
        let node = self.readable_node(principal, id).await?;
        if node.deleted_at.is_some() {
            return Err(Error::not_found("node"));
        }
        Ok(node)
    }

    /// The same, deleted or not.
    async fn readable_node(&self, principal: &Principal, id: NodeId) -> Result<Node> {
        let found = self.store.lookup_node(principal.scope(), id).await?;
        let may_read = |node: &Node| principal.access.may_read(node.domain.as_deref());
        found.filter(may_read).ok_or_else(|| Error::not_found("node"))
    }

    /// The node, if the caller may change it, even where nothing will change.
    async fn writable_node(&self, principal: &Principal, id: NodeId) -> Result<Node> {
        let node = self.visible_node(principal, id).await?;
        if let Some(domain) = &node.domain {
            self.check_write(principal, domain).await?;
        }
        Ok(node)
    }

    /// What is behind each of these ids, unless it is absent, deleted or closed to the caller.
    pub(crate) async fn visible_records(
        &self,
        principal: &Principal,
        ids: &[Uuid],
    ) -> Result<Vec<Option<Record>>> {
        let found = self.store.find_records(principal.scope(), ids).await?.into_iter();
        let may_read = |record: &Record| principal.access.may_read(record.domain());
        Ok(found.map(|record| record.filter(may_read)).collect())
    }
}

/// What a decision rested on is no longer there: it is taken again.
fn lost_race() -> Error {
    Error::new(Code::Stale, "the record was changed meanwhile; try again")
}

/// Checks the type of a node that is to be made.
fn check_type(node_type: &str) -> Result<()> {
    check_name("type", node_type)?;
    if node_type == MEMORY {
        return Err(Error::invalid("type", "`memory` is for memories; remember it instead"));
    }
    Ok(())
}

fn check_description(description: Option<&str>) -> Result<()> {
    description.map_or(Ok(()), |text| check_content("description", text, DESCRIPTION_BYTES_MAX))
}

fn check_salience(salience: Option<f64>) -> Result<()> {
    match salience {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(Error::invalid("salience", format!("{value} is not between 0 and 1")))
        }
        _ => Ok(()),
    }
}

/// Checks properties as they would be kept.
pub(crate) fn check_properties(properties: &Properties) -> Result<()> {
    let length = serde_json::to_vec(properties)
        .map_err(|e| Error::invalid("properties", "cannot be written as JSON").caused_by(e))?
        .len();
    if length > PROPERTIES_BYTES_MAX {
        let problem =
            format!("{length} bytes of JSON are more than the limit of {PROPERTIES_BYTES_MAX}");
        return Err(Error::invalid("properties", problem));
    }
    if has_nul(&Value::Object(properties.clone())) {
        return Err(Error::invalid("properties", "must not contain the NUL character"));
    }
    Ok(())
}

pub(crate) fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value))
        }
        _ => false,
    }
}

/// Writes what is given over what is there, field by field; null removes a field.
pub(crate) fn merge_properties(into: &mut Properties, given: &Properties) {
    for (name, value) in given {
        if value.is_null() {
            into.remove(name);
        } else {
            into.insert(name.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_merge_field_by_field() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let mut properties = object(json!({"a": 1, "b": {"c": 2}, "d": 3}));
        merge_properties(&mut properties, &object(json!({"b": {"e": 4}, "d": null, "f": 5})));
        assert_eq!(Value::Object(properties), json!({"a": 1, "b": {"e": 4}, "f": 5}));
    }

    #[test]
    fn properties_are_limited() {
        let mut properties = Properties::new();
        properties.insert("text".to_owned(), json!("x".repeat(PROPERTIES_BYTES_MAX)));
        assert!(check_properties(&properties).unwrap_err().to_string().contains("16384"));
        properties.insert("text".to_owned(), json!(["a\0b"]));
        assert!(check_properties(&properties).unwrap_err().to_string().contains("NUL"));
    }
}
