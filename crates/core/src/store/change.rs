//! What a decision comes to: changes of records, all of which a store makes, or none.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::{Faded, TombstoneChange};
use crate::action::AgentAction;
use crate::answer::Answer;
use crate::audit::Entry;
use crate::conversation::{Conversation, Episode, Turn};
use crate::domain::Domain;
use crate::edge::Edge;
use crate::goal::Goal;
use crate::ids::{
    EdgeId, GoalId, InvocationId, MemoryId, MetricId, NodeId, SequenceId, StrategyId, TokenId,
    TurnId,
};
use crate::job::LastRun;
use crate::memory::Memory;
use crate::metric::Metric;
use crate::metric::benchmark::Benchmark;
use crate::node::{Node, Slice};
use crate::page::Dated;
use crate::pattern::{Pattern, Showing};
use crate::policy::Policy;
use crate::principal::Standing;
use crate::profile::UserProfile;
use crate::review::Review;
use crate::run::Run;
use crate::scratchpad::Scratchpad;
use crate::secret::Sealed;
use crate::sequence::{Intent, Key, Sequence};
use crate::strategy::Strategy;
use crate::tool::Invocation;

/// One change of a workspace's records.
#[derive(Debug, Clone)]
pub enum Change {
    AddMemory(Memory),
    /// Writes what a person or agent can change. The stored revision must be the one before.
    UpdateMemory {
        memory: Memory,
        content_changed: bool,
    },
    /// A memory that is deleted or replaced by now is a lost race. For decisions that rest on a
    /// memory which they do not change.
    RequireLive(MemoryId),
    /// The caller's token is refused unless it stands as it did. For decisions that rest on a principal
    /// which was remembered.
    RequireStanding(Standing),
    /// Removes a memory of a domain, with its vectors, edges, citations and kept answers.
    EraseMemory {
        id: MemoryId,
        domain: Option<String>,
    },
    /// The same, if it is still stale with regard to `before`.
    EraseStale {
        id: MemoryId,
        domain: Option<String>,
        before: Timestamp,
    },
    /// Adds an edge whose source is of a domain. A live edge of the same ends and relation is a
    /// lost race.
    AddEdge {
        edge: Edge,
        domain: Option<String>,
    },
    /// Writes properties and validity of a live edge. The stored revision must be the one before.
    UpdateEdge {
        edge: Edge,
        domain: Option<String>,
    },
    /// Says that an edge no longer holds; one that was closed before is a lost race.
    CloseEdge {
        edge: Edge,
        domain: Option<String>,
        at: Timestamp,
    },
    /// Closes every live edge from or to a record.
    CloseEdgesOf {
        id: Uuid,
        at: Timestamp,
    },
    /// Lets an edge begin or end at another node, wherever it does so at `from`.
    MoveEdge {
        id: EdgeId,
        from: NodeId,
        to: NodeId,
    },
    /// The same for every edge of `from`. What the other node has too is closed, and so is what
    /// joined the two.
    MoveEdges {
        from: NodeId,
        to: NodeId,
        at: Timestamp,
    },
    /// A node or memory that is absent or deleted by now is a lost race. For edges, which must
    /// not dangle.
    RequireRecord(Uuid),
    /// Adds a node with its names; a name that another has is a lost race.
    AddNode(Node),
    /// Writes what can be changed. The stored revision must be the one before. A deleted node
    /// keeps no name.
    UpdateNode {
        node: Node,
        renamed: bool,
        /// Whether its name or description is another, of which its vector is made.
        retold: bool,
    },
    /// Removes a node of a domain, with its names, edges, vectors and kept answers.
    EraseNode {
        id: NodeId,
        domain: Option<String>,
    },
    /// Removes all nodes that came from a connection, with all that is theirs, if there are
    /// still as many as were counted.
    EraseConnection {
        connection_id: String,
        slice: Slice,
    },
    /// Removes a conversation with its turns and episodes and all that is kept of it, and its words
    /// from the audit; of all times, or until one. When a memory was seen is not known, only that it was not before it was made.
    EraseConversation {
        id: String,
        until: Option<Timestamp>,
    },
    /// Removes what is a user's beside memories and nodes: turns, the episodes that they are in,
    /// conversations of theirs alone, kept answers, name and words in the audit; and revokes these tokens, which must be all that the user has. Of all times, or until one.
    EraseUser {
        user: String,
        tokens: Vec<TokenId>,
        at: Timestamp,
        until: Option<Timestamp>,
    },
    /// Removes kept answers that name a record.
    EraseAnswers {
        of: Uuid,
    },
    /// Says whose tokens made a record.
    AddOwner {
        item: Uuid,
        user: String,
    },
    Tombstone(TombstoneChange),
    FinishRun(Run),
    /// Adds one to `times_referenced`; a citation that is there already is a lost race.
    CountCitation {
        run_id: String,
        memory_id: MemoryId,
    },
    /// One of the same id is a lost race.
    AddConversation(Conversation),
    /// The stored revision must be the one before.
    UpdateConversation(Conversation),
    /// One at the same index of its conversation is a lost race.
    AddTurn(Turn),
    /// The turns of a conversation leave searches, or come back to them.
    PutAwayTurns {
        conversation: String,
        at: Option<Timestamp>,
    },
    /// Removes a turn that is there, for good.
    EraseTurn(TurnId),
    AddEpisode(Episode),
    /// The stored revision must be the one before.
    UpdateEpisode(Episode),
    AddGoal(Goal),
    /// The stored revision must be the one before. Edges are changes of their own.
    UpdateGoal(Goal),
    /// A goal that is at another revision by now is a lost race.
    RequireGoal {
        id: GoalId,
        revision: i64,
    },
    /// The same, and decisions that rest on this revision are lost races from now on.
    TouchGoal {
        id: GoalId,
        revision: i64,
    },
    /// Removes a goal with its edges and kept answers; what waited for it alone goes on.
    EraseGoal(GoalId),
    /// A live one with the same key is a lost race.
    AddStrategy(Strategy),
    /// The stored revision must be the one before. One that is deleted is found no more.
    UpdateStrategy(Strategy),
    /// Removes a strategy of a domain, with its words, vectors and kept answers.
    EraseStrategy {
        id: StrategyId,
        domain: Option<String>,
    },
    /// Adds a call and moves the figures of its tool; a call with the same id is a lost race.
    AddInvocation(Invocation),
    /// Removes a call with its kept answers; the figures of its tool stay.
    EraseInvocation(InvocationId),
    /// One of the same user is a lost race.
    AddProfile(UserProfile),
    /// The stored revision must be the one before.
    UpdateProfile(UserProfile),
    /// Removes a profile with its kept answers.
    EraseProfile(Uuid),
    /// One of the same agent is a lost race.
    AddScratchpad(Scratchpad),
    /// The stored revision must be the one before.
    UpdateScratchpad(Scratchpad),
    /// Removes a scratchpad with its kept answers.
    EraseScratchpad(Uuid),
    /// Says that a turn was learned from; one that was before is a lost race.
    LearnTurn {
        id: TurnId,
        at: Timestamp,
    },
    /// Says that a call was learned from; one that was before is a lost race.
    LearnCall {
        id: InvocationId,
        at: Timestamp,
    },
    /// Says in which conversation a memory came up.
    AddSighting {
        memory_id: MemoryId,
        conversation: String,
    },
    AddReview(Review),
    /// The stored revision must be the one before.
    UpdateReview(Review),
    /// Writes what time has left of an entity's salience, if it is still as it was read.
    FadeNode(Faded),
    /// The same for the confidence in a memory.
    FadeMemory(Faded),
    /// A node that is salient, was looked at or has a live memory about it by now is a lost race.
    RequireForgotten {
        id: NodeId,
        salience: f64,
        accessed: Timestamp,
    },
    /// One of the same id or name is a lost race.
    AddMetric(Metric),
    /// The stored revision must be the one before.
    UpdateMetric(Metric),
    /// Removes a metric with its benchmarks and kept answers.
    EraseMetric(MetricId),
    /// Writes what a metric came to on a day, in the place of what was there, unless the metric
    /// has gone.
    PutBenchmark(Benchmark),
    /// A key that is there already is a lost race.
    KeepAnswer(Answer),
    /// Keeps a secret in the place of the one of its name.
    PutSecret(Sealed),
    RemoveSecret {
        name: String,
    },
    /// A live one with the same key is a lost race.
    AddPattern(Pattern),
    /// Writes what can change. The stored revision must be the one before.
    UpdatePattern(Pattern),
    /// Says from which day on counts were mined.
    MoveMiningWindow {
        since_day: i64,
    },
    /// One of the same session and key that is not settled stays instead.
    AddShowing(Showing),
    /// Says in which sequence it was settled and whether what it warned of was avoided there; one
    /// that was settled before is a lost race.
    SettleShowing {
        id: Uuid,
        outcome: Option<(SequenceId, bool)>,
        at: Timestamp,
    },
    /// Makes a domain, or gives it its description.
    PutDomain(Domain),
    /// Makes a domain unless there is one.
    EnsureDomain(Domain),
    AddPolicy(Policy),
    /// The stored revision must be the one before.
    UpdatePolicy(Policy),
    AddAudit(Box<Entry>),
    /// One with the same id is a lost race.
    AddAction(AgentAction),
    /// Puts the actions of a session that are in no sequence, from a moment to the last one, into
    /// one; if they are not as many as were counted, that is a lost race.
    GroupActions {
        sequence: SequenceId,
        session: String,
        since: Timestamp,
        last: Dated,
        count: usize,
    },
    AddSequence(Sequence),
    /// The stored revision must be the one before.
    UpdateSequence(Sequence),
    /// Lets a sequence, at a revision, end in another, with its actions and keys.
    AbsorbSequence {
        id: SequenceId,
        revision: i64,
        into: SequenceId,
    },
    /// One that is there stays.
    AddSequenceKey {
        sequence: SequenceId,
        key: Key,
    },
    /// One of the same text is a lost race.
    AddIntent(Intent),
    /// Moves how many closed sequences have a key on a day, and when the latest of them ended.
    CountKey {
        key: Key,
        day: i64,
        difference: i64,
        last_at: Timestamp,
    },
    /// The same for all keys of an action type and node type together.
    CountPair {
        action_type: String,
        node_type: String,
        day: i64,
        difference: i64,
    },
    /// Says that the counts of a pair have changed.
    TouchUnmined {
        action_type: String,
        node_type: String,
    },
    /// Says that a pair was mined, unless its counts have changed since this revision.
    ForgetUnmined {
        action_type: String,
        node_type: String,
        revision: i64,
    },
    /// Prolongs a claim; refused as `Code::ClaimLost` once somebody else has it.
    HoldClaim {
        job: &'static str,
        epoch: i64,
        until: Timestamp,
    },
    /// Ends a claim and writes down how the run went; refused like the above.
    FinishJob {
        job: &'static str,
        epoch: i64,
        run: LastRun,
    },
}

