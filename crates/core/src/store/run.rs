//! The port for runs.

use async_trait::async_trait;

use crate::error::Result;
use crate::ids::MemoryId;
use crate::principal::Scope;

#[async_trait]
pub trait RunStore {
    /// The memories that a run has been counted for.
    async fn list_citations(&self, scope: Scope, run_id: &str) -> Result<Vec<MemoryId>>;
}
