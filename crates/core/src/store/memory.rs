//! The port for memories.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::grant::Readable;
use crate::ids::MemoryId;
use crate::memory::{Memory, MemoryFilter};
use crate::page::Position;
use crate::principal::Scope;
use crate::workspace::PromotionSettings;

#[async_trait]
pub trait MemoryStore {
    async fn lookup_memory(&self, scope: Scope, id: MemoryId) -> Result<Option<Memory>>;
    /// Those that exist, in the order asked for.
    async fn lookup_memories(&self, scope: Scope, ids: &[MemoryId]) -> Result<Vec<Memory>>;
    /// Newest first.
    async fn list_memories(
        &self,
        scope: Scope,
        filter: &MemoryFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Live, unpinned, cited at least so often; most cited first.
    async fn list_recommended_pins(
        &self,
        scope: Scope,
        references_min: i64,
        readable: &Readable,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Live suggestions, unpinned, never cited, made before; oldest first.
    async fn list_stale(
        &self,
        scope: Scope,
        before: Timestamp,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>>;
    /// Adds one access each.
    async fn touch_memories(&self, scope: Scope, ids: &[MemoryId], at: Timestamp) -> Result<()>;
    /// Says in which conversation memories were recalled.
    async fn add_sightings(&self, scope: Scope, conversation: &str, ids: &[MemoryId])
    -> Result<()>;
    /// Live facts of channels that reach these thresholds and have no like in `_global`, each
    /// with the number of conversations it was recalled in.
    async fn list_prominent(
        &self,
        scope: Scope,
        thresholds: &PromotionSettings,
        limit: usize,
    ) -> Result<Vec<(MemoryId, u64)>>;
    async fn count_memories(&self, scope: Scope) -> Result<u64>;
}
