//! What a query is about: nodes that it names, and few that are near its meaning. They lead to the
//! memories about them and about what they are joined to, and stand in the answer themselves.
//!
//! Everything here is cut: how many names are looked up, how many nodes are followed, how many
//! memories are read of each. An entity with a million memories costs as much as one with ten.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::expand::{Expansion, Reach};
use super::filter::SearchFilter;
use super::search::{QueryVector, Quest};
use super::{Hit, ItemKind, names};
use crate::Mnemic;
use crate::error::Result;
use crate::ids::NodeId;
use crate::node::Node;
use crate::principal::Principal;

/// Nodes that a query can name.
const NAMED_MAX: usize = 8;
/// Nodes of one name, which may be of several types or channels.
const SAME_NAME_MAX: usize = 3;
/// Nodes that are near the meaning of a query.
const MEANT_MAX: usize = 5;
/// A cosine below this says nothing about a short text such as a name.
const MEANT_MIN: f32 = 0.4;
/// Neighbours that are shown of each entity.
const NEIGHBOURS_MAX: usize = 10;
/// Neighbours, of all entities together, whose memories are read.
const FOLLOWED_MAX: usize = 20;
/// Memories that are read of each node, besides those that were found by other techniques.
const ABOUT_MAX: usize = 5;
/// How long it may take to find entities before their memories are left alone.
const BUDGET: SignedDuration = SignedDuration::from_millis(250);

/// How much an entity counts that is named, that is as near as can be, and that is next to one.
const NAMED: f64 = 0.8;
const MEANT: f64 = 0.5;
const NEXT: f64 = 0.4;

/// A filter at a certain time.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'f> {
    pub filter: &'f SearchFilter,
    pub now: Timestamp,
}

/// Something that the query is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub node: Node,
    /// 1 for a name, else the cosine.
    pub score: f64,
    pub matched: Matched,
    pub neighbours: Vec<Neighbour>,
}

impl Entity {
    /// What is told by showing it, for the audit.
    pub(crate) fn found(&self) -> impl Iterator<Item = (Uuid, &str)> {
        let neighbours = self.neighbours.iter().map(|it| (it.id.0, it.channel.as_str()));
        std::iter::once(self.node.found()).chain(neighbours)
    }
}

/// How a query speaks of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// By its name or an alias.
    Name,
    Meaning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    pub id: NodeId,
    pub node_type: String,
    pub name: String,
    pub channel: String,
    pub relation: String,
    /// Whether the relation leads from the entity to the neighbour.
    pub outgoing: bool,
}

/// A step on the way from the query to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    pub id: NodeId,
    pub name: String,
}

/// What the entities of a query came to.
#[derive(Default)]
pub(super) struct Found {
    pub entities: Vec<Entity>,
    pub expansion: Expansion,
    /// Whether there was no time for their memories.
    pub late: bool,
}

impl Mnemic {
    /// The nodes that the query names, the longest names first.
    pub(super) async fn nodes_named(&self, quest: &Quest) -> Result<Vec<NodeId>> {
        let mentions = names::mentions(&quest.request.query);
        let distinct: HashSet<&str> = mentions.iter().map(|m| m.key.as_str()).collect();
        let keys: Vec<String> = distinct.into_iter().map(str::to_owned).collect();
        let bearers = self.store.find_named(quest.scope, &keys, &quest.sight()).await?;
        let known: HashMap<String, Vec<NodeId>> = keys.into_iter().zip(bearers).collect();
        let bearers = |m: names::Mention| {
            let nodes = known.get(&m.key).filter(|nodes| !nodes.is_empty())?.clone();
            Some((m, nodes))
        };
        let found = names::longest(mentions.into_iter().filter_map(bearers).collect());
        let mut nodes: Vec<NodeId> = Vec::new();
        for id in found.into_iter().flat_map(|(_, ids)| ids.into_iter().take(SAME_NAME_MAX)) {
            if nodes.len() < NAMED_MAX && !nodes.contains(&id) {
                nodes.push(id);
            }
        }
        Ok(nodes)
    }

    /// The nodes that are near the query.
    pub(super) async fn nodes_near(&self, quest: &Quest, query: &QueryVector) -> Result<Vec<Hit>> {
        // A node has no time in the world; what is told of it has.
        let filter = SearchFilter {
            channels: quest.filter.channels.clone(),
            known_at: quest.filter.known_at,
            readable: quest.filter.readable.clone(),
            ..SearchFilter::default()
        };
        let (kind, limit) = (ItemKind::Node, MEANT_MAX + NAMED_MAX);
        let search = self.store.search_vectors(
            quest.scope,
            kind,
            query.embedder.stamp(),
            &query.vector,
            &filter,
            limit,
        );
        let mut hits = search.await?;
        hits.retain(|hit| hit.score >= MEANT_MIN);
        Ok(hits)
    }

