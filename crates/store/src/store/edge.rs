//! Edges, and the records that they join.

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::edge::Edge;
use mnemic_core::ids::EdgeId;
use mnemic_core::node::{Hops, Record, Walk};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::EdgeStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::{edge, node, walk};
use crate::{Row, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> EdgeStore for EngineStore<E> {
    async fn lookup_edge(&self, scope: Workspaced, id: EdgeId) -> Result<Option<Edge>> {
        self.first(own(scope), &edge::LOOKUP, values![id.0], edge::from_row).await
    }

    async fn find_edges(
        &self,
        scope: Workspaced,
        wanted: &[(Uuid, &str, Uuid)],
    ) -> Result<Vec<Option<Edge>>> {
        let params = wanted.iter().map(|(from, by, to)| values![*from, *by, *to]).collect();
        let found = self.engine.read_each(own(scope), &edge::FIND, params).await?;
        found.iter().map(|rows| rows.first().map(edge::from_row).transpose()).collect()
    }

    async fn list_edges_from(
        &self,
        scope: Workspaced,
        source: Uuid,
        relation: &str,
    ) -> Result<Vec<Edge>> {
        self.all(own(scope), &edge::LIST_FROM, values![source, relation], edge::from_row).await
    }

    async fn list_edges_to(
        &self,
        scope: Workspaced,
        target: Uuid,
        relation: &str,
    ) -> Result<Vec<Edge>> {
        self.all(own(scope), &edge::LIST_TO, values![target, relation], edge::from_row).await
    }

    /// Nodes first, since most are; memories among what is left.
    async fn find_records(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Option<Record>>> {
        let params = ids.iter().map(|id| values![*id]).collect();
        let found = self.engine.read_each(own(scope), &node::LOOKUP, params).await?;
        let mut records = Vec::with_capacity(ids.len());
        for rows in &found {
            let node = rows.first().map(node::from_row).transpose()?;
            let node = node.filter(|node| node.deleted_at.is_none());
            records.push(node.map(|node| Record::Node(Box::new(node))));
        }
        let open: Vec<_> = records.iter_mut().zip(ids).filter(|(r, _)| r.is_none()).collect();
        if open.is_empty() {
            return Ok(records);
        }
        let params = open.iter().map(|(_, id)| values![**id]).collect();
        let glimpses = self.engine.read_each(own(scope), &walk::GLIMPSE, params).await?;
        for ((record, _), rows) in open.into_iter().zip(glimpses) {
            *record = rows.first().map(walk::glimpse_from_row).transpose()?;
        }
        Ok(records)
    }

    async fn step(
        &self,
        scope: Workspaced,
        from: &[Uuid],
        walk: &Walk,
        edges_max: usize,
    ) -> Result<Vec<Hops>> {
        let params = from.iter().flat_map(|id| walk::steps(*id, walk, edges_max)).collect();
        let found = self.engine.read_each(own(scope), walk::statement(walk), params).await?;
        let each = walk.relations.len().max(1);
        found.chunks(each).map(|results| hops(results, walk, edges_max)).collect()
    }
}

/// What the statements about one record found.
fn hops(results: &[Vec<Row>], walk: &Walk, edges_max: usize) -> Result<Hops> {
    let mut all = Hops::default();
    for rows in results {
        let Hops { found, cut } = walk::hops(rows, walk, edges_max)?;
        all.found.extend(found);
        all.cut |= cut;
    }
    Ok(all)
}
