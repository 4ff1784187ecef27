//! Getting erased text out of the files.
//!
//! SQLite overwrites deleted cells where they lie (`secure_delete`). But a row that grows pushes
//! its neighbours to other pages, and copies of them stay in the free space of the page that they
//! left, out of reach of any later deletion. Only a rewrite of the whole database leaves those
//! behind; and then the log, which holds pages from before, is cut to nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use mnemic_core::{Code, Error, Result};
use rusqlite::Connection;

use super::error::store_error;

/// A rewrite builds its copy in memory up to this size, and in a file of the system's temporary
/// directory (or that of `SQLITE_TMPDIR`) beyond it. All writers wait meanwhile, about a second
/// for 100 MB: what was promised to be gone is gone, whatever the size.
const MEMORY_BYTES_MAX: i64 = 256 * 1024 * 1024;

/// Counts who asked, so that many who ask at once are served by one rewrite.
#[derive(Debug, Default)]
pub(super) struct Scrubs {
    asked: AtomicU64,
    served: AtomicU64,
}

impl Scrubs {
    /// Takes a ticket. What was deleted before is gone once the ticket has been served.
    pub(super) fn ask(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Serves everybody who has asked by now, unless this ticket has been served already.
    pub(super) fn scrub(&self, ticket: u64, conn: &Connection) -> Result<()> {
        if self.served.load(Ordering::SeqCst) >= ticket {
            return Ok(());
        }
        let asked = self.asked.load(Ordering::SeqCst);
        rewrite(conn)?;
        self.served.store(asked, Ordering::SeqCst);
        Ok(())
    }
}

fn rewrite(conn: &Connection) -> Result<()> {
    let failed = |error| store_error("scrubbing", error);
    let number = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
    let bytes = number("PRAGMA page_count")?.saturating_mul(number("PRAGMA page_size")?);
    vacuum(conn, bytes > MEMORY_BYTES_MAX).map_err(failed)?;
    let busy = number("PRAGMA wal_checkpoint(TRUNCATE)")? != 0;
    if busy {
        let detail = "a long read holds the log; retry when it has ended";
        return Err(Error::new(Code::StoreUnavailable, detail));
    }
    Ok(())
}

fn vacuum(conn: &Connection, in_file: bool) -> rusqlite::Result<()> {
    if !in_file {
        return conn.execute_batch("VACUUM");
    }
    conn.execute_batch("PRAGMA temp_store = FILE")?;
    let done = conn.execute_batch("VACUUM");
    conn.execute_batch("PRAGMA temp_store = MEMORY")?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a store that is too large for memory is rewritten.
    #[test]
    fn a_rewrite_by_way_of_a_file_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(
            "PRAGMA temp_store = MEMORY;
             CREATE TABLE songs (number INTEGER PRIMARY KEY, text TEXT);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO songs SELECT i, 'canary' || i || hex(zeroblob(i % 50)) FROM n;
             UPDATE songs SET text = text || hex(zeroblob(200)) WHERE number % 3 = 0;
             DELETE FROM songs WHERE number % 2 = 0;",
        )
        .unwrap();
        let holds = || {
            let held = std::fs::read(&path).unwrap();
            held.windows(10).any(|window| window == b"canary1000")
        };
        assert!(holds(), "without secure deletion it stays, so that the rewrite is put to a test");
        vacuum(&conn, true).unwrap();
        assert!(!holds());
        let place: i64 = conn.query_row("PRAGMA temp_store", [], |row| row.get(0)).unwrap();
        assert_eq!(place, 2, "what comes next is in memory again");
    }
}
