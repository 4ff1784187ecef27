//! Walks through the graph: from a few records outwards, level by level, within limits.
//!
//! A walk never reads more than it may return: every record's edges are cut at the limit, and
//! the walk ends when the limit or its time is reached. What was left out is said, not hidden.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::Record;
use crate::Mnemic;
use crate::action::{Done, asks_for_history};
use crate::audit::Reading;
use crate::conversation::Said;
use crate::edge::{Edge, check_relation};
use crate::error::{Error, Result};
use crate::grant::Readable;
use crate::page::check_limit;
use crate::principal::{Action, Operation, Principal};
use crate::text::check_name;

pub const DEPTH_MAX: u32 = 3;
const IDS_MAX: usize = 100;
const LIMIT_DEFAULT: usize = 100;
const LIMIT_MAX: usize = 1_000;
/// The most relations or types that can be asked for.
pub(super) const WISHES_MAX: usize = 8;
/// Edges that are read at once, whatever the limit.
const EDGES_AT_ONCE: usize = 4_000;
/// Records whose edges are read at once.
const RECORDS_AT_ONCE: usize = 64;
const BUDGET: SignedDuration = SignedDuration::from_millis(250);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// Along the edges.
    Out,
    /// Against them.
    In,
    #[default]
    Both,
}

#[derive(Debug, Clone, Default)]
pub struct Traversal {
    pub ids: Vec<Uuid>,
    pub depth: u32,
    /// Only edges of these relations; all if empty.
    pub relations: Vec<String>,
    /// Only nodes of these types; all if empty. The records it starts from are always there.
    pub types: Vec<String>,
    pub direction: Direction,
    pub limit: Option<usize>,
    /// As it was in the world at this moment.
    pub as_of: Option<Timestamp>,
    /// As far as we knew at this moment.
    pub known_at: Option<Timestamp>,
}

impl Traversal {
    fn check(&self) -> Result<usize> {
        if self.ids.is_empty() || self.ids.len() > IDS_MAX {
            let problem = format!("must have 1 to {IDS_MAX} items, has {}", self.ids.len());
            return Err(Error::invalid("ids", problem));
        }
        if !(1..=DEPTH_MAX).contains(&self.depth) {
            let problem = format!("{} is not between 1 and {DEPTH_MAX}", self.depth);
            return Err(Error::invalid("depth", problem));
        }
        check_wishes("relations", &self.relations, check_relation)?;
        check_types(&self.types)?;
        check_limit(self.limit, LIMIT_DEFAULT, LIMIT_MAX)
    }
}

pub(super) fn check_types(types: &[String]) -> Result<()> {
    check_wishes("types", types, check_name)
}

fn check_wishes(
    field: &str,
    wishes: &[String],
    check: impl Fn(&str, &str) -> Result<()>,
) -> Result<()> {
    if wishes.len() > WISHES_MAX {
        let problem = format!("{} are more than the limit of {WISHES_MAX}", wishes.len());
        return Err(Error::invalid(field, problem));
    }
    wishes.iter().enumerate().try_for_each(|(i, wish)| check(&format!("{field}[{i}]"), wish))
}

/// Which edges a walk may take and what it may meet.
#[derive(Debug, Clone)]
pub struct Walk {
    pub relations: Vec<String>,
    pub types: Vec<String>,
    pub direction: Direction,
    pub as_of: Option<Timestamp>,
    pub known_at: Option<Timestamp>,
    pub now: Timestamp,
    /// Whose records can be seen.
    pub readable: Readable,
}

/// What one record leads to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hops {
    pub found: Vec<(Edge, Record)>,
    /// Whether it may lead to more than was read.
    pub cut: bool,
}

/// A record that a walk came to, and after how many steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    pub record: Record,
    pub depth: u32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subgraph {
    /// Nearest first.
    pub nodes: Vec<Visit>,
    /// Those between the nodes that the walk took.
    pub edges: Vec<Edge>,
    /// Whether a limit ended the walk, so that there may be more.
    pub truncated: bool,
}

static TRAVERSE: Operation = Operation::new("node.traverse", Action::ReadGraph);

