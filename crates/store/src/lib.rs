//! The store: the engine port, its implementations, and the statements that run on them.
//!
//! Databases differ in few things, and those few are the methods of [`Engine`]. Everything else
//! is plain SQL that both speak. Nothing outside this crate may know which engine runs, and
//! nothing in it may decide what memory means.

mod batch;
mod cell;
#[cfg(test)]
mod conformance;
mod engine;
mod migration;
pub mod postgres;
mod row;
pub mod scope_check;
mod search;
pub mod sqlite;
mod statement;
pub mod statements;
mod store;
mod value;

pub use batch::{Batch, Expect, Step, Touched};
pub use engine::{CheckDepth, Engine, Finding};
pub use migration::Migration;
pub use row::{Column, Fields, Row};
pub use search::SearchEngine;
pub use statement::{Scope, Statement, StatementScope};
pub use store::EngineStore;
pub use value::Value;

/// Opens the embedded store: SQLite in one file, searched in process. Blocks. A new file is
/// created where there is none; a damaged, foreign or newer one is refused and left alone.
pub fn open_embedded(
    path: &std::path::Path,
    options: sqlite::Options,
    index_bytes_max: usize,
) -> mnemic_core::Result<EngineStore<sqlite::EmbeddedEngine>> {
    let indexes = std::sync::Arc::new(sqlite::Indexes::new(index_bytes_max));
    let engine = sqlite::SqliteEngine::open(path, options, sqlite::MIGRATIONS, indexes)?;
    Ok(EngineStore::new(engine))
}

/// Opens a store on PostgreSQL that `postgres::setup` has prepared. A user to whom row-level
/// security does not apply is refused, and so is a schema that is not this version's.
pub async fn open_postgres(
    url: &str,
    options: postgres::Options,
) -> mnemic_core::Result<EngineStore<postgres::PostgresEngine>> {
    let engine = postgres::PostgresEngine::open(url, options, postgres::MIGRATIONS).await?;
    Ok(EngineStore::new(engine))
}
