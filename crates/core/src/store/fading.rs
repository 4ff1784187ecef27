//! The port for what fades with time.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::error::Result;
use crate::ids::NodeId;
use crate::job::Fading;
use crate::principal::Scope;

/// What time has left of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faded {
    pub id: Uuid,
    pub value: f64,
    /// Up to when it has faded.
    pub until: Timestamp,
    /// The revision that was read.
    pub revision: i64,
}

#[async_trait]
pub trait FadingStore {
    /// Live entities that nobody has accessed since, and that have not faded until then; by id.
    async fn list_fading_nodes(
        &self,
        scope: Scope,
        accessed: Timestamp,
        until: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Fading>>;
    /// The same of live, unpinned suggestions that name a source and are at most so sure.
    async fn list_fading_memories(
        &self,
        scope: Scope,
        accessed: Timestamp,
        until: Timestamp,
        confidence_max: f64,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Fading>>;
    /// Live entities of no connection that are less salient, that nobody has accessed since, and
    /// that no live memory is about; by id.
    async fn list_forgotten_nodes(
        &self,
        scope: Scope,
        salience: f64,
        accessed: Timestamp,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeId>>;
}
