//! Jobs.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::job::JobRecord;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::JobStore;

use super::{EngineStore, own};
use crate::statements::job;
use crate::{Batch, Fields, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> JobStore for EngineStore<E> {
    async fn list_jobs(&self, scope: Workspaced) -> Result<Vec<JobRecord>> {
        self.all(own(scope), &job::LIST, vec![], job::from_row).await
    }

    async fn claim_job(
        &self,
        scope: Workspaced,
        name: &str,
        last: Option<i64>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<i64>> {
        let mut batch = Batch::new();
        batch.run(&job::CLAIM, values![name, now, until, last]);
        let steps = self.engine.write(own(scope), batch).await?;
        steps.first().and_then(|rows| rows.first()).map(|row| row.int("epoch")).transpose()
    }
}
