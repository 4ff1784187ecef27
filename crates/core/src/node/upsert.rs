//! How nodes come into being: found by name or alias among those of their channel and type, and
//! only where there is none made anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    ENTITY, Node, Properties, SALIENCE_DEFAULT, check_description, check_properties,
    check_salience, check_type, merge_properties,
};
use crate::Mnemic;
use crate::domain::check_domain;
use crate::erasure::Graves;
use crate::error::{Error, Result};
use crate::ids::NodeId;
use crate::memory::{BATCH_ITEMS_MAX, GLOBAL_CHANNEL, Memory, at, check_names};
use crate::principal::{Action, Caller, Operation};
use crate::store::{Bearer, Change};
use crate::text::{check_name, check_optional_name, fold_name};

#[derive(Debug, Clone, Default)]
pub struct NewNode {
    pub node_type: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub channel: Option<String>,
    pub domain: Option<String>,
    pub description: Option<String>,
    pub properties: Properties,
    pub salience: Option<f64>,
    pub connection_id: Option<String>,
    /// Make it even if one of its names was erased, and lift the tombstone.
    pub revive: bool,
}

impl NewNode {
    fn check(&self) -> Result<()> {
        check_type(&self.node_type)?;
        check_name("name", &self.name)?;
        check_names("aliases", &self.aliases)?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_domain("domain", self.domain.as_deref())?;
        check_optional_name("connection_id", self.connection_id.as_deref())?;
        check_description(self.description.as_deref())?;
        check_salience(self.salience)?;
        check_properties(&self.properties)
    }

    /// The names under which it is looked for, each once.
    fn keys(&self) -> Vec<String> {
        let all = std::iter::once(&self.name).chain(&self.aliases);
        let mut keys: Vec<String> = Vec::new();
        for key in all.map(|name| fold_name(name)) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Brings what is given into a node that is there; whether anything changed.
    fn merge_into(&self, node: &mut Node) -> bool {
        let before = node.clone();
        node.add_aliases(std::iter::once(&self.name).chain(&self.aliases));
        merge_properties(&mut node.properties, &self.properties);
        if self.description.is_some() {
            node.description.clone_from(&self.description);
        }
        if self.connection_id.is_some() {
            node.connection_id.clone_from(&self.connection_id);
        }
        if let Some(salience) = self.salience {
            node.salience = salience;
        }
        *node != before
    }
}

/// A node, and whether it was not there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Upserted {
    pub node: Node,
    pub created: bool,
}

static CREATE: Operation = Operation::new("node.create", Action::WriteGraph);

impl Mnemic {
    /// Makes a node, or brings what is given into the one that has its name or an alias.
    pub async fn upsert_node(&self, caller: &Caller, new: &NewNode) -> Result<Upserted> {
        self.authorize(&caller.principal, &CREATE)?;
        new.check()?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut weaving = Weaving::new(self, caller);
                let id = weaving.upsert(new).await?;
                let upserted = weaving.upserted(id)?;
                Ok((upserted, weaving.finish()))
            })
        })
        .await
    }

    /// All of them or, if one is refused, none; the error names which.
    pub async fn upsert_nodes(&self, caller: &Caller, news: &[NewNode]) -> Result<Vec<Upserted>> {
        self.authorize(&caller.principal, &CREATE)?;
        if news.is_empty() || news.len() > BATCH_ITEMS_MAX {
            let problem = format!("must have 1 to {BATCH_ITEMS_MAX} items, has {}", news.len());
            return Err(Error::invalid("nodes", problem));
        }
        for (i, new) in news.iter().enumerate() {
            new.check().map_err(|e| at(i, &e))?;
        }
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut weaving = Weaving::new(self, caller);
                let mut ids = Vec::with_capacity(news.len());
                for (i, new) in news.iter().enumerate() {
                    ids.push(weaving.upsert(new).await.map_err(|e| at(i, &e))?);
                }
                let upserted = ids.into_iter().map(|id| weaving.upserted(id));
                let upserted = upserted.collect::<Result<Vec<_>>>()?;
                Ok((upserted, weaving.finish()))
            })
        })
        .await
    }
}

/// Where a name counts: in a channel, among nodes of a type and a domain.
type Place = (String, String, Option<String>, String);

/// A node as a request leaves it.
struct Draft {
    node: Node,
    created: bool,
    changed: bool,
    /// Whether its name or description is another.
    retold: bool,
}

/// The nodes that one request makes or changes, while they are gathered. What an earlier item
/// of a batch made, a later one finds.
pub(crate) struct Weaving<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    now: Timestamp,
    pub(crate) graves: Graves<'a>,
    drafts: BTreeMap<NodeId, Draft>,
    names: HashMap<Place, NodeId>,
    /// What each name of an entity stands for in a channel and a domain.
    entities: HashMap<(String, Option<String>, String), NodeId>,
}

