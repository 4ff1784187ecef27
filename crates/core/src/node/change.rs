//! How nodes change and go: corrected, hidden, erased alone or with all of their source.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Node, Properties, check_description, check_salience, merge_properties};
use crate::Mnemic;
use crate::domain::check_domain;
use crate::erasure::{Burial, Graves, Receipt, SubjectKind};
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::memory::check_names;
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::{Bearer, Change};
use crate::text::{check_name, check_optional_name};

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct NodePatch {
    pub name: Option<String>,
    /// In the place of all that it had.
    pub aliases: Option<Vec<String>>,
    pub domain: Option<Option<String>>,
    pub description: Option<Option<String>>,
    /// Field by field; null removes one.
    pub properties: Option<Properties>,
    pub salience: Option<f64>,
    /// Take names even if they were erased, and lift their tombstones.
    pub revive: bool,
}

impl NodePatch {
    fn check(&self) -> Result<()> {
        check_optional_name("name", self.name.as_deref())?;
        check_names("aliases", self.aliases.as_deref().unwrap_or_default())?;
        check_domain("domain", self.domain.as_ref().and_then(|d| d.as_deref()))?;
        check_description(self.description.as_ref().and_then(|d| d.as_deref()))?;
        check_salience(self.salience)
    }

    fn apply(&self, node: &mut Node) -> Result<()> {
        if let Some(name) = &self.name {
            node.name.clone_from(name);
        }
        // The aliases again, so that none is the name or there twice.
        let aliases = std::mem::take(&mut node.aliases);
        node.add_aliases(self.aliases.as_ref().unwrap_or(&aliases));
        if let Some(domain) = &self.domain {
            node.domain.clone_from(domain);
        }
        if let Some(description) = &self.description {
            node.description.clone_from(description);
        }
        if let Some(properties) = &self.properties {
            merge_properties(&mut node.properties, properties);
        }
        if let Some(salience) = self.salience {
            node.salience = salience;
        }
        node.check_size()
    }
}

/// How much of the graph came from one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    pub nodes: u64,
    /// Edges that begin or end at one of the nodes.
    pub edges: u64,
}

static UPDATE: Operation = Operation::new("node.update", Action::WriteGraph);
static DELETE: Operation = Operation::new("node.delete", Action::WriteGraph);
static ERASE: Operation = Operation::new("node.erase", Action::EraseGraph);
static ERASE_CONNECTION: Operation = Operation::new("connection.erase", Action::EraseGraph);

impl Mnemic {
    pub async fn update_node(
        &self,
        caller: &Caller,
        id: NodeId,
        patch: &NodePatch,
    ) -> Result<Node> {
        self.authorize(&caller.principal, &UPDATE)?;
        patch.check()?;
        self.decide(caller, &UPDATE, || {
            Box::pin(async {
                // What leaves a domain is a change of that one, too.
                let before = self.writable_node(&caller.principal, id).await?;
                let mut node = before.clone();
                patch.apply(&mut node)?;
                if node == before {
                    return Ok((before, vec![]));
                }
                let domain = node.domain.as_deref();
                let domain = domain.map(|domain| self.domain_change(&caller.principal, domain));
                self.refuse_taken_names(&caller.principal, &node, &[id]).await?;
                node.stamp(self.clock.now());
                let mut changes = self.admit_new_names(caller, &before, &node, patch).await?;
                let retold = !node.reads_like(&before);
                changes.push(Change::UpdateNode { node: node.clone(), renamed: true, retold });
                changes.extend(domain);
                Ok((node, changes))
            })
        })
        .await
    }

    /// Refuses names that the node did not have before and that were erased.
    async fn admit_new_names(
        &self,
        caller: &Caller,
        before: &Node,
        node: &Node,
        patch: &NodePatch,
    ) -> Result<Vec<Change>> {
        let known = before.name_keys();
        let added = node.name_keys().into_iter();
        let added = added.filter(|(key, _)| known.iter().all(|(known, _)| known != key));
        let added: Vec<_> = added.map(|(_, name)| name).collect();
        let mut graves = Graves::new(self, caller);
        graves.admit_names(&node.channel, &node.node_type, &added, patch.revive).await?;
        Ok(graves.finish())
    }

