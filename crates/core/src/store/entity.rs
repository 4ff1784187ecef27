//! The port for what a query is about: nodes by name, what they are joined to, and the memories
//! about them. What may not be seen is left out before anything is cut.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::Result;
use crate::ids::NodeId;
use crate::principal::Scope;
use crate::recall::{Neighbour, Sight};

#[async_trait]
pub trait EntityStore {
    /// The live nodes that have each of these folded names, the most salient first; few of each.
    async fn find_named(
        &self,
        scope: Scope,
        keys: &[String],
        sight: &Sight<'_>,
    ) -> Result<Vec<Vec<NodeId>>>;
    /// The nodes that each of these is joined to by a relation of the world, not by one that only
    /// says where a memory belongs; the most salient first.
    async fn list_neighbours(
        &self,
        scope: Scope,
        of: &[NodeId],
        sight: &Sight<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<Neighbour>>>;
    /// The memories about each of these nodes that pass the filter, newest first.
    async fn list_about(
        &self,
        scope: Scope,
        nodes: &[NodeId],
        sight: &Sight<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<Uuid>>>;
    /// The nodes that each of these memories is about.
    async fn list_subjects(
        &self,
        scope: Scope,
        memories: &[Uuid],
        sight: &Sight<'_>,
    ) -> Result<Vec<Vec<NodeId>>>;
}
