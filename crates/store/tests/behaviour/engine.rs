//! An engine that can be made to fail, as if its process were killed: before or behind a write of
//! one's choice, and from then on at every one, until it is healed.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::embed::ModelStamp;
use mnemic_core::erasure::Files;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter, Spoken, WordEvidence};
use mnemic_core::store::PieceLikeness;
use mnemic_core::{Code, Error, Result};
use mnemic_store::{
    Batch, CheckDepth, Engine, Finding, Row, Scope, SearchEngine, Statement, Value,
};
use uuid::Uuid;

/// When the engine fails.
#[derive(Debug, Default)]
pub(crate) struct Fault(Mutex<Plan>);

#[derive(Debug, Default)]
struct Plan {
    writes: usize,
    /// The write at which it fails, and whether that one still happens.
    kill: Option<(usize, bool)>,
    dead: bool,
}

impl Fault {
    /// Lets the engine fail at the nth write from now on, before it or behind it.
    pub(crate) fn arm(&self, nth: usize, behind: bool) {
        let mut plan = self.plan();
        plan.kill = Some((plan.writes + nth, behind));
    }

    pub(crate) fn heal(&self) {
        let mut plan = self.plan();
        (plan.kill, plan.dead) = (None, false);
    }

    pub(crate) fn writes(&self) -> usize {
        self.plan().writes
    }

    fn plan(&self) -> std::sync::MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write; whether it happens, and whether anybody hears of it.
    fn write(&self) -> (bool, bool) {
        let mut plan = self.plan();
        if plan.dead {
            return (false, false);
        }
        plan.writes += 1;
        match plan.kill {
            Some((nth, behind)) if nth == plan.writes => {
                plan.dead = true;
                (behind, false)
            }
            _ => (true, true),
        }
    }
}

pub(crate) struct Mortal<E> {
    engine: E,
    fault: Arc<Fault>,
}

impl<E> Mortal<E> {
    pub(crate) fn new(engine: E, fault: Arc<Fault>) -> Self {
        Self { engine, fault }
    }
}

fn killed() -> Error {
    Error::new(Code::StoreUnavailable, "killed")
}

#[async_trait]
impl<E: SearchEngine> Engine for Mortal<E> {
    async fn read(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<Vec<Row>> {
        self.engine.read(scope, statement, params).await
    }

    async fn read_each(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Row>>> {
        self.engine.read_each(scope, statement, params).await
    }

    async fn write(&self, scope: Scope, batch: Batch) -> Result<Vec<Vec<Row>>> {
        let (happens, heard) = self.fault.write();
        if !happens {
            return Err(killed());
        }
        let done = self.engine.write(scope, batch).await?;
        if heard { Ok(done) } else { Err(killed()) }
    }

    fn reign(&self) -> Option<u64> {
        self.engine.reign()
    }

    async fn check(&self, depth: CheckDepth) -> Result<Vec<Finding>> {
        self.engine.check(depth).await
    }

    async fn scrub(&self) -> Result<Files> {
        self.engine.scrub().await
    }

    async fn turn_audit_days(&self, kept_from: Timestamp) -> Result<()> {
        self.engine.turn_audit_days(kept_from).await
    }

    async fn size_bytes(&self) -> Result<u64> {
        self.engine.size_bytes().await
    }

    async fn close(&self) {
        self.engine.close().await;
    }
}

#[async_trait]
impl<E: SearchEngine> SearchEngine for Mortal<E> {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        self.engine.use_model(stamp).await
    }

    async fn search_words(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_words(scope, kind, query, filter, limit).await
    }

    async fn word_evidence(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        ids: &[Uuid],
    ) -> Result<WordEvidence> {
        self.engine.word_evidence(scope, kind, query, ids).await
    }

    async fn cosines(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>> {
        self.engine.cosines(scope, kind, stamp, query, ids).await
    }

    async fn search_vectors(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.engine.search_vectors(scope, kind, stamp, query, filter, limit).await
    }

    async fn piece_likeness(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[u8],
        ids: &[Uuid],
    ) -> Result<Vec<Option<PieceLikeness>>> {
        self.engine.piece_likeness(scope, kind, stamp, pieces, ids).await
    }

    async fn said_around(
        &self,
        scope: Scope,
        ids: &[TurnId],
        reach: i64,
    ) -> Result<Vec<Arc<Spoken>>> {
        self.engine.said_around(scope, ids, reach).await
    }

    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        self.engine.matched_words(scope, query, ids).await
    }

    async fn prepare_searches(&self, scope: Scope) -> Result<bool> {
        self.engine.prepare_searches(scope).await
    }

    fn forget(&self, scope: Scope) {
        self.engine.forget(scope);
    }

    fn describe(&self) -> String {
        self.engine.describe()
    }
}
