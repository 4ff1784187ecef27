//! The embedded engine: SQLite in the process, one file.
//!
//! One connection writes and commits in groups, a few others read, and a hook keeps the search
//! index in step with every commit. Nothing SQLite-like may leave this module except through
//! what an index needs to be built ([`SqliteEngine::scan`], [`SqliteEngine::exclusive`]).

mod backup;
mod bare;
mod check;
mod connection;
mod cost;
mod entry;
mod error;
mod hook;
mod index;
mod migrate;
mod options;
mod readers;
mod restore;
mod row_ref;
mod run;
mod scrub;
mod search;
pub(crate) mod stage;
mod talks;
#[cfg(test)]
mod tests;
pub(crate) mod transfer;
mod writer;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::erasure::Files;

pub use backup::{Backup, backup, backup_bytes, checksum_path, partial_path};
pub use bare::Bare;
pub use hook::{Commit, CommitHook, NoHook, Reader};
pub use index::{INDEX_BYTES_MAX_DEFAULT, Indexes};
pub use migrate::MIGRATIONS;
pub use options::Options;
pub use restore::{Restored, restore};
pub use row_ref::RowRef;
pub use search::EmbeddedEngine;

use self::{
    connection::Location, error::store_error, readers::Readers, scrub::Scrubs, writer::Writer,
};
use crate::{Batch, CheckDepth, Engine, Finding, Migration, Row, Scope, Statement, Value};

/// An open SQLite database.
pub struct SqliteEngine<H: CommitHook = NoHook> {
    location: Location,
    writer: Writer,
    readers: Readers,
    scrubs: Arc<Scrubs>,
    hook: Arc<H>,
}

impl<H: CommitHook> SqliteEngine<H> {
    /// Opens the database, creates it where there is none, and applies what migrations it lacks.
    /// Blocks. A damaged, foreign or newer database is refused and left as it is.
    pub fn open(
        path: &Path,
        options: Options,
        migrations: &[Migration],
        hook: Arc<H>,
    ) -> Result<Self> {
        let location = Location { path: path.to_owned(), options };
        let mut conn = location.create()?;
        migrate::migrate(&mut conn, migrations)?;
        let readers = Readers::open(location.clone())?;
        let writer = Writer::start(conn, location.clone(), hook.clone())?;
        Ok(Self { location, writer, readers, scrubs: Arc::default(), hook })
    }

    /// The hook that follows this engine's commits.
    pub fn hook(&self) -> &Arc<H> {
        &self.hook
    }

    /// Lends out each row of a statement in turn, in one snapshot that starts with this call, on
    /// a connection of its own. Blocks, and holds neither the writer nor the other readers up.
    pub fn scan(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
        each: impl FnMut(&RowRef<'_>) -> Result<()>,
    ) -> Result<()> {
        self.location.scan(scope, statement, params, each)
    }

    /// Runs a task on the writer's connection between two commits, with every earlier write visible
    /// and none happening meanwhile. It must be short: all writers wait for it.
    pub async fn exclusive<T: Send + 'static>(
        &self,
        task: impl FnOnce(Reader<'_>) -> T + Send + 'static,
    ) -> Result<T> {
        self.writer.exclusive(task).await
    }
}

#[async_trait]
impl<H: CommitHook> Engine for SqliteEngine<H> {
    async fn read(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<Vec<Row>> {
        let arguments = statement.arguments(scope, params)?;
        self.readers.read(statement, 1, move |conn| run::read(conn, statement, &arguments)).await
    }

    async fn read_each(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Row>>> {
        if params.is_empty() {
            return Ok(Vec::new());
        }
        let sets = params.into_iter().map(|set| statement.arguments(scope, set));
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let count = sets.len();
        let read = move |conn: &rusqlite::Connection| {
            let failed = |error| store_error(statement.name, error);
            // Ends with the scope, whatever happens in it: there is nothing to commit.
            let _snapshot = conn.unchecked_transaction().map_err(failed)?;
            run::read_each(conn, statement, &sets)
        };
        self.readers.read(statement, count, read).await
    }

    async fn write(&self, scope: Scope, mut batch: Batch) -> Result<Vec<Vec<Row>>> {
        for step in &mut batch.steps {
            step.params = step.statement.arguments(scope, std::mem::take(&mut step.params))?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.writer.write(scope, batch).await
    }

    fn reign(&self) -> Option<u64> {
        Some(self.writer.reign())
    }

    async fn check(&self, depth: CheckDepth) -> Result<Vec<Finding>> {
        self.readers.run(move |conn| check::check(conn, depth)).await
    }

    async fn scrub(&self) -> Result<Files> {
        let (scrubs, ticket) = (self.scrubs.clone(), self.scrubs.ask());
        let scrubbed = self.exclusive(move |reader| scrubs.scrub(ticket, reader.connection()));
        scrubbed.await?.map(|()| Files::Rewritten)
    }

    async fn turn_audit_days(&self, _: Timestamp) -> Result<()> {
        Ok(())
    }

    async fn size_bytes(&self) -> Result<u64> {
        self.location.size_bytes()
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
