//! Opening connections, and refusing files that must not be opened.
//!
//! Memory-mapped reading is off: with it, an error of the disk arrives as a signal that kills the
//! process instead of an error that a caller can be told.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use mnemic_core::{Code, Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{error::store_error, options::Options, row_ref::RowRef, run};
use crate::{Scope, Statement, Value};

/// The first version without the fault that could lose commits when the log is reset.
const VERSION_MIN: i32 = 3_051_003;

/// "Mnem", so that nobody's other database is taken for ours.
const APPLICATION_ID: i32 = 0x4d6e_656d;

/// Where the database is and how it is opened.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) path: PathBuf,
    pub(super) options: Options,
}

impl Location {
    /// The first connection: may create the file, and marks a new one as ours.
    pub(super) fn create(&self) -> Result<Connection> {
        check_version()?;
        self.check_files()?;
        if length_of(&self.path)?.is_none() {
            self.found()?;
        }
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        mark(&conn, &self.path)?;
        self.set_up_writer(&conn)?;
        Ok(conn)
    }

    /// Makes a new database beside its place and moves it there whole: one whose creation was
    /// broken off could not be told from what is left of one that was lost.
    fn found(&self) -> Result<()> {
        let path = with_suffix(&self.path, ".new");
        let failed = |error: std::io::Error| {
            let detail = match error.kind() {
                ErrorKind::StorageFull => "the disk is full: free some space; nothing was written",
                _ => "the database cannot be created: check its directory's permissions and disk",
            };
            Error::new(Code::StoreUnavailable, detail).caused_by(error)
        };
        for left in [&path, &with_suffix(&path, "-journal")] {
            match fs::remove_file(left) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        // Everything that SQLite will put beside the file takes over its mode.
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(failed)?;
        let new = Self { path: path.clone(), options: self.options.clone() };
        mark(&new.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?, &path)?;
        fs::rename(&path, &self.path).map_err(failed)
    }

    /// A connection that replaces a broken one. It never creates a file: where the database went
    /// away, an empty one in its place would look like the loss of all memories.
    pub(super) fn reopen(&self) -> Result<Connection> {
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        self.set_up_writer(&conn)?;
        Ok(conn)
    }

    pub(super) fn open_reader(&self) -> Result<Connection> {
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        pragmas(&conn, &[("query_only", "ON")])?;
        Ok(conn)
    }

    /// Refuses somebody else's database, and leaves any as it is.
    pub(super) fn check_ours(&self, conn: &Connection) -> Result<()> {
        if application_id(conn)? == APPLICATION_ID { Ok(()) } else { Err(foreign(&self.path)) }
    }

    /// As [`SqliteEngine::scan`](super::SqliteEngine::scan), for threads that outlive a borrow
    /// of the engine.
    pub(super) fn scan(
        &self,
        scope: Scope,
        statement: &'static Statement,
        params: Vec<Value>,
        each: impl FnMut(&RowRef<'_>) -> Result<()>,
    ) -> Result<()> {
        let arguments = statement.arguments(scope, params)?;
        run::scan(&self.open_reader()?, statement, &arguments, each)
    }

    fn connect(&self, mode: OpenFlags) -> Result<Connection> {
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let failed = |error| store_error("opening the database", error);
        let conn = Connection::open_with_flags(&self.path, flags).map_err(failed)?;
        conn.busy_timeout(self.options.busy_timeout).map_err(failed)?;
        conn.set_prepared_statement_cache_capacity(self.options.statements_cached_max);
        // Plans that follow the bound values would be made anew for almost every call.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
        let cache_kib = format!("-{}", self.options.cache_kib);
        pragmas(
            &conn,
            &[
                ("trusted_schema", "OFF"),
                ("cell_size_check", "ON"),
                ("temp_store", "MEMORY"),
                ("mmap_size", "0"),
                ("cache_size", &cache_kib),
                ("foreign_keys", "ON"),
            ],
        )?;
        Ok(conn)
    }

    fn set_up_writer(&self, conn: &Connection) -> Result<()> {
        pragmas(
            conn,
            &[
                ("journal_mode", "WAL"),
                ("synchronous", "FULL"),
                // Erased text must leave the file, not only the table.
                ("secure_delete", "ON"),
                ("journal_size_limit", "67108864"),
            ],
        )?;
        if let Some(pages_max) = self.options.pages_max {
            pragmas(conn, &[("max_page_count", &pages_max.to_string())])?;
        }
        let mode: String = conn
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(|error| store_error("opening the database", error))?;
        if mode != "wal" {
            return Err(Error::new(
                Code::StoreUnavailable,
                "the database needs a file system with shared memory (not a network share)",
            ));
        }
        Ok(())
    }

    /// SQLite takes an empty file for a new database and then discards the log beside it. For us
    /// both are what is left of a database, so they are refused and left as they are.
    pub(super) fn check_files(&self) -> Result<()> {
        let length = length_of(&self.path)?;
        let log = length_of(&with_suffix(&self.path, "-wal"))?;
        let problem = match (length, log) {
            (None, Some(1..)) => "is missing although its log is there",
            (Some(0), _) => "is empty: it was truncated, or its creation was interrupted",
            _ => return Ok(()),
        };
        Err(Error::new(
            Code::Corrupt,
            format!(
                "the database {} {problem}; restore a backup, or move the remains away to start \
                 anew",
                self.path.display()
            ),
        ))
    }

    /// The room that the database and its log take.
    pub(super) fn size_bytes(&self) -> Result<u64> {
        let log = length_of(&with_suffix(&self.path, "-wal"))?.unwrap_or(0);
        Ok(length_of(&self.path)?.unwrap_or(0) + log)
    }
}

/// Sets pragmas, whether or not SQLite answers them with a row.
fn pragmas(conn: &Connection, settings: &[(&str, &str)]) -> Result<()> {
    for (name, value) in settings {
        conn.pragma_update_and_check(None, name, value, |_| Ok(()))
            .or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(()),
                other => Err(other),
            })
            .map_err(|error| store_error(&format!("setting {name}"), error))?;
    }
    Ok(())
}

fn check_version() -> Result<()> {
    if rusqlite::version_number() >= VERSION_MIN {
        return Ok(());
    }
    Err(Error::internal(format!(
        "SQLite {} is too old: 3.51.3 or newer is needed, because older ones can lose commits",
        rusqlite::version()
    )))
}

/// Marks a new database as ours, and refuses somebody else's.
fn mark(conn: &Connection, path: &Path) -> Result<()> {
    let failed = |error| store_error("opening the database", error);
    let id = application_id(conn)?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    let objects: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if id != 0 || objects > 0 {
        return Err(foreign(path));
    }
    pragmas(conn, &[("application_id", &APPLICATION_ID.to_string())])
}

fn application_id(conn: &Connection) -> Result<i32> {
    let id = conn.query_row("PRAGMA application_id", [], |row| row.get(0));
    id.map_err(|error| store_error("opening the database", error))
}

fn foreign(path: &Path) -> Error {
    let detail = format!("{} is a database of another program", path.display());
    Error::new(Code::Conflict, detail)
}

fn length_of(path: &Path) -> Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(
            Code::StoreUnavailable,
            format!("{} cannot be looked at: check its permissions", path.display()),
        )
        .caused_by(error)),
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
