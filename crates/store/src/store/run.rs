//! Runs.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::ids::MemoryId;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::RunStore;

use super::{EngineStore, own};
use crate::statements::run;
use crate::{Fields, Row, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> RunStore for EngineStore<E> {
    async fn list_citations(&self, scope: Workspaced, run_id: &str) -> Result<Vec<MemoryId>> {
        let from_row = |row: &Row| row.uuid("memory_id").map(MemoryId);
        self.all(own(scope), &run::CITATIONS, values![run_id], from_row).await
    }
}
