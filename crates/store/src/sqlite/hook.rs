//! What an index kept beside the database is told, and when.
//!
//! The hook runs on the writer's thread after a commit and before its callers are answered, in
//! the order of commits, so that a record is found by a search as soon as its write returns.
//!
//! # Building an index without missing a commit
//!
//! 1. Under the hook's own lock, begin to note what later calls touch.
//! 2. Read everything with [`SqliteEngine::scan`](super::SqliteEngine::scan). A commit that the
//!    hook saw before step 1 is in the scan's snapshot, because the snapshot starts later; every
//!    other commit is noted.
//! 3. With [`SqliteEngine::exclusive`](super::SqliteEngine::exclusive), which runs between
//!    commits, read the noted records again, apply them, and install the index.
//!
//! A record that is in the snapshot and noted as well is merely applied twice. No sequence
//! numbers are needed.

use mnemic_core::Result;
use rusqlite::Connection;

use super::{row_ref::RowRef, run};
use crate::{Row, Scope, Statement, Touched, Value};

/// One committed batch.
#[derive(Debug)]
pub struct Commit<'a> {
    pub scope: Scope,
    pub touched: &'a [Touched],
}

/// Follows the commits of an engine.
pub trait CommitHook: Send + Sync + 'static {
    /// Batches were committed together, in this order. `reader` sees all of them. The hook deals
    /// with its own errors, for what was committed stays committed.
    fn committed(&self, commits: &[Commit<'_>], reader: Reader<'_>);

    /// A call of [`committed`](Self::committed) was lost or broken off by a panic: whatever was
    /// derived from the database must be built anew.
    fn missed(&self);
}

/// The hook of an engine without an index.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHook;

impl CommitHook for NoHook {
    fn committed(&self, _: &[Commit<'_>], _: Reader<'_>) {}

    fn missed(&self) {}
}

/// Read access on the writer's connection: nothing is committed while it is held.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'c> {
    conn: &'c Connection,
}

impl<'c> Reader<'c> {
    pub(super) fn new(conn: &'c Connection) -> Self {
        Self { conn }
    }

    pub(super) fn connection(self) -> &'c Connection {
        self.conn
    }

    pub fn read(
        self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<Vec<Row>> {
        run::read(self.conn, statement, &statement.arguments(scope, params)?)
    }

    /// As [`SqliteEngine::scan`](super::SqliteEngine::scan), on this connection.
    pub fn scan(
        self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
        each: impl FnMut(&RowRef<'_>) -> Result<()>,
    ) -> Result<()> {
        run::scan(self.conn, statement, &statement.arguments(scope, params)?, each)
    }
}
