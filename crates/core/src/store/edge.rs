//! The port for edges, and for the records that they join.

use async_trait::async_trait;
use uuid::Uuid;

use crate::edge::Edge;
use crate::error::Result;
use crate::ids::EdgeId;
use crate::node::{Hops, Record, Walk};
use crate::principal::Scope;

#[async_trait]
pub trait EdgeStore {
    async fn lookup_edge(&self, scope: Scope, id: EdgeId) -> Result<Option<Edge>>;
    /// The live edge with these ends and this relation, for each that is asked for.
    async fn find_edges(
        &self,
        scope: Scope,
        wanted: &[(Uuid, &str, Uuid)],
    ) -> Result<Vec<Option<Edge>>>;
    /// The live edges of one relation that begin at a record.
    async fn list_edges_from(
        &self,
        scope: Scope,
        source: Uuid,
        relation: &str,
    ) -> Result<Vec<Edge>>;
    /// The live edges of one relation that end at a record.
    async fn list_edges_to(&self, scope: Scope, target: Uuid, relation: &str) -> Result<Vec<Edge>>;
    /// What is behind each of these ids, unless it is absent or deleted.
    async fn find_records(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Option<Record>>>;
    /// The edges of each of these records that a walk may take, with what is at their other end,
    /// in an order that is the same on every engine. At most `edges_max` in each direction.
    async fn step(
        &self,
        scope: Scope,
        from: &[Uuid],
        walk: &Walk,
        edges_max: usize,
    ) -> Result<Vec<Hops>>;
}
