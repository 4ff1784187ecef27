//! The port for what agents did.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::action::{ActionFilter, AgentAction};
use crate::error::Result;
use crate::ids::{ActionId, SequenceId};
use crate::page::Dated;
use crate::principal::Scope;

#[async_trait]
pub trait ActionStore {
    /// Those that exist, in the order asked for.
    async fn lookup_actions(&self, scope: Scope, ids: &[ActionId]) -> Result<Vec<AgentAction>>;
    /// The latest first, behind `after`.
    async fn list_actions(
        &self,
        scope: Scope,
        filter: &ActionFilter,
        after: Option<Dated>,
        limit: usize,
    ) -> Result<Vec<AgentAction>>;
    /// Those of a sequence by time and id, from a moment on if one is named.
    async fn list_actions_of(
        &self,
        scope: Scope,
        sequence: SequenceId,
        since: Option<Timestamp>,
        limit: usize,
    ) -> Result<Vec<AgentAction>>;
    /// Actions that are in no sequence yet, by session, time and id.
    async fn list_ungrouped(&self, scope: Scope, limit: usize) -> Result<Vec<AgentAction>>;
    async fn count_ungrouped(&self, scope: Scope) -> Result<u64>;
    /// What was done to these records lately: action types, each with the node type (empty: none).
    async fn keys_of_node(&self, scope: Scope, node_ids: &[Uuid]) -> Result<Vec<(String, String)>>;
}
