//! Changing goals, and finishing them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Goal, GoalStatus, check_blockers, check_priority, distinct};
use crate::Mnemic;
use crate::clock::micros;
use crate::edge::{BLOCKED_BY, SUBGOAL_OF};
use crate::error::{Error, Result};
use crate::ids::GoalId;
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content};

static UPDATE: Operation = Operation::new("goal.update", Action::WriteProcedure);
static COMPLETE: Operation = Operation::new("goal.complete", Action::WriteProcedure);

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct GoalPatch {
    pub description: Option<String>,
    pub priority: Option<i64>,
    pub deadline: Option<Option<Timestamp>>,
    pub parent_id: Option<Option<GoalId>>,
    /// In the place of those that it waits for.
    pub blocked_by: Option<Vec<GoalId>>,
}

impl GoalPatch {
    fn check(&self) -> Result<()> {
        if let Some(description) = &self.description {
            check_content("description", description, CONTENT_BYTES_MAX)?;
        }
        check_priority(self.priority)?;
        check_blockers(self.blocked_by.as_deref().unwrap_or_default())
    }
}

/// A goal that is finished, and those that need not wait any longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedGoal {
    pub goal: Goal,
    pub unblocked: Vec<GoalId>,
}

impl Mnemic {
    /// Changes an open goal.
    pub async fn update_goal(
        &self,
        caller: &Caller,
        id: GoalId,
        patch: &GoalPatch,
    ) -> Result<Goal> {
        self.authorize(&caller.principal, &UPDATE)?;
        patch.check()?;
        self.decide(caller, &UPDATE, || {
            Box::pin(async {
                let before = self.present_goal(&caller.principal, id).await?;
                if before.status.is_finished() {
                    return Err(finished_already(&before));
                }
                let goal = patched(&before, patch);
                if goal == before {
                    return Ok((goal, vec![]));
                }
                let changes = self.rebind(caller, &before, goal.clone()).await?;
                let mut goal = goal;
                goal.stamp(self.clock.now());
                Ok((goal, changes))
            })
        })
        .await
    }

    /// The changes by which a goal and its edges become what they are to be.
    async fn rebind(&self, caller: &Caller, before: &Goal, mut goal: Goal) -> Result<Vec<Change>> {
        let (scope, now) = (caller.scope(), self.clock.now());
        let mut bonds = self.bonds(scope, now);
        let mut closed = Vec::new();
        if goal.parent_id != before.parent_id {
            for edge in self.store.list_edges_from(scope, goal.id.0, SUBGOAL_OF).await? {
                closed.push(Change::CloseEdge { edge, domain: None, at: now });
            }
            if let Some(parent) = goal.parent_id {
                bonds.join_parent(&goal, parent).await?;
            }
        }
        if goal.blocked_by != before.blocked_by {
            for edge in self.store.list_edges_from(scope, goal.id.0, BLOCKED_BY).await? {
                if !goal.blocked_by.contains(&GoalId(edge.target_id)) {
                    closed.push(Change::CloseEdge { edge, domain: None, at: now });
                }
            }
            let added = goal.blocked_by.iter().filter(|id| !before.blocked_by.contains(id));
            for blocker in added {
                bonds.join_blocker(&goal, *blocker).await?;
            }
        }
        goal.stamp(now);
        let (mut changes, joined) = bonds.finish();
        changes.push(Change::UpdateGoal(goal));
        changes.extend(closed);
        changes.extend(joined);
        Ok(changes)
    }

    /// Finishes a goal; goals that waited for it alone go on. Finishing it in the same way again
    /// changes nothing.
    pub async fn complete_goal(
        &self,
        caller: &Caller,
        id: GoalId,
        status: GoalStatus,
        result: Option<&str>,
    ) -> Result<FinishedGoal> {
        self.authorize(&caller.principal, &COMPLETE)?;
        if !status.is_finished() {
            return Err(Error::invalid("status", "is not one of completed, abandoned"));
        }
        result.map_or(Ok(()), |text| check_content("result", text, CONTENT_BYTES_MAX))?;
        self.decide(caller, &COMPLETE, || {
            Box::pin(async {
                let mut goal = self.present_goal(&caller.principal, id).await?;
                if goal.status == status && goal.result.as_deref() == result {
                    return Ok((FinishedGoal { goal, unblocked: vec![] }, vec![]));
                }
                refuse_to_finish(&goal, status)?;
                let now = self.clock.now();
                (goal.status, goal.finished_at) = (status, Some(now));
                goal.result = result.map(str::to_owned);
                goal.blocked_by.clear();
                goal.stamp(now);
                let mut changes = vec![Change::UpdateGoal(goal.clone())];
                for edge in self.store.list_edges_from(caller.scope(), id.0, BLOCKED_BY).await? {
                    changes.push(Change::CloseEdge { edge, domain: None, at: now });
                }
                let unblocked = self.release(caller, id, now, &mut changes).await?;
                Ok((FinishedGoal { goal, unblocked }, changes))
            })
        })
        .await
    }

    /// Lets go of all that waits for a goal; says what waits for nothing else.
    async fn release(
        &self,
        caller: &Caller,
        id: GoalId,
        now: Timestamp,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<GoalId>> {
        let scope = caller.scope();
        let edges = self.store.list_edges_to(scope, id.0, BLOCKED_BY).await?;
        let waiting: Vec<_> = edges.iter().map(|edge| GoalId(edge.source_id)).collect();
        let mut unblocked = Vec::new();
        for mut goal in self.store.lookup_goals(scope, &waiting).await? {
            goal.blocked_by.retain(|blocker| *blocker != id);
            goal.settle();
            goal.stamp(now);
            if goal.status == GoalStatus::Active {
                unblocked.push(goal.id);
            }
            // Also one that still waits, so that two blockers finished at once see each other.
            changes.push(Change::UpdateGoal(goal));
        }
        changes.extend(edges.into_iter().map(|edge| Change::CloseEdge {
            edge,
            domain: None,
            at: now,
        }));
        Ok(unblocked)
    }
}

fn patched(before: &Goal, patch: &GoalPatch) -> Goal {
    let mut goal = before.clone();
    if let Some(description) = &patch.description {
        goal.description.clone_from(description);
    }
    goal.priority = patch.priority.unwrap_or(goal.priority);
    goal.deadline = patch.deadline.map_or(goal.deadline, |deadline| deadline.map(micros));
    goal.parent_id = patch.parent_id.unwrap_or(goal.parent_id);
    if let Some(blockers) = &patch.blocked_by {
        goal.blocked_by = distinct(blockers);
    }
    goal.settle();
    goal
}

fn finished_already(goal: &Goal) -> Error {
    let (id, status) = (goal.id, goal.status.as_str());
    Error::conflict(format!("the goal {id} is {status} already; add a new one"))
}

fn refuse_to_finish(goal: &Goal, status: GoalStatus) -> Result<()> {
    if goal.status.is_finished() {
        return Err(finished_already(goal));
    }
    if goal.status == GoalStatus::Blocked && status == GoalStatus::Completed {
        let blockers: Vec<_> = goal.blocked_by.iter().map(ToString::to_string).collect();
        return Err(Error::conflict(format!(
            "the goal {} is blocked by {}; finish what it waits for, or abandon it",
            goal.id,
            blockers.join(", ")
        )));
    }
    Ok(())
}
