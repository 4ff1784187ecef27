//! Which actions and sequences are one sequence: a question of their times alone.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{GAP, Key, Sequence};
use crate::action::AgentAction;
use crate::ids::SequenceId;

/// Actions that are new, and the sequences that they are to be one with; at least one action.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// By time and id.
    pub(super) actions: Vec<AgentAction>,
    /// The one that was made first, and those that end in it.
    pub(super) sequences: Vec<Sequence>,
}

/// The times that actions of one session, in their order, take up, widened by what joins them to
/// others.
pub(super) fn spans(actions: &[AgentAction]) -> Vec<(Timestamp, Timestamp)> {
    let joined = actions.chunk_by(|a, b| !apart(a.at, b.at));
    let ends = joined.filter_map(|run| Some((run.first()?.at, run.last()?.at)));
    ends.map(|(first, last)| (earlier(first), later(last))).collect()
}

/// Puts together what is no more than a gap apart. All are of one session.
pub(super) fn groups(actions: Vec<AgentAction>, sequences: Vec<Sequence>) -> Vec<Group> {
    let actions = actions.into_iter().map(Item::Action);
    let mut items: Vec<_> = actions.chain(sequences.into_iter().map(Item::Sequence)).collect();
    items.sort_by_key(Item::start);
    let mut groups: Vec<Group> = Vec::new();
    let mut end = None;
    for item in items {
        if end.is_none_or(|end| apart(end, item.start())) {
            groups.push(Group::default());
        }
        end = end.max(Some(item.end()));
        if let Some(group) = groups.last_mut() {
            group.take(item);
        }
    }
    groups.retain(|group| !group.actions.is_empty());
    groups.iter_mut().for_each(Group::order);
    groups
}

enum Item {
    Action(AgentAction),
    Sequence(Sequence),
}

impl Item {
    fn start(&self) -> Timestamp {
        match self {
            Self::Action(action) => action.at,
            Self::Sequence(sequence) => sequence.first_at,
        }
    }

    fn end(&self) -> Timestamp {
        match self {
            Self::Action(action) => action.at,
            Self::Sequence(sequence) => sequence.last_at,
        }
    }
}

impl Group {
    fn take(&mut self, item: Item) {
        match item {
            Item::Action(action) => self.actions.push(action),
            Item::Sequence(sequence) => self.sequences.push(sequence),
        }
    }

    fn order(&mut self) {
        self.actions.sort_by_key(|action| (action.at, action.id));
        self.sequences.sort_by_key(|sequence| sequence.id);
    }

    pub(super) fn keys(&self) -> BTreeSet<Key> {
        self.actions.iter().map(Key::of).collect()
    }

    /// The one sequence that it all comes to, open again; of a new id, if none was there.
    pub(super) fn merged(&self, id: SequenceId) -> Option<Sequence> {
        let (first, last) = (self.actions.first()?, self.actions.last()?);
        let mut one = Sequence {
            id,
            session_id: last.session_id.clone(),
            agent_id: last.agent_id.clone(),
            first_at: first.at,
            last_at: last.at,
            last_action_id: last.id,
            action_count: i64::try_from(self.actions.len()).unwrap_or(i64::MAX),
            outcome: last.outcome,
            intent_id: None,
            intent_summary: None,
            closed_at: None,
            counted_day: None,
            revision: 1,
        };
        if let Some(survivor) = self.sequences.first() {
            (one.id, one.revision) = (survivor.id, survivor.revision + 1);
        }
        for other in &self.sequences {
            one.first_at = one.first_at.min(other.first_at);
            one.action_count += other.action_count;
            if (other.last_at, other.last_action_id) > (one.last_at, one.last_action_id) {
                (one.last_at, one.last_action_id) = (other.last_at, other.last_action_id);
                (one.outcome, one.agent_id) = (other.outcome, other.agent_id.clone());
            }
        }
        Some(one)
    }
}

/// Whether a pause is too long for one sequence; one of exactly the gap is not.
fn apart(before: Timestamp, after: Timestamp) -> bool {
    after.duration_since(before) > GAP
}

fn earlier(at: Timestamp) -> Timestamp {
    at.checked_sub(GAP).unwrap_or(Timestamp::MIN)
}

fn later(at: Timestamp) -> Timestamp {
    at.checked_add(GAP).unwrap_or(Timestamp::MAX)
}
