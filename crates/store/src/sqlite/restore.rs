//! Putting a backup in the place of a store.
//!
//! The new database is copied and looked through beside the old one, and takes its name in one
//! step; the old one is kept until the new one has been opened there. The log of the old one goes
//! first: beside another database it would be taken for that one's. Whoever calls this holds the
//! lock of the data directory.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use mnemic_core::{Code, Error, Result};

use super::Options;
use super::backup::{
    Scrap, around, checksum_path, create_private, digest, remove, rename, sync, there, unusable,
    verify,
};
use super::connection::{Location, with_suffix};

/// A backup that is in its place now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub bytes: u64,
    /// Whether it was compared with the checksum beside it; there may have been none.
    pub checksum_compared: bool,
    /// Whether another store was replaced.
    pub replaced: bool,
}

/// Puts a backup in the place of `database`. Without `force`, a place where something is stored
/// is refused. `tell` hears how many bytes are copied. Blocks.
pub fn restore(
    file: &Path,
    database: &Path,
    force: bool,
    tell: &dyn Fn(u64, u64),
) -> Result<Restored> {
    if same(file, database) {
        let detail = "this is the store itself, not a backup of it";
        return Err(Error::new(Code::InvalidField, detail));
    }
    refuse_log(file)?;
    let replaced = there(database)? || there(&with_suffix(database, "-wal"))?;
    if replaced && !force && !is_empty(database) {
        let detail = format!(
            "{} holds a store, or the remains of one: --force replaces it; nothing was changed",
            database.display()
        );
        return Err(Error::new(Code::Conflict, detail));
    }
    let copy = Scrap(with_suffix(database, ".restoring"));
    let (bytes, sha256) = copied(file, &copy.0, tell)?;
    let checksum_compared = compare(file, &sha256)?;
    verify(&copy.0).map_err(|error| {
        let detail = match error.code() {
            Code::Corrupt => "is damaged or no backup of mnemic".to_owned(),
            _ => format!("cannot be restored: {error}"),
        };
        let detail = format!("{} {detail}; nothing was changed", file.display());
        Error::new(error.code(), detail).caused_by(error)
    })?;
    remove_beside(&copy.0)?;
    sync(&copy.0)?;
    swap(&copy.0, database)?;
    Ok(Restored { bytes, checksum_compared, replaced })
}

fn swap(copy: &Path, database: &Path) -> Result<()> {
    let aside = with_suffix(database, ".replaced");
    let had_one = there(database)?;
    if had_one {
        empty_log(database)?;
        remove(&aside)?;
        let kept = fs::hard_link(database, &aside);
        kept.map_err(|error| unusable(&aside, "made", error))?;
    }
    // Empty, unless the database is too damaged to be opened: then it goes with it.
    remove_beside(database)?;
    rename(copy, database)?;
    sync(around(database))?;
    if let Err(error) = verify(database) {
        if had_one {
            rename(&aside, database)?;
        }
        return Err(error);
    }
    remove_beside(database)?;
    remove(&aside)
}

/// Writes the log back into its database, so that neither needs the other. Of one that is too
/// damaged for that, the log goes with it.
fn empty_log(database: &Path) -> Result<()> {
    let location = Location { path: database.to_owned(), options: Options::default() };
    let Ok(conn) = location.reopen() else { return Ok(()) };
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    if busy == Ok(1_i64) {
        let detail =
            "somebody still reads the store: retry when that has ended; nothing was changed";
        return Err(Error::new(Code::StoreUnavailable, detail));
    }
    Ok(())
}

fn remove_beside(database: &Path) -> Result<()> {
    remove(&with_suffix(database, "-wal"))?;
    remove(&with_suffix(database, "-shm"))
}

/// Whether nothing was ever stored: there is no workspace.
fn is_empty(database: &Path) -> bool {
    let location = Location { path: database.to_owned(), options: Options::default() };
    let count = "SELECT count(*) FROM workspaces";
    let found = location.check_files().and_then(|()| location.open_reader());
    let rows = found.ok().and_then(|conn| conn.query_row(count, [], |row| row.get(0)).ok());
    rows == Some(0_i64)
}

/// A database with a log beside it is in use, or was not closed: the file alone is not all of it.
fn refuse_log(file: &Path) -> Result<()> {
    let log = with_suffix(file, "-wal");
    if fs::metadata(&log).is_ok_and(|it| it.len() > 0) {
        let detail = format!(
            "{} has a log beside it, so it is a store in use and no backup: make one of it with \
             `mnemic backup`",
            file.display()
        );
        return Err(Error::new(Code::Conflict, detail));
    }
    Ok(())
}

/// Copies a file and says how long it was and what its bytes come to.
fn copied(from: &Path, to: &Path, tell: &dyn Fn(u64, u64)) -> Result<(u64, String)> {
    let total = fs::metadata(from).map_err(|error| unusable(from, "read", error))?.len();
    remove(to)?;
    remove_beside(to)?;
    let mut target = create_private(to)?;
    let mut done = 0;
    digest(from, |piece| {
        target.write_all(piece).map_err(|error| unusable(to, "written", error))?;
        done += piece.len() as u64;
        tell(done, total);
        Ok(())
    })
}

/// Compares with the checksum beside the backup, if there is one.
fn compare(file: &Path, sha256: &str) -> Result<bool> {
    let path = checksum_path(file);
    if !there(&path)? {
        return Ok(false);
    }
    let text = fs::read_to_string(&path).map_err(|error| unusable(&path, "read", error))?;
    if text.split_whitespace().next() == Some(sha256) {
        return Ok(true);
    }
    let detail = format!(
        "{} is not what {} says: it was changed or damaged, so copy it again or take another backup; \
         nothing was changed",
        file.display(),
        path.display()
    );
    Err(Error::new(Code::Corrupt, detail))
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
