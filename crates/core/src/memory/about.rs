//! What memories are about: the names that a memory gives become nodes of the graph, and an edge
//! leads from the memory to each.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::{Kind, Memory, MemoryPatch};
use crate::Mnemic;
use crate::edge::{ABOUT, Edge};
use crate::error::Result;
use crate::ids::{MemoryId, NodeId};
use crate::node::Weaving;
use crate::principal::Caller;
use crate::store::Change;

/// Where an edge says by which name it came to be. One without this was made by hand.
const ENTITY: &str = "entity";

/// As much of a memory as the graph shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Glimpse {
    pub id: MemoryId,
    pub kind: Kind,
    /// The beginning of its content.
    pub text: String,
    pub channel: String,
    pub domain: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub superseded_at: Option<Timestamp>,
}

/// How many characters of a memory the graph shows.
pub const GLIMPSE_CHARS: usize = 200;

impl Mnemic {
    /// The changes by which a new memory is joined to what it is about.
    pub(super) async fn about_new(
        &self,
        weaving: &mut Weaving<'_>,
        memory: &Memory,
        revive: bool,
    ) -> Result<Vec<Change>> {
        let wanted = self.about(weaving, memory, revive).await?;
        let links = wanted.into_iter().flat_map(|(node, name)| {
            self.about_links(weaving, memory, node, name, memory.created_at)
        });
        Ok(links.collect())
    }

    /// The changes by which a memory that was given names, the same or others, or is in another
    /// channel or domain than before, is joined to what they stand for now.
    pub(super) async fn about_changed(
        &self,
        caller: &Caller,
        before: &Memory,
        memory: &Memory,
        patch: &MemoryPatch,
    ) -> Result<Vec<Change>> {
        let place = |m: &Memory| (m.channel.clone(), m.domain.clone());
        if patch.entities.is_none() && place(before) == place(memory) {
            return Ok(vec![]);
        }
        let mut weaving = Weaving::new(self, caller);
        let mut wanted = self.about(&mut weaving, memory, patch.revive).await?;
        let scope = caller.scope();
        let mut links = Vec::new();
        for edge in self.store.list_edges_from(scope, memory.id.0, ABOUT).await? {
            let is_wanted = wanted.remove(&NodeId(edge.target_id)).is_some();
            if !is_wanted && edge.properties.contains_key(ENTITY) {
                let domain = memory.domain.clone();
                links.push(Change::CloseEdge { edge, domain, at: memory.updated_at });
            }
        }
        for (node, name) in wanted {
            links.extend(self.about_links(&weaving, memory, node, name, memory.updated_at));
        }
        let mut changes = weaving.finish();
        changes.extend(links);
        Ok(changes)
    }

    /// The nodes that a memory is about, each with the first name that it gives it.
    async fn about<'m>(
        &self,
        weaving: &mut Weaving<'_>,
        memory: &'m Memory,
        revive: bool,
    ) -> Result<BTreeMap<NodeId, &'m str>> {
        let mut wanted = BTreeMap::new();
        if memory.entities.is_empty() {
            return Ok(wanted);
        }
        let nodes = weaving.entities(memory, revive).await?;
        for (node, name) in nodes.into_iter().zip(&memory.entities) {
            wanted.entry(node).or_insert(name.as_str());
        }
        Ok(wanted)
    }

    fn about_links(
        &self,
        weaving: &Weaving<'_>,
        memory: &Memory,
        node: NodeId,
        name: &str,
        now: Timestamp,
    ) -> Vec<Change> {
        let span = (memory.id.0, ABOUT.to_owned(), node.0);
        let mut edge = Edge::new(self, now, memory.channel.clone(), &span);
        edge.properties.insert(ENTITY.to_owned(), Value::from(name));
        let required = (!weaving.makes(node)).then_some(Change::RequireRecord(node.0));
        let added = Change::AddEdge { edge, domain: memory.domain.clone() };
        required.into_iter().chain([added]).collect()
    }
}
