//! Core's ports on any engine: changes become batches, rows become core's types.

mod access;
mod action;
mod answer;
mod audit;
mod change;
mod conversation;
mod edge;
mod entity;
mod erasure;
mod fading;
mod goal;
mod job;
mod memory;
mod metric;
mod node;
mod pattern;
mod principals;
mod procedure;
mod profile;
mod review;
mod run;
mod said;
mod search;
mod secret;
mod sequence;
mod strategy;
mod timeline;
mod token;
mod tool;
mod vector;
mod workspace;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::page::Position;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::{Change, Finding, Store};
use uuid::Uuid;

use crate::{Batch, CheckDepth, Fields, Row, Scope, SearchEngine, Statement, Value};
use change::add_change;
use principals::Principals;

/// A store on an engine.
pub struct EngineStore<E> {
    engine: E,
    principals: Principals,
}

impl<E: SearchEngine> EngineStore<E> {
    pub fn new(engine: E) -> Self {
        Self { engine, principals: Principals::default() }
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

    /// What a `SELECT count(*) AS rows …` counts.
    async fn count(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<u64> {
        let rows = self.first(scope, statement, params, |row| row.int("rows")).await?;
        Ok(rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0))
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
}

fn batch_of(changes: &[Change]) -> Batch {
    let mut batch = Batch::new();
    for change in changes {
        add_change(&mut batch, change);
    }
    batch
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

#[async_trait]
impl<E: SearchEngine> Store for EngineStore<E> {
    async fn commit(&self, scope: Workspaced, changes: Vec<Change>) -> Result<()> {
        self.engine.write(own(scope), batch_of(&changes)).await.map(drop)
    }

    async fn commit_hastily(&self, scope: Workspaced, changes: Vec<Change>) -> Result<()> {
        let mut batch = batch_of(&changes);
        batch.hasty();
        self.engine.write(own(scope), batch).await.map(drop)
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
