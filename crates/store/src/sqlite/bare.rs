//! One row at a time into a bare table of a file of its own, each confirmed by the disk as the
//! store's own writes are. For `mnemic bench telemetry`.

use std::path::Path;

use mnemic_core::Result;
use rusqlite::Connection;
use uuid::Uuid;

use super::connection::Location;
use super::error::store_error;
use super::options::Options;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS actions (
    id BLOB PRIMARY KEY, session_id TEXT NOT NULL, agent_id TEXT NOT NULL,
    action_type TEXT NOT NULL, node_type TEXT, node_ids TEXT NOT NULL, outcome TEXT NOT NULL,
    at INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT";
const INSERT: &str =
    "INSERT INTO actions VALUES (?1, 'bench', 'bench', 'bare_insert', 'thing', '[]',
    'success', unixepoch() * 1000000, unixepoch() * 1000000)";

pub struct Bare {
    conn: Connection,
}

impl Bare {
    pub fn create(path: &Path) -> Result<Self> {
        let conn = Location { path: path.to_owned(), options: Options::default() }.create()?;
        conn.execute_batch(TABLE).map_err(|error| store_error("making a bare table", error))?;
        Ok(Self { conn })
    }

    /// Blocks until the row is on the disk.
    pub fn insert(&self, id: Uuid) -> Result<()> {
        let inserted =
            self.conn.prepare_cached(INSERT).and_then(|mut insert| insert.execute([id.as_bytes()]));
        inserted.map(drop).map_err(|error| store_error("inserting", error))
    }
}
