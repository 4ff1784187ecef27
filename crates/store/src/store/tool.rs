//! Calls and figures of tools.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::InvocationId;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::ToolStore;
use mnemic_core::tool::{Invocation, ToolFigures};

use super::{EngineStore, own};
use crate::statements::tool;
use crate::{Fields, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> ToolStore for EngineStore<E> {
    async fn lookup_invocation(
        &self,
        scope: Workspaced,
        id: InvocationId,
    ) -> Result<Option<Invocation>> {
        self.first(own(scope), &tool::LOOKUP, values![id.0], tool::from_row).await
    }

    async fn lookup_invocations(
        &self,
        scope: Workspaced,
        ids: &[InvocationId],
    ) -> Result<Vec<InvocationId>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        let id = |row: &crate::Row| row.uuid("id").map(InvocationId);
        self.each(own(scope), &tool::EXISTS, params, id).await
    }

    async fn list_unlearned_calls(
        &self,
        scope: Workspaced,
        conversation: &str,
        limit: usize,
    ) -> Result<Vec<Invocation>> {
        let params = tool::unlearned(conversation, limit);
        self.all(own(scope), &tool::LIST_UNLEARNED, params, tool::from_row).await
    }

    async fn list_conversations_of_calls(
        &self,
        scope: Workspaced,
        quiet_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<String>> {
        let params = tool::unlearned_conversations(quiet_since, limit);
        let id = |row: &crate::Row| row.string("conversation_id");
        self.all(own(scope), &tool::UNLEARNED, params, id).await
    }

    async fn list_tools(
        &self,
        scope: Workspaced,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ToolFigures>> {
        let params = values![after, i64::try_from(limit).unwrap_or(i64::MAX)];
        self.all(own(scope), &tool::LIST, params, tool::figures_from_row).await
    }
}
