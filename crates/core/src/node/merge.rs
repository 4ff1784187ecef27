//! Two nodes that turn out to be one, and one that turns out to be two.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::change::hidden;
use super::{Node, Properties, check_type};
use crate::Mnemic;
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::ids::{EdgeId, NodeId};
use crate::memory::check_names;
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;
use crate::text::{check_name, fold_name};

/// Where a node that was merged says what it became part of.
const MERGED_INTO: &str = "merged_into";
const EDGE_IDS_MAX: usize = 1_000;

/// What is to leave a node for a new one.
#[derive(Debug, Clone, Default)]
pub struct NodeSplit {
    pub name: String,
    /// The node's own, if absent.
    pub node_type: Option<String>,
    /// Names of the node that go along.
    pub aliases: Vec<String>,
    /// Edges of the node that go along.
    pub edge_ids: Vec<EdgeId>,
}

impl NodeSplit {
    fn check(&self) -> Result<()> {
        check_name("name", &self.name)?;
        self.node_type.as_deref().map_or(Ok(()), check_type)?;
        check_names("aliases", &self.aliases)?;
        if self.edge_ids.len() > EDGE_IDS_MAX {
            let problem = format!("are more than the limit of {EDGE_IDS_MAX}");
            return Err(Error::invalid("edge_ids", problem));
        }
        Ok(())
    }

    /// Takes the names that leave out of the node; all must be its aliases.
    fn take_names(&self, node: &mut Node) -> Result<()> {
        let own = fold_name(&node.name);
        for (i, alias) in self.aliases.iter().enumerate() {
            let key = fold_name(alias);
            if key == own || !node.aliases.iter().any(|name| fold_name(name) == key) {
                let problem = "is not an alias of the node; its own name stays with it";
                return Err(Error::invalid(&format!("aliases[{i}]"), problem));
            }
        }
        let name = fold_name(&self.name);
        if name == own && self.node_type.as_ref().is_none_or(|given| *given == node.node_type) {
            return Err(Error::invalid("name", "is the node's own name; choose another"));
        }
        let leaving: Vec<_> = self.aliases.iter().map(|alias| fold_name(alias)).collect();
        node.aliases.retain(|alias| {
            let key = fold_name(alias);
            key != name && !leaving.contains(&key)
        });
        Ok(())
    }
}

/// The node that stayed and the one that was split off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitNode {
    pub node: Node,
    pub split_off: Node,
}

static MERGE: Operation = Operation::new("node.merge", Action::WriteGraph);
static SPLIT: Operation = Operation::new("node.split", Action::WriteGraph);

impl Mnemic {
    /// Makes two nodes one: names and edges go to `into`, what both have is there once, and the
    /// other is hidden.
    pub async fn merge_nodes(&self, caller: &Caller, id: NodeId, into: NodeId) -> Result<Node> {
        self.authorize(&caller.principal, &MERGE)?;
        if id == into {
            return Err(Error::invalid("into", "is the node itself; name another"));
        }
        self.decide(caller, &MERGE, || {
            Box::pin(async {
                let principal = &caller.principal;
                let mut gone = self.writable_node(principal, id).await?;
                let mut kept = self
                    .writable_node(principal, into)
                    .await
                    .map_err(|e| Error::new(e.code(), format!("into: {e}")))?;
                let now = self.clock.now();
                let before = kept.clone();
                absorb(&mut kept, &gone);
                let retold = !kept.reads_like(&before);
                kept.check_size()?;
                self.refuse_taken_names(principal, &kept, &[id, into]).await?;
                kept.stamp(now);
                gone.properties.insert(MERGED_INTO.to_owned(), json!(into));
                let changes = vec![
                    hidden(gone, now),
                    Change::UpdateNode { node: kept.clone(), renamed: true, retold },
                    Change::MoveEdges { from: id, to: into, at: now },
                ];
                Ok((kept, changes))
            })
        })
        .await
    }

    /// Makes one node two: the given names and edges go to a new one.
    pub async fn split_node(
        &self,
        caller: &Caller,
        id: NodeId,
        split: &NodeSplit,
    ) -> Result<SplitNode> {
        self.authorize(&caller.principal, &SPLIT)?;
        split.check()?;
        self.decide(caller, &SPLIT, || {
            Box::pin(async {
                let mut node = self.writable_node(&caller.principal, id).await?;
                let mut split_off = node.clone();
                split.take_names(&mut node)?;
                let retold = !node.reads_like(&split_off);
                let now = self.clock.now();
                node.stamp(now);
                split_off.id = NodeId(self.ids.next(now));
                split_off.name.clone_from(&split.name);
                split_off.aliases.clear();
                split_off.add_aliases(&split.aliases);
                if let Some(node_type) = &split.node_type {
                    split_off.node_type.clone_from(node_type);
                }
                split_off.description = None;
                split_off.properties = Properties::new();
                (split_off.access_count, split_off.last_accessed) = (0, None);
                caller.principal.name().clone_into(&mut split_off.created_by);
                (split_off.first_seen, split_off.created_at) = (now, now);
                (split_off.updated_at, split_off.revision) = (now, 1);
                self.refuse_taken_names(&caller.principal, &split_off, &[id]).await?;
                let mut changes = vec![
                    Change::UpdateNode { node: node.clone(), renamed: true, retold },
                    Change::AddNode(split_off.clone()),
                ];
                changes.extend(self.leaving_edges(caller, split, id, split_off.id).await?);
                Ok((SplitNode { node, split_off }, changes))
            })
        })
        .await
    }

    async fn leaving_edges(
        &self,
        caller: &Caller,
        split: &NodeSplit,
        from: NodeId,
        to: NodeId,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::with_capacity(split.edge_ids.len());
        for (i, id) in split.edge_ids.iter().enumerate() {
            let is_own = |edge: &Edge| {
                let ends = [edge.source_id, edge.target_id];
                edge.superseded_at.is_none() && ends.contains(&from.0)
            };
            let edge = self.store.lookup_edge(caller.scope(), *id).await?;
            if !edge.is_some_and(|edge| is_own(&edge)) {
                let problem = "is not an edge of the node";
                return Err(Error::invalid(&format!("edge_ids[{i}]"), problem));
            }
            if !split.edge_ids[..i].contains(id) {
                changes.push(Change::MoveEdge { id: *id, from, to });
            }
        }
        Ok(changes)
    }
}

/// Takes over what another node has and this one lacks.
fn absorb(kept: &mut Node, gone: &Node) {
    kept.add_aliases(std::iter::once(&gone.name).chain(&gone.aliases));
    for (name, value) in &gone.properties {
        kept.properties.entry(name.clone()).or_insert_with(|| value.clone());
    }
    if kept.description.is_none() {
        kept.description.clone_from(&gone.description);
    }
    kept.salience = kept.salience.max(gone.salience);
    kept.first_seen = kept.first_seen.min(gone.first_seen);
}
