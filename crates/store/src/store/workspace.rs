//! Workspaces, and the removal of all that belongs to one.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::ids::WorkspaceId;
use mnemic_core::page::Position;
use mnemic_core::store::WorkspaceStore;
use mnemic_core::workspace::{Erasure, Workspace};
use mnemic_core::{Kind, Result};

use super::{EngineStore, behind};
use crate::statements::workspace;
use crate::{Batch, Fields, Scope, SearchEngine, values};

/// How often an erasure starts over because a last write slipped in.
const ERASE_ATTEMPTS: usize = 5;

#[async_trait]
impl<E: SearchEngine> WorkspaceStore for EngineStore<E> {
    async fn lookup_workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>> {
        let params = values![id.0];
        self.first(Scope::System, &workspace::LOOKUP, params, workspace::from_row).await
    }

    async fn find_workspace(&self, name: &str) -> Result<Option<Workspace>> {
        self.first(Scope::System, &workspace::FIND, values![name], workspace::from_row).await
    }

    async fn list_workspaces(
        &self,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Workspace>> {
        let params = values![behind(after), i64::try_from(limit).unwrap_or(i64::MAX)];
        self.all(Scope::System, &workspace::LIST, params, workspace::from_row).await
    }

    async fn add_workspace(&self, new: &Workspace) -> Result<()> {
        self.engine.write(Scope::System, workspace::add(new)?.into()).await.map(drop)
    }

    async fn update_workspace(&self, changed: &Workspace) -> Result<()> {
        self.engine.write(Scope::System, workspace::update(changed)?.into()).await.map(drop)
    }

    async fn hide_workspace(&self, id: WorkspaceId, at: Timestamp) -> Result<bool> {
        let hidden = self.affected(Scope::System, &workspace::HIDE, values![id.0, at]).await?;
        self.engine.forget(Scope::Workspace(id.0));
        Ok(hidden > 0)
    }

    async fn erase_workspace(&self, id: WorkspaceId) -> Result<Option<Erasure>> {
        let exists = self.engine.read(Scope::System, &workspace::EXISTS, values![id.0]).await?;
        if exists.is_empty() {
            return Ok(None);
        }
        let mut attempts = 1;
        let removed = loop {
            match self.erase_once(id).await {
                Err(e) if e.kind() == Kind::Conflict && attempts < ERASE_ATTEMPTS => attempts += 1,
                done => break done?,
            }
        };
        self.engine.scrub().await?;
        let remaining = self.count_contents(Scope::Workspace(id.0)).await?;
        Ok(Some(Erasure { removed, remaining }))
    }
}

impl<E: SearchEngine> EngineStore<E> {
    async fn count_contents(&self, scope: Scope) -> Result<u64> {
        let mut total = 0;
        for content in workspace::CONTENTS {
            total += self.count(scope, &content.count, vec![]).await?;
        }
        Ok(total)
    }

    /// Removes all of a workspace in one batch, and itself with it. On an engine whose batches
    /// run side by side the last step fails if a write slipped in, because its rows still refer
    /// to the workspace; then nothing was removed.
    async fn erase_once(&self, id: WorkspaceId) -> Result<BTreeMap<String, u64>> {
        let own = Scope::Workspace(id.0);
        let mut batch = Batch::new();
        for content in workspace::CONTENTS {
            batch.run(&content.count, vec![]).run(&content.empty, vec![]);
        }
        batch.run(&workspace::ERASE_TOKENS, vec![]).run(&workspace::ERASE, vec![]);
        let steps = self.engine.write(own, batch).await?;
        self.engine.forget(own);
        let (contents, last) = steps.split_at(2 * workspace::CONTENTS.len());
        let mut removed = BTreeMap::new();
        for (content, counted) in workspace::CONTENTS.iter().zip(contents.iter().step_by(2)) {
            let rows = counted.first().map_or(Ok(0), |row| row.int("rows"))?;
            removed.insert(content.table.to_owned(), u64::try_from(rows).unwrap_or(0));
        }
        for (table, rows) in ["tokens", "workspaces"].iter().zip(last) {
            removed.insert((*table).to_owned(), rows.len() as u64);
        }
        Ok(removed)
    }
}
