//! The port for jobs. Finishing and holding a claim are changes, so that they are one with the
//! work they belong to.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::job::JobRecord;
use crate::principal::Scope;

#[async_trait]
pub trait JobStore {
    /// Those that were ever claimed in this workspace.
    async fn list_jobs(&self, scope: Scope) -> Result<Vec<JobRecord>>;
    /// Claims a job that nobody holds at `now`, until `until`, and returns the claim's epoch: one
    /// more than the last, which must be `last` where that is named (0: never claimed).
    async fn claim_job(
        &self,
        scope: Scope,
        job: &str,
        last: Option<i64>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<i64>>;
}