    /// Hides a node, frees its names, and closes its edges.
    pub async fn delete_node(&self, caller: &Caller, id: NodeId) -> Result<()> {
        self.authorize(&caller.principal, &DELETE)?;
        self.decide(caller, &DELETE, || {
            Box::pin(async {
                let node = self.writable_node(&caller.principal, id).await?;
                let now = self.clock.now();
                let closed = Change::CloseEdgesOf { id: id.0, at: now };
                Ok(((), vec![hidden(node, now), closed]))
            })
        })
        .await
    }

    /// Removes a node for good, hidden before or not.
    pub async fn erase_node(&self, caller: &Caller, id: NodeId) -> Result<Receipt> {
        self.authorize(&caller.principal, &ERASE)?;
        let erased = self.erase(caller, &ERASE, || {
            Box::pin(async {
                let mut receipt = self.receipt(SubjectKind::Node, &id.to_string());
                let node = self.readable_node(&caller.principal, id).await?;
                let mut burial = Burial::begin(self, caller).await?;
                burial.node(node)?;
                let changes = burial.finish(&mut receipt);
                Ok((receipt, changes))
            })
        });
        let mut receipt: Receipt = erased.await?;
        receipt.subject_id = id.to_string();
        Ok(receipt)
    }

    /// Removes for good what came from a connection. The same source may be connected again, so
    /// no tombstone keeps its names away, only these records of them.
    pub async fn erase_connection(&self, caller: &Caller, connection_id: &str) -> Result<Receipt> {
        self.authorize(&caller.principal, &ERASE_CONNECTION)?;
        check_name("connection_id", connection_id)?;
        let erased = self.erase(caller, &ERASE_CONNECTION, || {
            Box::pin(async {
                let slice = self.store.measure_connection(caller.scope(), connection_id).await?;
                self.check_connection(&caller.principal, connection_id).await?;
                let mut receipt = self.receipt(SubjectKind::Connection, connection_id);
                let mut burial = Burial::begin(self, caller).await?;
                let nodes = self.store.list_nodes_of_connection(caller.scope(), connection_id);
                nodes.await?.into_iter().try_for_each(|node| burial.record(node.0))?;
                let mut changes = burial.finish(&mut receipt);
                let connection_id = connection_id.to_owned();
                changes.push(Change::EraseConnection { connection_id, slice });
                Ok((receipt, changes))
            })
        });
        let mut receipt: Receipt = erased.await?;
        connection_id.clone_into(&mut receipt.subject_id);
        Ok(receipt)
    }

    /// Whether the caller may write to every domain that came from a connection. It hears of no
    /// domain that it may not even read, and of no connection that has nothing else.
    async fn check_connection(&self, principal: &Principal, connection_id: &str) -> Result<()> {
        let domains = self.store.domains_of_connection(principal.scope(), connection_id).await?;
        let may_read = |domain: &Option<String>| principal.access.may_read(domain.as_deref());
        if !domains.iter().any(may_read) {
            return Err(Error::not_found("connection"));
        }
        for domain in domains.iter().flatten() {
            if !principal.access.may_read(Some(domain)) {
                let Principal { role, .. } = principal;
                return Err(Error::denied(format!(
                    "the role `{role}` may not write to all that came from the connection: that \
                     needs the permission `write` for every domain of it"
                )));
            }
            self.check_write(principal, domain).await?;
        }
        Ok(())
    }

    /// Refuses names that a node other than these has.
    pub(super) async fn refuse_taken_names(
        &self,
        principal: &Principal,
        node: &Node,
        own: &[NodeId],
    ) -> Result<()> {
        if let Some(domain) = &node.domain {
            self.check_write(principal, domain).await?;
        }
        let keys: Vec<_> = node.name_keys().into_iter().map(|(key, _)| key).collect();
        let (channel, node_type) = (&node.channel, &node.node_type);
        let found = self.store.find_names(principal.scope(), channel, node_type, &keys).await?;
        for (key, bearers) in keys.iter().zip(found) {
            let mut bearers = bearers.into_iter().filter(|bearer| bearer.domain == node.domain);
            let other = bearers.find(|bearer| !own.contains(&bearer.node_id));
            if let Some(Bearer { node_id: other, .. }) = other {
                return Err(Error::conflict(format!(
                    "`{key}` is the node {other} already: merge the two, or choose another name"
                )));
            }
        }
        Ok(())
    }
}

/// A node as it is after it was hidden.
pub(crate) fn hidden(mut node: Node, now: Timestamp) -> Change {
    node.deleted_at = Some(now);
    node.stamp(now);
    Change::UpdateNode { node, renamed: true, retold: false }
}
