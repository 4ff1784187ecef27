//! What agents did.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::action::{ActionFilter, AgentAction};
use mnemic_core::ids::{ActionId, SequenceId};
use mnemic_core::page::Dated;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::ActionStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::action;
use crate::{SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> ActionStore for EngineStore<E> {
    async fn lookup_actions(
        &self,
        scope: Workspaced,
        ids: &[ActionId],
    ) -> Result<Vec<AgentAction>> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &action::LOOKUP, params, action::from_row).await
    }

    async fn list_actions(
        &self,
        scope: Workspaced,
        filter: &ActionFilter,
        after: Option<Dated>,
        limit: usize,
    ) -> Result<Vec<AgentAction>> {
        let (statement, params) = action::list(filter, after, limit);
        self.all(own(scope), statement, params, action::from_row).await
    }

    async fn list_actions_of(
        &self,
        scope: Workspaced,
        sequence: SequenceId,
        since: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<AgentAction>> {
        let params = action::in_order(sequence, since, limit);
        self.all(own(scope), &action::LIST_IN_ORDER, params, action::from_row).await
    }

    async fn list_ungrouped(&self, scope: Workspaced, limit: usize) -> Result<Vec<AgentAction>> {
        let params = values![i64::try_from(limit).unwrap_or(i64::MAX)];
        self.all(own(scope), &action::LIST_UNGROUPED, params, action::from_row).await
    }

    async fn count_ungrouped(&self, scope: Workspaced) -> Result<u64> {
        self.count(own(scope), &action::COUNT_UNGROUPED, vec![]).await
    }

    async fn keys_of_node(
        &self,
        scope: Workspaced,
        node_ids: &[Uuid],
    ) -> Result<Vec<(String, String)>> {
        if node_ids.is_empty() {
            return Ok(vec![]);
        }
        let params = node_ids.iter().map(|id| action::keys_of_node(*id)).collect();
        let found = self.engine.read_each(own(scope), &action::KEYS_OF_NODE, params).await?;
        let pairs: Result<BTreeSet<_>> =
            found.iter().flatten().map(action::pair_from_row).collect();
        Ok(pairs?.into_iter().collect())
    }
}
