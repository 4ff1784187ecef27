//! Whatever happens to the graph, in whatever order: nothing dangles, a name is one node's alone,
//! and both engines give the same answers.

use std::collections::HashMap;

use mnemic_core::ids::{EdgeId, NodeId};
use mnemic_core::memory::{MemoryPatch, NewMemory};
use mnemic_core::node::{NewNode, NodePatch, NodeSearch, NodeSplit, Record, Traversal};
use mnemic_core::{Kind, Result};
use mnemic_store::Statement;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use uuid::Uuid;

use crate::node::link;
use crate::world::{DAY, World, text};

const NAMES: [&str; 6] = ["Ana", "Bo", "Cy", "Di", "Ed", "Flo"];
const RELATIONS: [&str; 2] = ["KNOWS", "LIKES"];

static DANGLING: Statement = Statement::workspace(
    "test.dangling",
    "SELECT count(*) AS rows FROM edges e
     WHERE e.workspace_id = $1 AND e.superseded_at IS NULL
       AND (NOT EXISTS (SELECT 1 FROM nodes n WHERE n.workspace_id = $1 AND n.deleted_at IS NULL
                          AND n.id = e.source_id)
            AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace_id = $1
                              AND m.id = e.source_id)
            OR NOT EXISTS (SELECT 1 FROM nodes n WHERE n.workspace_id = $1
                             AND n.deleted_at IS NULL AND n.id = e.target_id)
            AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace_id = $1
                              AND m.id = e.target_id))",
);
static DEAD_NAMES: Statement = Statement::workspace(
    "test.dead_names",
    "SELECT (SELECT count(*) FROM node_aliases a WHERE a.workspace_id = $1 AND NOT EXISTS
                (SELECT 1 FROM nodes n WHERE n.workspace_id = $1 AND n.id = a.node_id
                   AND n.deleted_at IS NULL AND n.channel = a.channel AND n.type = a.type))
          + (SELECT count(*) FROM node_words o WHERE o.workspace_id = $1 AND NOT EXISTS
                (SELECT 1 FROM nodes n WHERE n.workspace_id = $1 AND n.id = o.node_id
                   AND n.deleted_at IS NULL)) AS rows",
);

/// One thing that happens. Records are named by the order of their creation.
#[derive(Debug, Clone)]
enum Event {
    Upsert { name: usize, aliases: Vec<usize> },
    Rename { node: usize, name: usize, aliases: Vec<usize> },
    Link { source: usize, relation: usize, target: usize },
    Unlink(usize),
    Merge(usize, usize),
    Split { node: usize, name: usize, aliases: Vec<usize>, edges: Vec<usize> },
    Delete(usize),
    Erase(usize),
    Remember(Vec<usize>),
    Rewrite { memory: usize, entities: Vec<usize> },
}

fn event() -> impl Strategy<Value = Event> {
    let name = || 0..NAMES.len();
    let names = || proptest::collection::vec(name(), 0..3);
    let (record, edge) = (|| 0..10_usize, || 0..12_usize);
    prop_oneof![
        5 => (name(), names()).prop_map(|(name, aliases)| Event::Upsert { name, aliases }),
        2 => (record(), name(), names())
            .prop_map(|(node, name, aliases)| Event::Rename { node, name, aliases }),
        6 => (record(), 0..RELATIONS.len(), record())
            .prop_map(|(source, relation, target)| Event::Link { source, relation, target }),
        2 => edge().prop_map(Event::Unlink),
        3 => (record(), record()).prop_map(|(gone, kept)| Event::Merge(gone, kept)),
        2 => (record(), name(), names(), proptest::collection::vec(edge(), 0..3))
            .prop_map(|(node, name, aliases, edges)| Event::Split { node, name, aliases, edges }),
        1 => record().prop_map(Event::Delete),
        1 => record().prop_map(Event::Erase),
        3 => names().prop_map(Event::Remember),
        1 => (record(), names())
            .prop_map(|(memory, entities)| Event::Rewrite { memory, entities }),
    ]
}

#[test]
fn any_history_of_the_graph_is_the_same_on_both_engines() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config =
        Config { cases: 12, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
    let histories = proptest::collection::vec(event(), 10..40);
    let outcome = TestRunner::new(config).run(&histories, |events| {
        runtime.block_on(async {
            let mut embedded = History::new(World::new(crate::place::embedded()).await);
            let mut shared = History::new(World::new(crate::place::shared()).await);
            for event in &events {
                let said = embedded.happen(event).await;
                assert_eq!(said, shared.happen(event).await, "{event:?}");
                embedded.check().await;
                shared.check().await;
            }
            assert_eq!(embedded.picture().await, shared.picture().await);
        });
        Ok(())
    });
    outcome.unwrap();
}

struct History {
    world: World,
    /// Nodes and memories, in the order in which they came up.
    records: Vec<Uuid>,
    edges: Vec<EdgeId>,
}

impl History {
    fn new(world: World) -> Self {
        Self { world, records: Vec::new(), edges: Vec::new() }
    }

    /// Lets something happen and says what came of it, in words that do not depend on the engine.
    async fn happen(&mut self, event: &Event) -> String {
        self.world.clock.forward(DAY);
        match self.attempt(event).await {
            Ok(said) => said,
            Err(error) => {
                let expected = [Kind::NotFound, Kind::Conflict, Kind::Invalid];
                assert!(expected.contains(&error.kind()), "{event:?}: {error}");
                error.code().word().to_owned()
            }
        }
    }

