//! The audit.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::audit::{AuditFilter, Entry};
use mnemic_core::grant::Readable;
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::AuditStore;

use super::{EngineStore, behind, own};
use crate::statements::audit;
use crate::{SearchEngine, Step, values};

#[async_trait]
impl<E: SearchEngine> AuditStore for EngineStore<E> {
    async fn list_audit(
        &self,
        scope: Workspaced,
        filter: &AuditFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let params = audit::list(filter, readable, behind(after), limit);
        self.all(own(scope), &audit::LIST, params, audit::from_row).await
    }

    async fn count_audit(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        self.count(own(scope), &audit::COUNT_BEFORE, values![before]).await
    }

    /// Days that an engine keeps as such go as a whole, for all workspaces; the rest row by row.
    async fn drop_audit(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        let count = self.count_audit(scope, before).await?;
        self.engine.turn_audit_days(before).await?;
        let rest = Step::new(&audit::DROP_BEFORE, values![before]);
        self.engine.write(own(scope), rest.into()).await?;
        Ok(count)
    }
}
