//! Applying migrations, each in a transaction of its own together with its record.
//!
//! Foreign keys are off meanwhile, because SQLite changes a table by building another; they are
//! checked before each commit instead.

use mnemic_core::{Code, Error, Result};
use rusqlite::{Connection, TransactionBehavior};

use super::error::store_error;
use crate::{
    Migration,
    migration::{Applied, outstanding},
};

/// Number and name of a migration are those of its file.
macro_rules! migration {
    ($number:literal, $file:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../../migrations/sqlite/", $file, "_", $name, ".sql")),
        }
    };
}

/// The schema of this version.
pub const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001", "initial"),
    migration!(2, "0002", "job"),
    migration!(3, "0003", "audit"),
    migration!(4, "0004", "access"),
    migration!(5, "0005", "sighting"),
    migration!(6, "0006", "words"),
    migration!(7, "0007", "node"),
    migration!(8, "0008", "erasure"),
    migration!(9, "0009", "conversation"),
    migration!(10, "0010", "participant"),
    migration!(11, "0011", "turn_words"),
    migration!(12, "0012", "goal"),
    migration!(13, "0013", "strategy"),
    migration!(14, "0014", "tool"),
    migration!(15, "0015", "profile"),
    migration!(16, "0016", "scratchpad"),
    migration!(17, "0017", "timeline"),
    migration!(18, "0018", "secret"),
    migration!(19, "0019", "review"),
    migration!(20, "0020", "learning"),
    migration!(21, "0021", "action"),
    migration!(22, "0022", "sequence"),
    migration!(23, "0023", "pattern"),
    migration!(24, "0024", "metric"),
    migration!(25, "0025", "strategy_learning"),
    migration!(26, "0026", "action_session"),
    migration!(27, "0027", "pattern_note"),
    migration!(28, "0028", "vector_pieces"),
    migration!(29, "0029", "memory_pieces"),
    migration!(30, "0030", "capture"),
];

pub(super) fn migrate(conn: &mut Connection, known: &[Migration]) -> Result<()> {
    let failed = |error| store_error("preparing the migrations", error);
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number INTEGER PRIMARY KEY,
             name TEXT NOT NULL,
             checksum BLOB NOT NULL,
             applied_at INTEGER NOT NULL
         ) STRICT",
    )
    .map_err(failed)?;
    let outstanding = outstanding(known, &applied(conn).map_err(failed)?)?;
    if outstanding.is_empty() {
        return Ok(());
    }
    conn.execute_batch("PRAGMA foreign_keys = OFF").map_err(failed)?;
    for migration in outstanding {
        apply(conn, migration)?;
        tracing::info!(number = migration.number, name = migration.name, "migration applied");
    }
    conn.execute_batch("PRAGMA foreign_keys = ON").map_err(failed)
}

/// Refuses a database of a newer version or of another line of versions. An older one is fine.
pub(super) fn check_known(conn: &Connection, known: &[Migration]) -> Result<()> {
    let applied = applied(conn);
    let applied = applied.map_err(|error| store_error("looking at the migrations", error))?;
    outstanding(known, &applied).map(|_| ())
}

/// Refuses a database whose schema is not this version's, and leaves any as it is.
pub(super) fn check(conn: &Connection, known: &[Migration]) -> Result<()> {
    let failed = |error| store_error("looking at the migrations", error);
    let lacking = outstanding(known, &applied(conn).map_err(failed)?)?;
    if lacking.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        Code::Conflict,
        format!(
            "the store lacks {} migrations of this version: run `mnemic doctor` on it, which \
             brings it up to date, then try again",
            lacking.len()
        ),
    ))
}

fn applied(conn: &Connection) -> rusqlite::Result<Vec<Applied>> {
    conn.prepare("SELECT number, name, checksum FROM schema_migrations ORDER BY number")?
        .query_map([], |row| {
            Ok(Applied { number: row.get(0)?, name: row.get(1)?, checksum: row.get(2)? })
        })?
        .collect()
}

fn apply(conn: &mut Connection, migration: &Migration) -> Result<()> {
    let name = format!("migration {:04}_{}", migration.number, migration.name);
    let failed = |error| store_error(&name, error);
    let transaction =
        conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(migration.sql).map_err(failed)?;
    let broken = transaction
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut check| check.exists([]))
        .map_err(failed)?;
    if broken {
        return Err(Error::internal(format!("{name}: leaves references to absent records")));
    }
    transaction
        .execute(
            "INSERT INTO schema_migrations (number, name, checksum, applied_at)
             VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000000 AS INTEGER))",
            (migration.number, migration.name, migration.checksum()),
        )
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}