    /// The entities, what they are joined to, and the memories about both. `known` is what other
    /// techniques found, best first, with the share of the best one's score.
    pub(super) async fn expand(
        &self,
        quest: &Quest,
        named: Vec<NodeId>,
        near: Vec<Hit>,
        known: &[(Uuid, f64)],
    ) -> Result<Found> {
        let roots = roots(named, near);
        if roots.is_empty() {
            return Ok(Found::default());
        }
        let (scope, sight) = (quest.scope, quest.sight());
        let ids: Vec<NodeId> = roots.iter().map(|root| root.id).collect();
        let memories: Vec<Uuid> = known.iter().map(|(id, _)| *id).collect();
        let (nodes, neighbours, subjects) = tokio::join!(
            self.store.lookup_nodes(scope, &ids),
            self.store.list_neighbours(scope, &ids, &sight, NEIGHBOURS_MAX),
            self.store.list_subjects(scope, &memories, &sight),
        );
        let entities = met(&quest.principal, roots, nodes?, neighbours?);
        let late = self.clock.now().duration_since(quest.now) > BUDGET;
        if late || !quest.request.includes_memories() {
            return Ok(Found { entities, expansion: Expansion::default(), late });
        }
        let reaches = reaches(&entities);
        let followed: Vec<NodeId> = reaches.iter().map(Reach::id).collect();
        let about = self.store.list_about(scope, &followed, &sight, ABOUT_MAX).await?;
        let expansion = Expansion::new(&reaches, known, &subjects?, &about);
        Ok(Found { entities, expansion, late })
    }
}

/// A node that the query speaks of.
struct Root {
    id: NodeId,
    matched: Matched,
    score: f64,
}

fn roots(named: Vec<NodeId>, near: Vec<Hit>) -> Vec<Root> {
    let near = near.into_iter().filter(|hit| !named.contains(&NodeId(hit.id))).take(MEANT_MAX);
    let near: Vec<_> = near
        .map(|hit| {
            let score = f64::from(hit.score).min(1.0);
            Root { id: NodeId(hit.id), matched: Matched::Meaning, score }
        })
        .collect();
    let named = named.into_iter().map(|id| Root { id, matched: Matched::Name, score: 1.0 });
    named.chain(near).collect()
}

/// The roots as entities, in their order. One may have been deleted, or moved to another domain,
/// since it was found.
fn met(
    principal: &Principal,
    roots: Vec<Root>,
    nodes: Vec<Node>,
    neighbours: Vec<Vec<Neighbour>>,
) -> Vec<Entity> {
    let mut nodes: HashMap<NodeId, Node> = nodes
        .into_iter()
        .filter(|node| node.deleted_at.is_none())
        .filter(|node| principal.access.may_read(node.domain.as_deref()))
        .map(|node| (node.id, node))
        .collect();
    let entity = |(root, neighbours): (Root, Vec<Neighbour>)| {
        let node = nodes.remove(&root.id)?;
        Some(Entity { node, score: root.score, matched: root.matched, neighbours })
    };
    roots.into_iter().zip(neighbours).filter_map(entity).collect()
}

/// The entities and their neighbours, each at its greatest weight, the entities first.
fn reaches(entities: &[Entity]) -> Vec<Reach> {
    let step = |id, name: &str| Through { id, name: name.to_owned() };
    let mut reaches: Vec<Reach> = entities
        .iter()
        .map(|entity| {
            let weight = match entity.matched {
                Matched::Name => NAMED,
                Matched::Meaning => MEANT * entity.score,
            };
            Reach { weight, path: vec![step(entity.node.id, &entity.node.name)] }
        })
        .collect();
    let mut met: HashSet<NodeId> = entities.iter().map(|entity| entity.node.id).collect();
    for place in 0..entities.len() {
        for neighbour in &entities[place].neighbours {
            if met.len() < entities.len() + FOLLOWED_MAX && met.insert(neighbour.id) {
                let Reach { weight, path } = &reaches[place];
                let onward = step(neighbour.id, &neighbour.name);
                let path = path.iter().cloned().chain([onward]).collect();
                reaches.push(Reach { weight: weight * NEXT, path });
            }
        }
    }
    reaches
}