impl Mnemic {
    /// What can be reached from these records; ids of nothing lead nowhere.
    pub async fn traverse(&self, principal: &Principal, traversal: &Traversal) -> Result<Subgraph> {
        self.authorize(principal, &TRAVERSE)?;
        let limit = traversal.check()?;
        let started = self.clock.now();
        let walk = Walk {
            relations: distinct(&traversal.relations),
            types: distinct(&traversal.types),
            direction: traversal.direction,
            as_of: traversal.as_of,
            known_at: traversal.known_at,
            now: started,
            readable: principal.access.readable(),
        };
        let mut walker = Walker::new(limit);
        let records = self.visible_records(principal, &traversal.ids).await?;
        let open = traversal.ids.iter().zip(&records).filter(|(_, record)| record.is_none());
        let open: Vec<_> = open.map(|(id, _)| *id).collect();
        let said = self.find_said(principal, &open).await?;
        let done = self.find_done(principal, &open).await?;
        let derived = said.into_iter().map(Record::Said).chain(done.into_iter().map(Record::Done));
        let mut frontier = walker.start(records.into_iter().flatten().chain(derived));
        for depth in 1..=traversal.depth {
            let mut next = Vec::new();
            for from in frontier.chunks(walker.at_once()) {
                if walker.is_done() || self.clock.now().duration_since(started) > BUDGET {
                    walker.graph.truncated = true;
                    break;
                }
                let edges_max = limit.saturating_add(1);
                let scope = principal.scope();
                let mut hops = self.store.step(scope, from, &walk, edges_max).await?;
                for said in from.iter().filter_map(|id| walker.said.get(id)) {
                    hops.push(self.step_said(scope, said, &walk, edges_max).await?);
                }
                hops.extend(self.step_through_history(principal, from, &walker, &walk).await?);
                next.extend(walker.take(depth, hops));
            }
            frontier = next;
        }
        let graph = walker.graph;
        let found = graph.nodes.iter().map(|v| (v.record.id(), v.record.channel())).collect();
        let reading = Reading { found, ..Reading::default() };
        self.note_read(principal, &TRAVERSE, &reading, started);
        Ok(graph)
    }
}

impl Mnemic {
    /// What those of these records that are of telemetry lead to and, where the walk asks for it,
    /// what was done to the others.
    async fn step_through_history(
        &self,
        principal: &Principal,
        from: &[Uuid],
        walker: &Walker,
        walk: &Walk,
    ) -> Result<Vec<Hops>> {
        let edges_max = walker.limit.saturating_add(1);
        let mut hops = Vec::new();
        for id in from {
            if let Some(done) = walker.done.get(id) {
                hops.push(self.step_done(principal, done, walk, edges_max).await?);
            } else if asks_for_history(walk) && !walker.said.contains_key(id) {
                hops.push(self.step_to_history(principal, *id, walk, edges_max).await?);
            }
        }
        Ok(hops)
    }
}

fn distinct(wishes: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    wishes.iter().filter(|wish| seen.insert(wish.as_str())).cloned().collect()
}

/// The graph while it is gathered.
struct Walker {
    limit: usize,
    graph: Subgraph,
    met: HashSet<Uuid>,
    taken: HashSet<Uuid>,
    /// What was met of conversations, whose edges are no rows.
    said: HashMap<Uuid, Said>,
    /// The same of telemetry.
    done: HashMap<Uuid, Done>,
    /// Whether there was no room for something.
    full: bool,
}

impl Walker {
    fn new(limit: usize) -> Self {
        let (graph, met, taken) = (Subgraph::default(), HashSet::new(), HashSet::new());
        Self { limit, graph, met, taken, said: HashMap::new(), done: HashMap::new(), full: false }
    }

    fn start(&mut self, records: impl Iterator<Item = Record>) -> Vec<Uuid> {
        let mut frontier = Vec::new();
        for record in records {
            let id = record.id();
            if !self.met.contains(&id) && self.meet(record, 0) {
                frontier.push(id);
            }
        }
        frontier
    }

    fn at_once(&self) -> usize {
        (EDGES_AT_ONCE / self.limit.max(1)).clamp(1, RECORDS_AT_ONCE)
    }

    fn is_done(&self) -> bool {
        self.full
    }

    /// Takes edges, and the records that are new; those are where the next level starts.
    fn take(&mut self, depth: u32, hops: Vec<Hops>) -> Vec<Uuid> {
        let mut next = Vec::new();
        for hop in hops {
            self.graph.truncated |= hop.cut;
            for (edge, record) in hop.found {
                let id = record.id();
                if !self.met.contains(&id) {
                    if !self.meet(record, depth) {
                        continue;
                    }
                    next.push(id);
                }
                if self.taken.insert(edge.id.0) {
                    self.graph.edges.push(edge);
                }
            }
        }
        next
    }

    /// Whether there was room.
    fn meet(&mut self, record: Record, depth: u32) -> bool {
        if self.graph.nodes.len() >= self.limit {
            (self.full, self.graph.truncated) = (true, true);
            return false;
        }
        self.met.insert(record.id());
        if let Record::Said(said) = &record {
            self.said.insert(said.id(), said.clone());
        }
        if let Record::Done(done) = &record {
            self.done.insert(done.id(), done.clone());
        }
        self.graph.nodes.push(Visit { record, depth });
        true
    }
}
