//! The port for what is known of ways and means: strategies, and the calls and figures of tools.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::ids::{InvocationId, StrategyId};
use crate::principal::Scope;
use crate::recall::{Hit, SearchFilter};
use crate::strategy::Strategy;
use crate::tool::{Invocation, ToolFigures};

#[async_trait]
pub trait StrategyStore {
    /// Those that exist, deleted or not, in the order asked for.
    async fn lookup_strategies(&self, scope: Scope, ids: &[StrategyId]) -> Result<Vec<Strategy>>;
    /// The live one with this key.
    async fn find_strategy(&self, scope: Scope, key: &str) -> Result<Option<Strategy>>;
    /// Live ones of a channel, in no domain, that take exactly these tools in this order.
    async fn list_strategies_by_tools(
        &self,
        scope: Scope,
        channel: &str,
        tools: &[String],
        limit: usize,
    ) -> Result<Vec<Strategy>>;
    /// Live ones by words, best first. Of the filter, channels and readable domains count.
    async fn search_strategy_words(
        &self,
        scope: Scope,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>>;
}

#[async_trait]
pub trait ToolStore {
    async fn lookup_invocation(&self, scope: Scope, id: InvocationId)
    -> Result<Option<Invocation>>;
    /// Those of these ids that are calls, in the order asked for.
    async fn lookup_invocations(
        &self,
        scope: Scope,
        ids: &[InvocationId],
    ) -> Result<Vec<InvocationId>>;
    /// Calls of a conversation that nobody has learned from, in the order of their time.
    async fn list_unlearned_calls(
        &self,
        scope: Scope,
        conversation: &str,
        limit: usize,
    ) -> Result<Vec<Invocation>>;
    /// Conversations with such calls, where none was made since.
    async fn list_conversations_of_calls(
        &self,
        scope: Scope,
        quiet_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<String>>;
    /// By name, behind `after`.
    async fn list_tools(
        &self,
        scope: Scope,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ToolFigures>>;
}
