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
pub mod slots;
pub mod sqlite;
mod statement;
pub mod statements;
mod store;
pub mod transfer;
mod value;
pub mod yardstick;

pub use batch::{Batch, Expect, Step, Tally, Touched};
pub use engine::{CheckDepth, Engine, Finding};
pub use migration::Migration;
pub use row::{Column, Fields, Row};
pub use search::SearchEngine;
pub use statement::{Scope, Statement, StatementScope};
pub use store::EngineStore;
pub use value::Value;

/// Opens the embedded store: SQLite in one file, searched in process. Blocks. A new file is
/// created where there is none; a damaged, foreign or newer one is refused and left alone.
///
/// Memory without a server:
///
/// ```
/// use std::sync::Arc;
///
/// use mnemic_core::clock::SystemClock;
/// use mnemic_core::embed::{EmbedderSlot, EmbedderState};
/// use mnemic_core::memory::NewMemory;
/// use mnemic_core::principal::Caller;
/// use mnemic_core::recall::RecallRequest;
/// use mnemic_core::slot::SlotSpace;
/// use mnemic_core::Mnemic;
/// use mnemic_store::slots::InProcessSlots;
/// use mnemic_store::sqlite::{INDEX_BYTES_MAX_DEFAULT, Options};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("mnemic.db");
/// let store = mnemic_store::open_embedded(&path, Options::default(), INDEX_BYTES_MAX_DEFAULT)?;
/// let words_only = EmbedderSlot::new(EmbedderState::Off);
/// let slots = SlotSpace::new(InProcessSlots::default());
/// let mnemic = Mnemic::new(Arc::new(store), slots, words_only, Arc::new(SystemClock));
///
/// let token = mnemic.bootstrap().await?;
/// let caller = Caller::new(mnemic.authenticate(token.reveal()).await?);
/// let new = NewMemory { content: "Ana prefers tea".to_owned(), ..NewMemory::default() };
/// let memory = mnemic.create_memory(&caller, new).await?;
///
/// let request = RecallRequest { query: "tea".to_owned(), ..RecallRequest::default() };
/// let found = mnemic.recall(&caller.principal, &request).await?;
/// assert_eq!(found.items[0].memory.id, memory.id);
/// mnemic.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