impl<'a> Weaving<'a> {
    pub(crate) fn new(mnemic: &'a Mnemic, caller: &'a Caller) -> Self {
        let now = mnemic.clock.now();
        let (drafts, names, entities) = (BTreeMap::new(), HashMap::new(), HashMap::new());
        let graves = Graves::new(mnemic, caller);
        Self { mnemic, caller, now, graves, drafts, names, entities }
    }

    pub(crate) fn finish(self) -> Vec<Change> {
        let mut changes = self.graves.finish();
        for Draft { mut node, created, changed, retold } in self.drafts.into_values() {
            if changed && let Some(domain) = &node.domain {
                changes.push(self.mnemic.domain_change(&self.caller.principal, domain));
            }
            if created {
                changes.push(Change::AddNode(node));
            } else if changed {
                node.stamp(self.now);
                changes.push(Change::UpdateNode { node, renamed: true, retold });
            }
        }
        changes
    }

    fn upserted(&self, id: NodeId) -> Result<Upserted> {
        let draft = self.drafts.get(&id).ok_or_else(|| Error::internal("a node got lost"))?;
        let (mut node, created) = (draft.node.clone(), draft.created);
        if draft.changed && !created {
            node.stamp(self.now);
        }
        Ok(Upserted { node, created })
    }

    async fn upsert(&mut self, new: &NewNode) -> Result<NodeId> {
        let channel = new.channel.as_deref().unwrap_or(GLOBAL_CHANNEL);
        let bearers = self.find(channel, new).await?;
        let found: BTreeSet<_> = bearers.iter().map(|(_, id)| *id).collect();
        let mut found = found.into_iter();
        let (first, second) = (found.next(), found.next());
        if let (Some(first), Some(second)) = (first, second) {
            return Err(ambiguous(&bearers, first, second));
        }
        let is_known = |name: &str| bearers.iter().any(|(key, _)| *key == fold_name(name));
        let names = std::iter::once(&new.name).chain(&new.aliases).map(String::as_str);
        let added: Vec<_> = names.filter(|name| !is_known(name)).collect();
        self.graves.admit_names(channel, &new.node_type, &added, new.revive).await?;
        let id = match first {
            None => self.make(channel, new),
            Some(id) => self.merge(id, new).await?,
        };
        self.claim_names(id)?;
        Ok(id)
    }

    /// Who has the given names in the channel, type and domain, in this request or in the store.
    async fn find(&self, channel: &str, new: &NewNode) -> Result<Vec<(String, NodeId)>> {
        let keys = new.keys();
        let (scope, node_type) = (self.caller.scope(), &new.node_type);
        let stored = self.mnemic.store.find_names(scope, channel, node_type, &keys).await?;
        let mut found = Vec::new();
        for (key, bearers) in keys.into_iter().zip(stored) {
            let place = (channel.to_owned(), node_type.clone(), new.domain.clone(), key);
            let stored = bearers.iter().find(|bearer| bearer.domain == new.domain);
            let id = self.names.get(&place).copied().or(stored.map(|bearer| bearer.node_id));
            found.extend(id.map(|id| (place.3, id)));
        }
        Ok(found)
    }