    async fn attempt(&mut self, event: &Event) -> Result<String> {
        let (mnemic, caller) = (self.world.mnemic.clone(), self.world.as_operator());
        Ok(match event {
            Event::Upsert { name, aliases } => {
                let new = NewNode { aliases: names(aliases), ..thing(NAMES[*name]) };
                let upserted = mnemic.upsert_node(&caller, &new).await?;
                let place = self.place(upserted.node.id.0);
                format!("{} {place} {:?}", upserted.created, upserted.node.aliases)
            }
            Event::Rename { node, name, aliases } => {
                let name = Some(NAMES[*name].to_owned());
                let patch =
                    NodePatch { name, aliases: Some(names(aliases)), ..NodePatch::default() };
                let node = mnemic.update_node(&caller, self.node(*node), &patch).await?;
                format!("{} {:?}", node.name, node.aliases)
            }
            Event::Link { source, relation, target } => {
                let (source, target) = (self.node(*source).0, self.node(*target).0);
                let new = link(source, RELATIONS[*relation], target);
                let linked = mnemic.link(&caller, &new).await?;
                if linked.created {
                    self.edges.push(linked.edge.id);
                }
                linked.created.to_string()
            }
            Event::Unlink(edge) => {
                mnemic.unlink(&caller, self.edge(*edge)).await?;
                "closed".to_owned()
            }
            Event::Merge(gone, kept) => {
                let (gone, kept) = (self.node(*gone), self.node(*kept));
                format!("{:?}", mnemic.merge_nodes(&caller, gone, kept).await?.aliases)
            }
            Event::Split { node, name, aliases, edges } => {
                let split = NodeSplit {
                    name: NAMES[*name].to_owned(),
                    aliases: names(aliases),
                    edge_ids: edges.iter().map(|&edge| self.edge(edge)).collect(),
                    ..NodeSplit::default()
                };
                let done = mnemic.split_node(&caller, self.node(*node), &split).await?;
                let place = self.place(done.split_off.id.0);
                format!("{place} {:?} {:?}", done.node.aliases, done.split_off.aliases)
            }
            Event::Delete(node) => {
                mnemic.delete_node(&caller, self.node(*node)).await?;
                "deleted".to_owned()
            }
            Event::Erase(node) => {
                mnemic.erase_node(&caller, self.node(*node)).await?;
                "erased".to_owned()
            }
            Event::Remember(entities) => {
                let new = NewMemory { entities: names(entities), ..text("something") };
                let memory = mnemic.create_memory(&caller, new).await?;
                self.place(memory.id.0).to_string()
            }
            Event::Rewrite { memory, entities } => {
                let id = mnemic_core::ids::MemoryId(self.node(*memory).0);
                let entities = Some(names(entities));
                let patch = MemoryPatch { entities, ..MemoryPatch::default() };
                format!("{:?}", mnemic.update_memory(&caller, id, &patch).await?.entities)
            }
        })
    }

    /// A record that came up, or an id that nobody has.
    fn node(&self, place: usize) -> NodeId {
        NodeId(self.records.get(place).copied().unwrap_or(Uuid::from_u128(place as u128)))
    }

    fn edge(&self, place: usize) -> EdgeId {
        self.edges.get(place).copied().unwrap_or(EdgeId(Uuid::from_u128(place as u128)))
    }

    /// The number of a record; one that is new is noted.
    fn place(&mut self, id: Uuid) -> usize {
        let known = self.records.iter().position(|record| *record == id);
        known.unwrap_or_else(|| {
            self.records.push(id);
            self.records.len() - 1
        })
    }

    async fn check(&self) {
        let who = &self.world.operator;
        assert_eq!(self.world.count(who, &DANGLING).await, 0, "an edge dangles");
        assert_eq!(self.world.count(who, &DEAD_NAMES).await, 0, "a name without its node");
        for name in NAMES {
            let search = NodeSearch { query: name.to_owned(), ..NodeSearch::default() };
            for hit in self.world.mnemic.search_nodes(who, &search).await.unwrap() {
                let keys = hit.node.name_keys();
                assert!(keys.iter().any(|(key, _)| *key == name.to_lowercase()), "{name}: {hit:?}");
            }
        }
    }

    /// What a walk from every record shows, without ids.
    async fn picture(&mut self) -> Vec<String> {
        let mut picture = Vec::new();
        for place in 0..self.records.len() {
            let ids = vec![self.records[place]];
            let traversal = Traversal { ids, depth: 2, ..Traversal::default() };
            let who = self.world.operator.clone();
            let graph = self.world.mnemic.traverse(&who, &traversal).await.unwrap();
            let mut shown = HashMap::new();
            for visit in &graph.nodes {
                let label = match &visit.record {
                    Record::Node(node) => format!("{} {:?}", node.name, node.aliases),
                    Record::Memory(memory) => memory.text.clone(),
                    Record::Said(said) => said.text(),
                    Record::Done(done) => done.text(),
                };
                picture.push(format!("{place}: {} {label}", visit.depth));
                shown.insert(visit.record.id(), label);
            }
            for edge in &graph.edges {
                let (source, target) = (&shown[&edge.source_id], &shown[&edge.target_id]);
                picture.push(format!("{place}: {source} {} {target}", edge.relation));
            }
        }
        picture
    }
}

fn names(places: &[usize]) -> Vec<String> {
    places.iter().map(|&place| NAMES[place].to_owned()).collect()
}

/// Of the type that names in memories become, so that the two meet.
fn thing(name: &str) -> NewNode {
    NewNode { node_type: "entity".to_owned(), name: name.to_owned(), ..NewNode::default() }
}
