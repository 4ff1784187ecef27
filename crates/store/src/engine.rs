//! The port to a database: few operations, and a contract that every engine keeps.
//!
//! Only what databases truly differ in belongs here. An engine knows statements and values; it
//! must not know what a memory is.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::erasure::Files;

use crate::{Batch, Row, Scope, Statement, Value};

/// A database that holds the truth.
///
/// # The contract
///
/// *Scope.* A statement made for one kind of scope is refused in the other with
/// [`Code::Internal`](mnemic_core::Code::Internal) before the database is touched. The engine
/// itself supplies the workspace as `$1`.
///
/// *Atomicity.* A batch is applied as a whole, in the order of its steps, or not at all: an unmet
/// expectation, a violated constraint or a fault in any step leaves nothing behind. Batches
/// behave as if they ran one after another. An empty batch succeeds.
///
/// *Durability.* `Ok` from [`write`](Self::write) means that the batch survives the loss of the
/// process and of power. [`Kind::Conflict`](mnemic_core::Kind::Conflict) and the code a step
/// chose mean that nothing was written. So does
/// [`Kind::Unavailable`](mnemic_core::Kind::Unavailable), except where the connection was lost
/// while the batch committed: all of it or none of it may be there, and a retry needs a key to be
/// safe. The same holds when the future of a write is dropped before it is ready.
///
/// *Visibility.* A read that starts after a write was answered sees it. A read sees one state of
/// the database, committed as a whole; [`read_each`](Self::read_each) sees one state across all
/// its parameter sets. Nobody sees a batch before it is durable, and what a search index is told
/// about a batch, it is told before the batch is answered.
///
/// *Values.* Times are kept to the microsecond. Text compares by its bytes, with case. NULLs
/// have no portable place in an order: a statement that may meet them says `NULLS FIRST` or
/// `NULLS LAST`, and ends its order in a unique column.
///
/// *Errors.* A violated unique, primary or foreign key is a conflict. A database that is away,
/// full, locked or read-only is unavailable, with a detail that says what to do; the engine
/// recovers by itself once the cause is gone. Damaged data is corrupt, and is never replaced or
/// repaired silently.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// Runs a statement that changes nothing and returns all its rows.
    async fn read(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
    ) -> Result<Vec<Row>>;

    /// Runs one statement for each parameter set, in one snapshot and one trip.
    async fn read_each(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Row>>>;

    /// Applies a batch and returns, for each step, the rows of its `RETURNING` or `SELECT`.
    async fn write(&self, scope: Scope, batch: Batch) -> Result<Vec<Vec<Row>>>;

    /// A number that has grown before anybody is answered who changed tokens or workspaces, if the
    /// engine learns of all such changes; on a database that others write to, too, there is none.
    /// What was read of them after asking holds for as long as the number stays.
    fn reign(&self) -> Option<u64>;

    /// Looks for damage. Nothing found is an empty list; an error means it could not look.
    async fn check(&self, depth: CheckDepth) -> Result<Vec<Finding>>;

    /// Makes sure that content deleted by answered writes is in none of the database's files, as
    /// far as they are the engine's own: a database server's are its administrator's.
    async fn scrub(&self) -> Result<Files>;

    /// Removes the days of audit before this time, of all workspaces, and prepares those to come,
    /// where the engine keeps days apart. Others leave it to statements.
    async fn turn_audit_days(&self, kept_from: Timestamp) -> Result<()>;

    /// How much room the database takes.
    async fn size_bytes(&self) -> Result<u64>;

    /// Finishes what was accepted, then refuses everything as unavailable.
    async fn close(&self);
}

/// How thoroughly [`Engine::check`] looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Structure and references, in a time that suits a start.
    Quick,
    /// Everything, including that indexes agree with their tables.
    Full,
}

/// One thing that is wrong with a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, such as `structure` or `references`.
    pub subject: &'static str,
    pub detail: String,
}
