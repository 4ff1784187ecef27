//! One row at a time into a bare table of a file of its own, each confirmed by the disk as the
//! store's own writes are. For `mnemic bench telemetry`.

use std::path::Path;

use mnemic_core::Result;
use rusqlite::Connection;
use uuid::Uuid;

use super::connection::Location;
use super::error::store_error;
use super::options::Options;

/// The columns and the key of our own table, and nothing beside them.
const TABLE: &str = "CREATE TABLE actions (
    workspace_id BLOB NOT NULL, id BLOB NOT NULL, session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL, action_type TEXT NOT NULL, node_type TEXT, node_ids TEXT NOT NULL,
    outcome TEXT NOT NULL, error_code TEXT, latency_ms INTEGER, at INTEGER NOT NULL,
    created_at INTEGER NOT NULL, sequence_id BLOB, PRIMARY KEY (workspace_id, id)) STRICT";
/// As many rows as the store has, under ids that come before any new one.
const FILL: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
    INSERT INTO actions SELECT x'01', unhex(printf('%032x', i)), 'run-' || (i / 10), 'bench',
        'bare_insert', 'thing', '[]', 'success', NULL, 12, i, i, NULL FROM n";
const INSERT: &str = "INSERT INTO actions VALUES (x'01', ?1, 'bench', 'bench', 'bare_insert',
    'thing', '[]', 'success', NULL, NULL, unixepoch() * 1000000, unixepoch() * 1000000, NULL)";

pub struct Bare {
    conn: Connection,
}

impl Bare {
    /// Makes the file, with so many rows in it.
    pub fn create(path: &Path, rows: usize) -> Result<Self> {
        let failed = |error| store_error("making a bare table", error);
        let conn = Location { path: path.to_owned(), options: Options::default() }.create()?;
        conn.execute_batch(TABLE).map_err(failed)?;
        conn.execute(FILL, [i64::try_from(rows).unwrap_or(i64::MAX)]).map_err(failed)?;
        Ok(Self { conn })
    }

    /// Blocks until the row is on the disk.
    pub fn insert(&self, id: Uuid) -> Result<()> {
        let inserted =
            self.conn.prepare_cached(INSERT).and_then(|mut insert| insert.execute([id.as_bytes()]));
        inserted.map(drop).map_err(|error| store_error("inserting", error))
    }
}
