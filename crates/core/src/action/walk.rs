//! What agents did in the graph: an action leads to the records that it was about
//! (`_mem:references`), a sequence to its actions (`_mem:contains`). What was learned and measured
//! of it stands beside it: `pattern/walk.rs`, `metric/walk.rs`.
//!
//! These edges are no rows: the actions say it all by themselves, so that an action and its place
//! in the graph are one commit by construction. From a node they are taken only where a walk asks
//! for them, because a node that is much used has more of them than of any other.

use jiff::Timestamp;
use uuid::Uuid;

use super::{ActionFilter, AgentAction};
use crate::Mnemic;
use crate::edge::Edge;
use crate::error::Result;
use crate::ids::{ActionId, SequenceId};
use crate::memory::GLOBAL_CHANNEL;
use crate::metric::Metric;
use crate::metric::benchmark::Benchmark;
use crate::node::{Direction, Hops, MEMORY, Record, Walk};
use crate::pattern::Pattern;
use crate::principal::{Action, Principal, refuse};
use crate::sequence::Sequence;

/// An action leads to what it was about, and a pattern to what its actions were about.
pub const REFERENCES: &str = "_mem:references";
/// A sequence leads to its actions, and a metric to its benchmarks.
pub const CONTAINS: &str = "_mem:contains";
const ACTION: &str = "_mem:action";
const SEQUENCE: &str = "_mem:sequence";
const PATTERN: &str = "_mem:pattern";
const BENCHMARK: &str = "_mem:benchmark";
/// It is no telemetry, but what a workspace asks of it.
const METRIC: &str = "metric";

/// What agents did, or what was learned and measured of it, as a walk meets it.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    Action(Box<AgentAction>),
    Sequence(Box<Sequence>),
    Pattern(Box<Pattern>),
    Metric(Box<Metric>),
    Benchmark(Box<Benchmark>),
}

impl Done {
    pub fn id(&self) -> Uuid {
        match self {
            Self::Action(action) => action.id.0,
            Self::Sequence(sequence) => sequence.id.0,
            Self::Pattern(pattern) => pattern.id.0,
            Self::Metric(metric) => metric.id.0,
            Self::Benchmark(benchmark) => benchmark.id,
        }
    }

    /// Agents act in the workspace as a whole.
    pub fn channel(&self) -> &'static str {
        GLOBAL_CHANNEL
    }

    /// What a walk calls its type.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Action(_) => ACTION,
            Self::Sequence(_) => SEQUENCE,
            Self::Pattern(_) => PATTERN,
            Self::Metric(_) => METRIC,
            Self::Benchmark(_) => BENCHMARK,
        }
    }

    /// What was done and how it went, or what it was about: types and figures, and no text but the
    /// name of a metric.
    pub fn text(&self) -> String {
        match self {
            Self::Action(action) => match &action.error_code {
                Some(code) => format!("{} failed with {code}", action.action_type),
                None => action.action_type.clone(),
            },
            Self::Sequence(sequence) => {
                sequence.intent_summary.clone().unwrap_or_else(|| sequence.session_id.clone())
            }
            Self::Pattern(pattern) => pattern.key.to_string(),
            Self::Metric(metric) => metric.name.clone(),
            Self::Benchmark(benchmark) => benchmark.to_string(),
        }
    }

    pub fn created_at(&self) -> Timestamp {
        match self {
            Self::Action(action) => action.at,
            Self::Sequence(sequence) => sequence.first_at,
            Self::Pattern(pattern) => pattern.created_at,
            Self::Metric(metric) => metric.created_at,
            Self::Benchmark(benchmark) => benchmark.created_at,
        }
    }
}

/// Whether a walk asks for what was done to the nodes that it meets, and what was learned of it.
pub(crate) fn asks_for_history(walk: &Walk) -> bool {
    let named = walk.relations.iter().any(|relation| relation == REFERENCES);
    (named || walk.types.iter().any(|wish| wish == ACTION || wish == PATTERN))
        && takes(walk, REFERENCES, Direction::In)
}

impl Mnemic {
    /// Which of these ids are of telemetry, if the caller may read any.
    pub(crate) async fn find_done(&self, principal: &Principal, ids: &[Uuid]) -> Result<Vec<Done>> {
        if ids.is_empty() || refuse(principal, Action::ReadTelemetry).is_some() {
            return Ok(vec![]);
        }
        let scope = principal.scope();
        let actions: Vec<_> = ids.iter().copied().map(ActionId).collect();
        let actions = self.store.lookup_actions(scope, &actions).await?;
        let sequences: Vec<_> = ids.iter().copied().map(SequenceId).collect();
        let sequences = self.store.lookup_sequences(scope, &sequences).await?;
        let actions = actions.into_iter().map(|it| Done::Action(Box::new(it)));
        let sequences = sequences.into_iter().map(|it| Done::Sequence(Box::new(it)));
        let mut found: Vec<_> = actions.chain(sequences).collect();
        found.extend(self.find_learned(scope, ids).await?);
        found.extend(self.find_measured(scope, ids).await?);
        Ok(found)
    }