    fn make(&mut self, channel: &str, new: &NewNode) -> NodeId {
        let now = self.now;
        let mut properties = Properties::new();
        merge_properties(&mut properties, &new.properties);
        let mut node = Node {
            id: NodeId(self.mnemic.ids.next(now)),
            node_type: new.node_type.clone(),
            name: new.name.clone(),
            aliases: vec![],
            channel: channel.to_owned(),
            domain: new.domain.clone(),
            description: new.description.clone(),
            properties,
            salience: new.salience.unwrap_or(SALIENCE_DEFAULT),
            connection_id: new.connection_id.clone(),
            first_seen: now,
            last_accessed: None,
            access_count: 0,
            created_by: self.caller.principal.name().to_owned(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            revision: 1,
        };
        node.add_aliases(&new.aliases);
        let id = node.id;
        self.drafts.insert(id, Draft { node, created: true, changed: true, retold: true });
        id
    }

    async fn merge(&mut self, id: NodeId, new: &NewNode) -> Result<NodeId> {
        if !self.drafts.contains_key(&id) {
            // A name without its node: it was deleted between the two reads.
            let node = self.mnemic.store.lookup_node(self.caller.scope(), id).await?;
            let node = node.filter(|node| node.deleted_at.is_none());
            let node = node.ok_or_else(super::lost_race)?;
            if let Some(domain) = &node.domain {
                self.mnemic.check_write(&self.caller.principal, domain).await?;
            }
            let draft = Draft { node, created: false, changed: false, retold: false };
            self.drafts.insert(id, draft);
        }
        if let Some(draft) = self.drafts.get_mut(&id) {
            let before = draft.node.clone();
            draft.changed |= new.merge_into(&mut draft.node);
            draft.retold |= !draft.node.reads_like(&before);
            draft.node.check_size()?;
        }
        Ok(id)
    }

    /// Lets later items of the request find the node by all of its names.
    fn claim_names(&mut self, id: NodeId) -> Result<()> {
        let draft = self.drafts.get(&id).ok_or_else(|| Error::internal("a node got lost"))?;
        let node = &draft.node;
        self.names.retain(|_, bearer| *bearer != id);
        for (key, _) in node.name_keys() {
            let (channel, node_type) = (node.channel.clone(), node.node_type.clone());
            self.names.insert((channel, node_type, node.domain.clone(), key), id);
        }
        Ok(())
    }
}

/// Entities that memories name.
impl Weaving<'_> {
    /// The node of each name that a memory gives: one of its channel or else of the global one,
    /// of any type, or a new one. The same node may have several of the names. A name that only
    /// other domains know is made anew, and what is made is of the memory's domain, so that
    /// nothing is said of it across a border.
    pub(crate) async fn entities(&mut self, memory: &Memory, revive: bool) -> Result<Vec<NodeId>> {
        let Memory { channel, domain, entities: names, .. } = memory;
        let place = |name: &str| (channel.clone(), domain.clone(), fold_name(name));
        let unknown: BTreeSet<_> = names
            .iter()
            .map(|name| place(name))
            .filter(|place| !self.entities.contains_key(place))
            .map(|(_, _, key)| key)
            .collect();
        let unknown: Vec<_> = unknown.into_iter().collect();
        let bearers =
            self.mnemic.store.find_bearers(self.caller.scope(), channel, &unknown).await?;
        for (key, bearers) in unknown.into_iter().zip(bearers) {
            if let Some(bearer) = likeliest(memory, bearers) {
                self.entities.insert((channel.clone(), domain.clone(), key), bearer);
            }
        }
        let is_made = |name: &&str| !self.entities.contains_key(&place(name));
        let made: Vec<_> = names.iter().map(String::as_str).filter(is_made).collect();
        self.graves.admit_names(channel, ENTITY, &made, revive).await?;
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            let place = place(name);
            let id = match self.entities.get(&place) {
                Some(id) => *id,
                None => self.make_entity(memory, name),
            };
            self.entities.insert(place, id);
            ids.push(id);
        }
        Ok(ids)
    }

    /// The node of a name without a domain, as a memory of the channel would find it; a new one
    /// is of this type.
    pub(crate) async fn entity(
        &mut self,
        channel: &str,
        node_type: &str,
        name: &str,
    ) -> Result<NodeId> {
        let place = (channel.to_owned(), None, fold_name(name));
        if let Some(id) = self.entities.get(&place) {
            return Ok(*id);
        }
        let keys = [place.2.clone()];
        let found = self.mnemic.store.find_bearers(self.caller.scope(), channel, &keys).await?;
        let known = nearest(channel, None, found.into_iter().flatten());
        let id = if let Some(id) = known {
            id
        } else {
            self.graves.admit_names(channel, node_type, &[name], false).await?;
            let (node_type, name) = (node_type.to_owned(), name.to_owned());
            let id = self.make(channel, &NewNode { node_type, name, ..NewNode::default() });
            self.claim_names(id)?;
            id
        };
        self.entities.insert(place, id);
        Ok(id)
    }

    fn make_entity(&mut self, memory: &Memory, name: &str) -> NodeId {
        let new = NewNode {
            node_type: ENTITY.to_owned(),
            name: name.to_owned(),
            domain: memory.domain.clone(),
            ..NewNode::default()
        };
        self.make(&memory.channel, &new)
    }

    /// Whether the node is made by this request.
    pub(crate) fn makes(&self, id: NodeId) -> bool {
        self.drafts.get(&id).is_some_and(|draft| draft.created)
    }
}

/// Of the memory's domain or of none: the channel's own before the global one's, the domain's own
/// before those of none, entities before other types, older before newer.
fn likeliest(memory: &Memory, bearers: Vec<Bearer>) -> Option<NodeId> {
    nearest(&memory.channel, memory.domain.as_ref(), bearers.into_iter())
}

fn nearest(
    channel: &str,
    domain: Option<&String>,
    bearers: impl Iterator<Item = Bearer>,
) -> Option<NodeId> {
    let is_near = |b: &Bearer| b.domain.is_none() || b.domain.as_ref() == domain;
    let rank = |b: &Bearer| {
        (b.channel != channel, b.domain.as_ref() != domain, b.node_type != ENTITY, b.node_id)
    };
    bearers.filter(is_near).min_by_key(rank).map(|bearer| bearer.node_id)
}

fn ambiguous(bearers: &[(String, NodeId)], first: NodeId, second: NodeId) -> Error {
    let named = |id| bearers.iter().find(|(_, bearer)| *bearer == id).map_or("", |(key, _)| key);
    Error::conflict(format!(
        "`{}` is the node {first} but `{}` is the node {second}: merge the two, or leave one of \
         the names out",
        named(first),
        named(second)
    ))
}
