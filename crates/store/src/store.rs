//! Core's ports on any engine: changes become batches, rows become core's types.

use std::collections::BTreeMap;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::answer::Answer;
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::{MemoryId, TokenId, WorkspaceId};
use mnemic_core::memory::{Memory, MemoryFilter};
use mnemic_core::page::Position;
use mnemic_core::principal::{Principal, Scope as Workspaced};
use mnemic_core::recall::{Hit, SearchFilter};
use mnemic_core::store::{
    AnswerStore, Change, Embedded, Finding, MemoryStore, RunStore, Search, Store, TokenStore,
    Unembedded, VectorStore, WorkspaceStore,
};
use mnemic_core::token::Token;
use mnemic_core::workspace::{Erasure, Workspace};
use mnemic_core::{Code, Error, Kind, Result};
use uuid::Uuid;

use crate::statements::{answer, edge, memory, run, token, vector, workspace};
use crate::{Batch, CheckDepth, Fields, Row, Scope, SearchEngine, Statement, Value, values};

/// How often an erasure starts over because a last write slipped in.
const ERASE_ATTEMPTS: usize = 5;

/// A store on an engine.
pub struct EngineStore<E> {
    engine: E,
}

impl<E: SearchEngine> EngineStore<E> {
    pub fn new(engine: E) -> Self {
        Self { engine }
    }

    pub fn engine(&self) -> &E {
        &self.engine
    }

    async fn all<T>(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
        from_row: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.engine.read(scope, statement, params).await?.iter().map(from_row).collect()
    }

    async fn first<T>(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
        from_row: impl Fn(&Row) -> Result<T>,
    ) -> Result<Option<T>> {
        self.engine.read(scope, statement, params).await?.first().map(from_row).transpose()
    }

    /// The first row of each lookup that found one, in the order asked for.
    async fn each<T>(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
        from_row: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let found = self.engine.read_each(scope, statement, params).await?;
        found.iter().filter_map(|rows| rows.first()).map(from_row).collect()
    }

