//! What a query is about.

use std::collections::HashMap;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::ids::NodeId;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::recall::{Neighbour, Sight};
use mnemic_core::store::EntityStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::entity;
use crate::{Fields, Row, SearchEngine};

#[async_trait]
impl<E: SearchEngine> EntityStore for EngineStore<E> {
    async fn find_named(
        &self,
        scope: Workspaced,
        keys: &[String],
        sight: &Sight<'_>,
    ) -> Result<Vec<Vec<NodeId>>> {
        let chunks = keys.chunks(entity::NAMES_AT_ONCE);
        let params = chunks.map(|keys| entity::named(keys, sight)).collect();
        let found = self.engine.read_each(own(scope), &entity::NAMED, params).await?;
        let mut bearers: HashMap<String, Vec<NodeId>> = HashMap::new();
        for row in found.iter().flatten() {
            bearers.entry(row.string("alias_key")?).or_default().push(node(row, "node_id")?);
        }
        Ok(keys.iter().map(|key| bearers.remove(key).unwrap_or_default()).collect())
    }

    async fn list_neighbours(
        &self,
        scope: Workspaced,
        of: &[NodeId],
        sight: &Sight<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<Neighbour>>> {
        let params = of.iter().map(|id| entity::neighbours(*id, sight, limit)).collect();
        let found = self.engine.read_each(own(scope), &entity::NEIGHBOURS, params).await?;
        found.iter().map(|rows| rows.iter().map(entity::neighbour_from_row).collect()).collect()
    }

    async fn list_about(
        &self,
        scope: Workspaced,
        nodes: &[NodeId],
        sight: &Sight<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<Uuid>>> {
        let params = nodes.iter().map(|id| entity::about(*id, sight, limit)).collect();
        let found = self.engine.read_each(own(scope), &entity::ABOUT, params).await?;
        found.iter().map(|rows| rows.iter().map(|row| row.uuid("id")).collect()).collect()
    }

    async fn list_subjects(
        &self,
        scope: Workspaced,
        memories: &[Uuid],
        sight: &Sight<'_>,
    ) -> Result<Vec<Vec<NodeId>>> {
        let params = memories.iter().map(|id| entity::subjects(*id, sight)).collect();
        let found = self.engine.read_each(own(scope), &entity::SUBJECTS, params).await?;
        found.iter().map(|rows| rows.iter().map(|row| node(row, "target_id")).collect()).collect()
    }
}

fn node(row: &Row, column: &str) -> Result<NodeId> {
    row.uuid(column).map(NodeId)
}
