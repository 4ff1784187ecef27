//! The port for the audit. Entries are added by `Change::AddAudit`.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::audit::{AuditFilter, Entry};
use crate::error::Result;
use crate::grant::Readable;
use crate::page::Position;
use crate::principal::Scope;

#[async_trait]
pub trait AuditStore {
    /// Newest first.
    async fn list_audit(
        &self,
        scope: Scope,
        filter: &AuditFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Entry>>;
    async fn count_audit(&self, scope: Scope, before: Timestamp) -> Result<u64>;
    /// Removes the entries of a workspace from before, and makes room for those to come. Says
    /// how many went.
    async fn drop_audit(&self, scope: Scope, before: Timestamp) -> Result<u64>;
}
