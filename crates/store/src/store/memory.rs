//! Memories.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::grant::Readable;
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, MemoryFilter};
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::MemoryStore;
use mnemic_core::workspace::PromotionSettings;

use super::{EngineStore, behind, own};
use crate::statements::{memory, sighting};
use crate::{Batch, Fields, Row, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> MemoryStore for EngineStore<E> {
    async fn lookup_memory(&self, scope: Workspaced, id: MemoryId) -> Result<Option<Memory>> {
        self.first(own(scope), &memory::LOOKUP, values![id.0], memory::from_row).await
    }

    async fn lookup_memories(&self, scope: Workspaced, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &memory::LOOKUP, params, memory::from_row).await
    }

    async fn list_memories(
        &self,
        scope: Workspaced,
        filter: &MemoryFilter,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::list(filter, readable, behind(after), limit);
        self.all(own(scope), &memory::LIST, params, memory::from_row).await
    }

    async fn list_recommended_pins(
        &self,
        scope: Workspaced,
        references_min: i64,
        readable: &Readable,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::recommended_pins(references_min, readable, limit);
        self.all(own(scope), &memory::RECOMMENDED_PINS, params, memory::from_row).await
    }

    async fn list_stale(
        &self,
        scope: Workspaced,
        before: Timestamp,
        readable: &Readable,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::stale(before, readable, behind(after), limit);
        self.all(own(scope), &memory::STALE, params, memory::from_row).await
    }

    async fn touch_memories(
        &self,
        scope: Workspaced,
        ids: &[MemoryId],
        at: Timestamp,
    ) -> Result<()> {
        let mut batch = Batch::new();
        for id in ids {
            batch.run(&memory::TOUCH, values![id.0, at]);
        }
        self.engine.write(own(scope), batch).await.map(drop)
    }

    async fn add_sightings(
        &self,
        scope: Workspaced,
        conversation: &str,
        ids: &[MemoryId],
    ) -> Result<()> {
        let mut batch = Batch::new();
        for id in ids {
            batch.run(&sighting::ADD, values![id.0, conversation]);
        }
        self.engine.write(own(scope), batch).await.map(drop)
    }

    async fn list_prominent(
        &self,
        scope: Workspaced,
        thresholds: &PromotionSettings,
        limit: usize,
    ) -> Result<Vec<(MemoryId, u64)>> {
        let counted = |row: &Row| {
            let conversations = u64::try_from(row.int("conversations")?).unwrap_or(0);
            Ok((MemoryId(row.uuid("id")?), conversations))
        };
        let params = sighting::prominent(thresholds, limit);
        self.all(own(scope), &sighting::PROMINENT, params, counted).await
    }

    async fn count_memories(&self, scope: Workspaced) -> Result<u64> {
        self.count(own(scope), &memory::COUNT, vec![]).await
    }
}
