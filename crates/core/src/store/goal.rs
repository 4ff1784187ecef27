//! The port for goals. What joins them are edges, which the goals come with.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::goal::{Goal, GoalFilter};
use crate::ids::GoalId;
use crate::page::Position;
use crate::principal::Scope;

#[async_trait]
pub trait GoalStore {
    /// Those that exist, in the order asked for, with the ids that their live edges lead to.
    async fn lookup_goals(&self, scope: Scope, ids: &[GoalId]) -> Result<Vec<Goal>>;
    /// Newest first.
    async fn list_goals(
        &self,
        scope: Scope,
        filter: &GoalFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Goal>>;
    /// The goals that were set in a conversation; all, or those that are as old as `until`.
    async fn list_goals_of(
        &self,
        scope: Scope,
        conversation: &str,
        until: Option<Timestamp>,
    ) -> Result<Vec<GoalId>>;
}
