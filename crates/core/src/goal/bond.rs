//! The edges between goals while one request makes them: both ends are there, and none closes a
//! cycle.
//!
//! A cycle can be closed by two requests that each see half of it. So every goal that a walk
//! passed is a requirement of the batch, at the revision at which it was seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::Goal;
use crate::Mnemic;
use crate::edge::{BLOCKED_BY, Edge, SUBGOAL_OF};
use crate::error::{Error, Result};
use crate::ids::GoalId;
use crate::principal::Scope;
use crate::store::Change;

/// How many goals a walk looks at before it gives up.
const WALKED_MAX: usize = 10_000;

pub(super) struct Bonds<'a> {
    mnemic: &'a Mnemic,
    scope: Scope,
    now: Timestamp,
    seen: HashMap<GoalId, Goal>,
    /// The revisions at which goals were seen.
    required: BTreeMap<GoalId, i64>,
    /// The goals that must notice that something waits for them now.
    awaited: BTreeSet<GoalId>,
    joined: Vec<Change>,
}

impl Mnemic {
    pub(super) fn bonds(&self, scope: Scope, now: Timestamp) -> Bonds<'_> {
        Bonds {
            mnemic: self,
            scope,
            now,
            seen: HashMap::new(),
            required: BTreeMap::new(),
            awaited: BTreeSet::new(),
            joined: Vec::new(),
        }
    }
}

impl Bonds<'_> {
    pub(super) async fn join_parent(&mut self, goal: &Goal, parent: GoalId) -> Result<()> {
        self.end("parent_id", parent).await?;
        let above = |goal: &Goal| goal.parent_id.into_iter().collect();
        self.refuse_cycle(goal.id, parent, SUBGOAL_OF, above).await?;
        self.join(goal, SUBGOAL_OF, parent);
        Ok(())
    }

    pub(super) async fn join_blocker(&mut self, goal: &Goal, blocker: GoalId) -> Result<()> {
        let status = self.end("blocked_by", blocker).await?.status;
        if status.is_finished() {
            return Err(Error::conflict(format!(
                "blocked_by: the goal {blocker} is {}; leave it out",
                status.as_str()
            )));
        }
        self.refuse_cycle(goal.id, blocker, BLOCKED_BY, |goal| goal.blocked_by.clone()).await?;
        self.awaited.insert(blocker);
        self.join(goal, BLOCKED_BY, blocker);
        Ok(())
    }

    /// The changes that belong before those of the goal itself, and those that belong behind.
    pub(super) fn finish(self) -> (Vec<Change>, Vec<Change>) {
        let Self { required, awaited, joined, .. } = self;
        let revisions = required.clone();
        let required = required.into_iter();
        let required = required.map(|(id, revision)| Change::RequireGoal { id, revision });
        let awaited = awaited.into_iter().filter_map(|id| {
            revisions.get(&id).map(|revision| Change::TouchGoal { id, revision: *revision })
        });
        (required.chain(awaited).collect(), joined)
    }

    async fn end(&mut self, field: &str, id: GoalId) -> Result<Goal> {
        let found = self.see(&[id]).await?.pop();
        found.ok_or_else(|| Error::invalid(field, format!("there is no goal {id}")))
    }

    fn join(&mut self, goal: &Goal, relation: &str, target: GoalId) {
        let span = (goal.id.0, relation.to_owned(), target.0);
        let edge = Edge::new(self.mnemic, self.now, goal.channel.clone(), &span);
        self.joined.push(Change::AddEdge { edge, domain: None });
    }

    /// Walks from `from` on, and refuses to come to `goal`.
    async fn refuse_cycle(
        &mut self,
        goal: GoalId,
        from: GoalId,
        relation: &str,
        next: impl Fn(&Goal) -> Vec<GoalId>,
    ) -> Result<()> {
        let mut came_from = HashMap::from([(from, goal)]);
        let mut frontier = vec![from];
        while !frontier.is_empty() {
            if frontier.contains(&goal) {
                return Err(cycle(goal, relation, &came_from));
            }
            let mut further = Vec::new();
            for met in self.see(&frontier).await? {
                for id in next(&met) {
                    if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(id) {
                        entry.insert(met.id);
                        further.push(id);
                    }
                }
            }
            if came_from.len() > WALKED_MAX {
                let detail = format!("more than {WALKED_MAX} goals hang together by {relation}");
                return Err(Error::conflict(detail));
            }
            frontier = further;
        }
        Ok(())
    }

    /// The goals that exist, each as it was when it was first seen.
    async fn see(&mut self, ids: &[GoalId]) -> Result<Vec<Goal>> {
        let unseen: Vec<_> = ids.iter().copied().filter(|id| !self.seen.contains_key(id)).collect();
        for goal in self.mnemic.store.lookup_goals(self.scope, &unseen).await? {
            self.required.insert(goal.id, goal.revision);
            self.seen.insert(goal.id, goal);
        }
        Ok(ids.iter().filter_map(|id| self.seen.get(id).cloned()).collect())
    }
}

fn cycle(goal: GoalId, relation: &str, came_from: &HashMap<GoalId, GoalId>) -> Error {
    let mut way = vec![goal.to_string()];
    let mut at = goal;
    while let Some(before) = came_from.get(&at) {
        way.push(before.to_string());
        at = *before;
        if at == goal {
            break;
        }
    }
    way.reverse();
    Error::conflict(format!("{relation} would go round in a circle: {}", way.join(" → ")))
}