    /// What was done to a record, the latest first, and what was learned of it.
    pub(crate) async fn step_to_history(
        &self,
        principal: &Principal,
        record: Uuid,
        walk: &Walk,
        edges_max: usize,
    ) -> Result<Hops> {
        let mut hops = Hops::default();
        if refuse(principal, Action::ReadTelemetry).is_some() {
            return Ok(hops);
        }
        if wants(walk, PATTERN) {
            self.step_to_patterns(principal.scope(), record, walk, &mut hops).await?;
        }
        if wants(walk, ACTION) {
            let filter = ActionFilter { node_id: Some(record), ..ActionFilter::default() };
            let scope = principal.scope();
            let found = self.store.list_actions(scope, &filter, None, edges_max).await?;
            hops.cut = found.len() >= edges_max;
            for action in found {
                let edge = edge(action.id.0, REFERENCES, record, &action);
                meet(&mut hops, walk, edge, Record::Done(Done::Action(Box::new(action))));
            }
        }
        Ok(hops)
    }

    /// What an action, or what was made of actions, leads to.
    pub(crate) async fn step_done(
        &self,
        principal: &Principal,
        from: &Done,
        walk: &Walk,
        edges_max: usize,
    ) -> Result<Hops> {
        let mut hops = Hops::default();
        match from {
            Done::Action(action) => self.step_action(principal, action, walk, &mut hops).await?,
            Done::Sequence(sequence) if takes(walk, CONTAINS, Direction::Out) => {
                let (scope, id) = (principal.scope(), sequence.id);
                let found = self.store.list_actions_of(scope, id, None, edges_max).await?;
                hops.cut = found.len() >= edges_max;
                for action in found {
                    let edge = edge(id.0, CONTAINS, action.id.0, &action);
                    meet(&mut hops, walk, edge, Record::Done(Done::Action(Box::new(action))));
                }
            }
            Done::Sequence(_) => {}
            Done::Pattern(pattern) => {
                self.step_pattern(principal.scope(), pattern, walk, &mut hops).await?;
            }
            Done::Metric(metric) => {
                let scope = principal.scope();
                self.step_metric(scope, metric, walk, edges_max, &mut hops).await?;
            }
            Done::Benchmark(benchmark) => {
                self.step_benchmark(principal.scope(), benchmark, walk, &mut hops).await?;
            }
        }
        Ok(hops)
    }

    async fn step_action(
        &self,
        principal: &Principal,
        action: &AgentAction,
        walk: &Walk,
        hops: &mut Hops,
    ) -> Result<()> {
        if takes(walk, REFERENCES, Direction::Out) {
            let records = self.visible_records(principal, &action.node_ids).await?;
            for record in records.into_iter().flatten() {
                let edge = edge(action.id.0, REFERENCES, record.id(), action);
                meet(hops, walk, edge, record);
            }
        }
        if takes(walk, CONTAINS, Direction::In)
            && let Some(id) = action.sequence_id
        {
            for sequence in self.store.lookup_sequences(principal.scope(), &[id]).await? {
                let edge = edge(id.0, CONTAINS, action.id.0, action);
                meet(hops, walk, edge, Record::Done(Done::Sequence(Box::new(sequence))));
            }
        }
        Ok(())
    }
}

pub(crate) fn takes(walk: &Walk, relation: &str, direction: Direction) -> bool {
    (walk.relations.is_empty() || walk.relations.iter().any(|wish| wish == relation))
        && (walk.direction == Direction::Both || walk.direction == direction)
}

fn wants(walk: &Walk, noun: &str) -> bool {
    walk.types.is_empty() || walk.types.iter().any(|wish| wish == noun)
}

/// Takes an edge, if it held and was known when the walk asks, and leads to what it asks for.
pub(crate) fn meet(hops: &mut Hops, walk: &Walk, edge: Edge, record: Record) {
    let held = edge.valid_from.is_none_or(|from| from <= walk.as_of.unwrap_or(walk.now));
    let known = walk.known_at.is_none_or(|at| edge.recorded_at <= at);
    let noun = match &record {
        Record::Node(node) => &node.node_type,
        Record::Memory(_) => MEMORY,
        Record::Said(said) => said.noun(),
        Record::Done(done) => done.noun(),
    };
    if held && known && wants(walk, noun) {
        hops.found.push((edge, record));
    }
}

fn edge(source: Uuid, relation: &str, target: Uuid, action: &AgentAction) -> Edge {
    let times = (action.at, action.created_at);
    Edge::derived(source, relation, target, GLOBAL_CHANNEL, times)
}
