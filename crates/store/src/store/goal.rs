//! Goals, with what their edges lead to.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::edge::{BLOCKED_BY, SUBGOAL_OF};
use mnemic_core::goal::{Goal, GoalFilter};
use mnemic_core::ids::GoalId;
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::GoalStore;

use super::{EngineStore, behind, own};
use crate::statements::{edge, goal};
use crate::{Fields, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> GoalStore for EngineStore<E> {
    async fn lookup_goals(&self, scope: Workspaced, ids: &[GoalId]) -> Result<Vec<Goal>> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let params = ids.iter().map(|id| values![id.0]).collect();
        let goals = self.each(own(scope), &goal::LOOKUP, params, goal::from_row).await?;
        self.with_edges(scope, goals).await
    }

    async fn list_goals(
        &self,
        scope: Workspaced,
        filter: &GoalFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Goal>> {
        let params = goal::list(filter, behind(after), limit);
        let goals = self.all(own(scope), &goal::LIST, params, goal::from_row).await?;
        self.with_edges(scope, goals).await
    }

    async fn list_goals_of(
        &self,
        scope: Workspaced,
        conversation: &str,
        until: Option<Timestamp>,
    ) -> Result<Vec<GoalId>> {
        let params = values![conversation, until];
        self.all(own(scope), &goal::LIST_OF, params, |row| row.uuid("id").map(GoalId)).await
    }
}

impl<E: SearchEngine> EngineStore<E> {
    /// Edges are read behind the goals: one that came in between changed its goal's revision, so
    /// no decision rests on the two not fitting together.
    async fn with_edges(&self, scope: Workspaced, mut goals: Vec<Goal>) -> Result<Vec<Goal>> {
        for relation in [SUBGOAL_OF, BLOCKED_BY] {
            let params = goals.iter().map(|goal| values![goal.id.0, relation]).collect();
            let found = self.engine.read_each(own(scope), &edge::LIST_FROM, params).await?;
            for (goal, rows) in goals.iter_mut().zip(found) {
                let targets = rows.iter().map(|row| row.uuid("target_id").map(GoalId));
                let targets = targets.collect::<Result<Vec<_>>>()?;
                if relation == SUBGOAL_OF {
                    goal.parent_id = targets.first().copied();
                } else {
                    goal.blocked_by = targets;
                }
            }
        }
        Ok(goals)
    }
}