    /// Runs one statement with `RETURNING` and says how many rows it returned.
    async fn affected(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<u64> {
        let mut batch = Batch::new();
        batch.run(statement, params);
        Ok(self.engine.write(scope, batch).await?.first().map_or(0, |rows| rows.len() as u64))
    }

    async fn count_contents(&self, scope: Scope) -> Result<u64> {
        let mut total = 0;
        for content in workspace::CONTENTS {
            let rows = self.first(scope, &content.count, vec![], |row| row.int("rows")).await?;
            total += rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
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

fn own(scope: Workspaced) -> Scope {
    Scope::Workspace(scope.workspace().0)
}

/// Lists ordered by id never get another kind of position from core.
fn behind(position: Option<Position>) -> Option<Uuid> {
    match position {
        Some(Position::After(id)) => Some(id),
        Some(Position::Skip(_)) | None => None,
    }
}

fn add_change(batch: &mut Batch, change: &Change) {
    match change {
        Change::AddMemory(new) => {
            batch.push(memory::add(new)).touch(memory::KIND, new.id.0);
        }
        Change::UpdateMemory { memory: changed, content_changed } => {
            batch.push(memory::update(changed)).touch(memory::KIND, changed.id.0);
            if *content_changed {
                batch.push(vector::erase_of(changed.id.0));
            }
        }
        Change::RequireLive(id) => {
            batch.push(memory::require_live(*id));
        }
        Change::EraseMemory(id) => erase_memory(batch, *id, memory::erase(*id)),
        Change::EraseStale { id, before } => {
            erase_memory(batch, *id, memory::erase_stale(*id, *before));
        }
        Change::AddEdge(new) => {
            batch.push(edge::add(new));
        }
        Change::FinishRun(finished) => {
            batch.push(run::finish(finished));
        }
        Change::CountCitation { run_id, memory_id } => {
            batch.push(run::cite(run_id, *memory_id)).push(memory::count_reference(*memory_id));
        }
        Change::KeepAnswer(kept) => {
            batch.push(answer::keep(kept));
        }
    }
}

fn erase_memory(batch: &mut Batch, id: MemoryId, erase: crate::Step) {
    batch
        .push(memory::unlink(id))
        .push(vector::erase_of(id.0))
        .push(edge::bridge(id.0))
        .push(edge::erase_of(id.0))
        .push(run::erase_citations(id))
        .push(answer::erase_of(id))
        .push(erase)
        .touch(memory::KIND, id.0);
}

fn erases(change: &Change) -> bool {
    matches!(change, Change::EraseMemory(_) | Change::EraseStale { .. })
}

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

#[async_trait]
impl<E: SearchEngine> TokenStore for EngineStore<E> {
    async fn find_principal(&self, hash: &[u8; 32]) -> Result<Option<Principal>> {
        let params = values![&hash[..]];
        self.first(Scope::System, &token::FIND, params, token::principal_from_row).await
    }

    async fn add_token(&self, new: &Token, hash: &[u8; 32]) -> Result<()> {
        self.engine.write(Scope::System, token::add(new, hash).into()).await.map(drop)
    }

    async fn list_tokens(
        &self,
        of: Option<WorkspaceId>,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Token>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params = values![of.map(|id| id.0), behind(after), limit];
        self.all(Scope::System, &token::LIST, params, token::from_row).await
    }

    async fn revoke_token(
        &self,
        of: Option<WorkspaceId>,
        id: TokenId,
        at: Timestamp,
    ) -> Result<bool> {
        let params = values![of.map(|id| id.0), id.0, at, false];
        Ok(self.affected(Scope::System, &token::REVOKE, params).await? > 0)
    }
}

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
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::list(filter, behind(after), limit);
        self.all(own(scope), &memory::LIST, params, memory::from_row).await
    }

    async fn list_recommended_pins(
        &self,
        scope: Workspaced,
        references_min: i64,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::recommended_pins(references_min, limit);
        self.all(own(scope), &memory::RECOMMENDED_PINS, params, memory::from_row).await
    }

    async fn list_stale(
        &self,
        scope: Workspaced,
        before: Timestamp,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        let params = memory::stale(before, behind(after), limit);
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

    async fn count_memories(&self, scope: Workspaced) -> Result<u64> {
        let rows = self.first(own(scope), &memory::COUNT, vec![], |row| row.int("rows")).await?;
        Ok(rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0))
    }
}

#[async_trait]
impl<E: SearchEngine> RunStore for EngineStore<E> {
    async fn list_citations(&self, scope: Workspaced, run_id: &str) -> Result<Vec<MemoryId>> {
        let from_row = |row: &Row| row.uuid("memory_id").map(MemoryId);
        self.all(own(scope), &run::CITATIONS, values![run_id], from_row).await
    }
}

#[async_trait]
impl<E: SearchEngine> AnswerStore for EngineStore<E> {
    async fn find_answer(&self, scope: Workspaced, key: &str) -> Result<Option<Answer>> {
        self.first(own(scope), &answer::FIND, values![key], answer::from_row).await
    }

    async fn drop_answers(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        self.affected(own(scope), &answer::DROP_BEFORE, values![before]).await
    }
}

#[async_trait]
impl<E: SearchEngine> VectorStore for EngineStore<E> {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        self.engine.use_model(stamp).await
    }

    async fn list_unembedded(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Unembedded>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params = values![after, stamp.key(), limit];
        self.all(own(scope), &vector::LIST_MISSING, params, vector::text_from_row).await
    }

    async fn lookup_unembedded(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Unembedded>> {
        let params = ids.iter().map(|id| values![*id]).collect();
        self.each(own(scope), &vector::LOOKUP_TEXT, params, vector::text_from_row).await
    }

    async fn put_vectors(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        vectors: Vec<Embedded>,
    ) -> Result<()> {
        let mut batch = Batch::new();
        for embedded in &vectors {
            if embedded.vector.len() != stamp.dimensions {
                let detail =
                    format!("a vector of {} has {} dimensions", stamp.key(), embedded.vector.len());
                return Err(Error::new(Code::ModelUnavailable, detail));
            }
            batch.push(vector::put(stamp, embedded)).touch(memory::KIND, embedded.id);
        }
        self.engine.write(own(scope), batch).await.map(drop)
    }

    async fn drop_other_vectors(&self, scope: Workspaced, stamp: &ModelStamp) -> Result<u64> {
        self.affected(own(scope), &vector::DROP_OTHERS, values![stamp.key()]).await
    }
}

#[async_trait]
impl<E: SearchEngine> Search for EngineStore<E> {
    async fn search_words(
        &self,
        scope: Workspaced,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_words(own(scope), query, filter, limit).await
    }

    async fn search_vectors(
        &self,
        scope: Workspaced,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_vectors(own(scope), stamp, query, filter, limit).await
    }

    async fn matched_words(
        &self,
        scope: Workspaced,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        self.engine.matched_words(own(scope), query, ids).await
    }
}

#[async_trait]
impl<E: SearchEngine> Store for EngineStore<E> {
    async fn commit(&self, scope: Workspaced, changes: Vec<Change>) -> Result<()> {
        let mut batch = Batch::new();
        for change in &changes {
            add_change(&mut batch, change);
        }
        self.engine.write(own(scope), batch).await?;
        if changes.iter().any(erases) {
            // The rows are gone; a failure here leaves old pages in the log until the next time.
            if let Err(e) = self.engine.scrub().await {
                tracing::warn!(error = %e, "erased text may linger in the log for a while");
            }
        }
        Ok(())
    }

    async fn check(&self, thorough: bool) -> Result<Vec<Finding>> {
        let depth = if thorough { CheckDepth::Full } else { CheckDepth::Quick };
        let damage = self.engine.check(depth).await?;
        let mut findings: Vec<_> = damage
            .into_iter()
            .map(|d| Finding { part: format!("store: {}", d.subject), ok: false, detail: d.detail })
            .collect();
        if findings.is_empty() {
            let detail = format!("sound; {} bytes", self.engine.size_bytes().await?);
            findings.push(Finding { part: "store".to_owned(), ok: true, detail });
        }
        let detail = self.engine.describe();
        findings.push(Finding { part: "index".to_owned(), ok: true, detail });
        Ok(findings)
    }

    async fn close(&self) {
        self.engine.close().await;
    }
}
