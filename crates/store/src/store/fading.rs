//! What fades with time.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::NodeId;
use mnemic_core::job::Fading;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::FadingStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::fading;
use crate::{Fields, Row, SearchEngine};

#[async_trait]
impl<E: SearchEngine> FadingStore for EngineStore<E> {
    async fn list_fading_nodes(
        &self,
        scope: Workspaced,
        accessed: Timestamp,
        until: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Fading>> {
        let params = fading::nodes(accessed, until, after, limit);
        self.all(own(scope), &fading::NODES, params, fading::from_row).await
    }

    async fn list_fading_memories(
        &self,
        scope: Workspaced,
        accessed: Timestamp,
        until: Timestamp,
        confidence_max: f64,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Fading>> {
        let params = fading::memories(accessed, until, confidence_max, after, limit);
        self.all(own(scope), &fading::MEMORIES, params, fading::from_row).await
    }

    async fn list_forgotten_nodes(
        &self,
        scope: Workspaced,
        salience: f64,
        accessed: Timestamp,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeId>> {
        let params = fading::forgotten(salience, accessed, after.map(|id| id.0), limit);
        let id = |row: &Row| row.uuid("id").map(NodeId);
        self.all(own(scope), &fading::FORGOTTEN, params, id).await
    }
}