impl Change {
    /// The domain that is written to: what the audit notes, and what grants are asked about.
    pub(crate) fn domain(&self) -> Option<&str> {
        match self {
            Self::PutDomain(domain) => Some(&domain.name),
            Self::AddPolicy(policy) | Self::UpdatePolicy(policy) => Some(&policy.domain),
            Self::EraseMemory { domain, .. }
            | Self::EraseStale { domain, .. }
            | Self::AddEdge { domain, .. }
            | Self::UpdateEdge { domain, .. }
            | Self::CloseEdge { domain, .. }
            | Self::EraseStrategy { domain, .. }
            | Self::EraseNode { domain, .. } => domain.as_deref(),
            Self::AddStrategy(strategy) | Self::UpdateStrategy(strategy) => {
                strategy.domain.as_deref()
            }
            Self::AddNode(node) | Self::UpdateNode { node, .. } => node.domain.as_deref(),
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => memory.domain.as_deref(),
            _ => None,
        }
    }

    /// The record that is changed, for the audit.
    pub(crate) fn record(&self) -> Option<Uuid> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => Some(memory.id.0),
            Self::EraseMemory { id, .. }
            | Self::EraseStale { id, .. }
            | Self::CountCitation { memory_id: id, .. } => Some(id.0),
            Self::AddPolicy(policy) | Self::UpdatePolicy(policy) => Some(policy.id.0),
            Self::AddNode(node) | Self::UpdateNode { node, .. } => Some(node.id.0),
            Self::EraseNode { id, .. } => Some(id.0),
            Self::AddEdge { edge, .. }
            | Self::UpdateEdge { edge, .. }
            | Self::CloseEdge { edge, .. } => Some(edge.id.0),
            Self::MoveEdge { id, .. } => Some(id.0),
            Self::AddGoal(goal) | Self::UpdateGoal(goal) => Some(goal.id.0),
            Self::EraseGoal(id) => Some(id.0),
            Self::AddStrategy(strategy) | Self::UpdateStrategy(strategy) => Some(strategy.id.0),
            Self::EraseStrategy { id, .. } => Some(id.0),
            Self::AddInvocation(call) => Some(call.id.0),
            Self::EraseInvocation(id) => Some(id.0),
            Self::AddProfile(profile) | Self::UpdateProfile(profile) => Some(profile.id),
            Self::AddScratchpad(pad) | Self::UpdateScratchpad(pad) => Some(pad.id),
            Self::EraseProfile(id) | Self::EraseScratchpad(id) => Some(*id),
            Self::AddPattern(pattern) | Self::UpdatePattern(pattern) => Some(pattern.id.0),
            Self::AddReview(review) | Self::UpdateReview(review) => Some(review.id.0),
            Self::AddAction(action) => Some(action.id.0),
            Self::AddMetric(metric) | Self::UpdateMetric(metric) => Some(metric.id.0),
            Self::EraseMetric(id) => Some(id.0),
            Self::AddTurn(turn) => Some(turn.id.0),
            Self::EraseTurn(id) => Some(id.0),
            Self::AddEpisode(episode) | Self::UpdateEpisode(episode) => Some(episode.id.0),
            Self::AddConversation(conversation) | Self::UpdateConversation(conversation) => {
                Some(conversation.key)
            }
            _ => None,
        }
    }

    pub(crate) fn channel(&self) -> Option<&str> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => Some(&memory.channel),
            Self::AddNode(node) | Self::UpdateNode { node, .. } => Some(&node.channel),
            Self::AddEdge { edge, .. }
            | Self::UpdateEdge { edge, .. }
            | Self::CloseEdge { edge, .. } => Some(&edge.channel),
            Self::AddGoal(goal) | Self::UpdateGoal(goal) => Some(&goal.channel),
            Self::AddStrategy(strategy) | Self::UpdateStrategy(strategy) => Some(&strategy.channel),
            Self::AddTurn(turn) => Some(&turn.channel),
            Self::AddEpisode(episode) | Self::UpdateEpisode(episode) => Some(&episode.channel),
            Self::AddConversation(conversation) | Self::UpdateConversation(conversation) => {
                Some(&conversation.channel)
            }
            _ => None,
        }
    }

    /// The conversation that it is part of, for the audit.
    pub(crate) fn conversation(&self) -> Option<&str> {
        match self {
            Self::AddGoal(goal) | Self::UpdateGoal(goal) => goal.conversation_id.as_deref(),
            Self::AddInvocation(call) => call.conversation_id.as_deref(),
            Self::AddTurn(turn) => Some(&turn.conversation_id),
            Self::AddEpisode(episode) | Self::UpdateEpisode(episode) => {
                Some(&episode.conversation_id)
            }
            Self::AddConversation(conversation) | Self::UpdateConversation(conversation) => {
                Some(&conversation.id)
            }
            _ => None,
        }
    }

    /// What is written, as the audit keeps it at its highest level.
    pub(crate) fn payload(&self) -> Option<Value> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, .. } => {
                serde_json::to_value(memory).ok()
            }
            Self::AddNode(node) | Self::UpdateNode { node, .. } => serde_json::to_value(node).ok(),
            Self::AddEdge { edge, .. } | Self::UpdateEdge { edge, .. } => {
                serde_json::to_value(edge).ok()
            }
            Self::AddGoal(goal) | Self::UpdateGoal(goal) => serde_json::to_value(goal).ok(),
            Self::AddStrategy(strategy) | Self::UpdateStrategy(strategy) => {
                serde_json::to_value(strategy).ok()
            }
            Self::AddInvocation(call) => serde_json::to_value(call).ok(),
            Self::AddProfile(profile) | Self::UpdateProfile(profile) => {
                serde_json::to_value(profile).ok()
            }
            Self::AddMetric(metric) | Self::UpdateMetric(metric) => {
                serde_json::to_value(metric).ok()
            }
            Self::AddTurn(turn) => serde_json::to_value(turn).ok(),
            Self::AddConversation(conversation) => serde_json::to_value(conversation).ok(),
            _ => None,
        }
    }

    /// The record that is made, and so has an owner.
    pub(crate) fn made(&self) -> Option<Uuid> {
        match self {
            Self::AddMemory(memory) => Some(memory.id.0),
            Self::AddNode(node) => Some(node.id.0),
            Self::AddGoal(goal) => Some(goal.id.0),
            Self::AddStrategy(strategy) => Some(strategy.id.0),
            Self::AddInvocation(call) => Some(call.id.0),
            Self::AddScratchpad(pad) => Some(pad.id),
            // One that is built in is nobody's.
            Self::AddMetric(metric) if metric.built_in().is_none() => Some(metric.id.0),
            _ => None,
        }
    }

    /// The record whose vector is missing once the change is made.
    pub(crate) fn needs_vector(&self) -> Option<Uuid> {
        match self {
            Self::AddMemory(memory) | Self::UpdateMemory { memory, content_changed: true } => {
                Some(memory.id.0)
            }
            Self::AddNode(node) | Self::UpdateNode { node, retold: true, .. } => Some(node.id.0),
            Self::AddTurn(turn) => Some(turn.id.0),
            Self::AddStrategy(strategy) => Some(strategy.id.0),
            Self::AddIntent(intent) => Some(intent.id.0),
            _ => None,
        }
    }
}
