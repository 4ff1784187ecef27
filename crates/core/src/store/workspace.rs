//! The port for workspaces.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::page::Position;
use crate::workspace::{Erasure, Workspace};

#[async_trait]
pub trait WorkspaceStore {
    async fn lookup_workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>>;
    /// By name, among those that are not deleted.
    async fn find_workspace(&self, name: &str) -> Result<Option<Workspace>>;
    /// Newest first.
    async fn list_workspaces(
        &self,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Workspace>>;
    async fn add_workspace(&self, workspace: &Workspace) -> Result<()>;
    /// The stored revision must be the one before.
    async fn update_workspace(&self, workspace: &Workspace) -> Result<()>;
    /// Whether there was one to hide.
    async fn hide_workspace(&self, id: WorkspaceId, at: Timestamp) -> Result<bool>;
    /// Removes every row of it, hidden or not, and counts what is left.
    async fn erase_workspace(&self, id: WorkspaceId) -> Result<Option<Erasure>>;
}
