//! Copies of the embedded store, made while it is served and written to.
//!
//! A copy is one state of the database, rewritten page by page, so that nothing that was erased
//! is in it. It is an ordinary store in one file; beside it, its SHA-256 in the form that
//! `sha256sum --check` reads. Nothing here takes locks of the data directory.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use mnemic_core::{Code, Error, Result};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::check::check;
use super::connection::{Location, with_suffix};
use super::error::store_error;
use super::migrate::check_known;
use super::{MIGRATIONS, Options};
use crate::CheckDepth;

/// How much is read of a file at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// A copy that was made and looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    pub bytes: u64,
    pub sha256: String,
}

/// Where the checksum of a backup is.
pub fn checksum_path(file: &Path) -> PathBuf {
    with_suffix(file, ".sha256")
}

/// About how large a copy of the database will be.
pub fn backup_bytes(database: &Path) -> Result<u64> {
    let conn = reader(database)?;
    let number = |sql: &str| {
        let number = conn.query_row(sql, [], |row| row.get::<_, i64>(0));
        number.map_err(|error| store_error("measuring", error))
    };
    let pages = number("PRAGMA page_count")? - number("PRAGMA freelist_count")?;
    Ok(u64::try_from(pages * number("PRAGMA page_size")?).unwrap_or(0))
}

/// Copies the database of a directory into a file, which appears whole or not at all. Blocks.
pub fn backup(database: &Path, file: &Path, force: bool) -> Result<Backup> {
    if !force && (there(file)? || there(&checksum_path(file))?) {
        let detail = format!(
            "{} or its checksum is there already: choose another name, or give --force",
            file.display()
        );
        return Err(Error::new(Code::Conflict, detail));
    }
    let conn = reader(database)?;
    let copy = Scrap(partial_path(file));
    let sum = Scrap(with_suffix(&copy.0, ".sha256"));
    remove(&copy.0)?;
    create_private(&copy.0)?;
    let to = copy.0.to_str().ok_or_else(|| {
        Error::new(Code::InvalidField, format!("{} is no name in UTF-8", file.display()))
    })?;
    let copied = conn.execute("VACUUM INTO ?1", [to]);
    copied.map_err(|error| store_error("copying", error))?;
    verify(&copy.0)?;
    sync(&copy.0)?;
    let (bytes, sha256) = digest(&copy.0, |_| Ok(()))?;
    write_private(&sum.0, &checksum_line(&sha256, file))?;
    // A copy without a checksum can be restored, one with another's cannot: so it comes last.
    remove(&checksum_path(file))?;
    rename(&copy.0, file)?;
    rename(&sum.0, &checksum_path(file))?;
    sync(around(file))?;
    Ok(Backup { bytes, sha256 })
}

/// The name under which a backup grows, until it takes its own.
pub fn partial_path(file: &Path) -> PathBuf {
    with_suffix(file, ".partial")
}

/// Whether a file is a store that this version can open, and undamaged. Blocks.
pub(super) fn verify(file: &Path) -> Result<()> {
    let conn = reader(file)?;
    check_known(&conn, MIGRATIONS)?;
    let findings = check(&conn, CheckDepth::Full)?;
    let Some(first) = findings.first() else { return Ok(()) };
    Err(Error::new(
        Code::Corrupt,
        format!("{} is damaged ({}: {})", file.display(), first.subject, first.detail),
    ))
}

fn reader(path: &Path) -> Result<Connection> {
    if !there(path)? {
        return Err(Error::new(Code::NotFound, format!("{} is not there", path.display())));
    }
    let location = Location { path: path.to_owned(), options: Options::default() };
    location.check_files()?;
    let conn = location.open_reader()?;
    location.check_ours(&conn)?;
    // What may only be queried cannot be copied out of; the file is open for reading alone.
    conn.pragma_update(None, "query_only", "OFF")
        .map_err(|error| store_error("opening the database", error))?;
    Ok(conn)
}

fn checksum_line(sha256: &str, file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    format!("{sha256}  {name}\n")
}

/// Length and SHA-256 of a file, each piece of which is also given to `take`.
pub(super) fn digest(
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<(u64, String)> {
    let failed = |error| unusable(path, "read", error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut sum, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let read = file.read(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok((bytes, crate::transfer::hex(&sum.finalize())));
        }
        sum.update(&piece[..read]);
        take(&piece[..read])?;
        bytes += read as u64;
    }
}

/// A file that is in the way unless it was given its own name.
pub(super) struct Scrap(pub(super) PathBuf);

impl Drop for Scrap {
    fn drop(&mut self) {
        // Whoever comes next removes it first.
        let _ = fs::remove_file(&self.0);
    }
}

pub(super) fn there(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|error| unusable(path, "looked at", error))
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unusable(path, "removed", error)),
        _ => Ok(()),
    }
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| unusable(to, "put in its place", error))
}

pub(super) fn create_private(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| unusable(path, "made", error))
}

fn write_private(path: &Path, text: &str) -> Result<()> {
    remove(path)?;
    let mut file = create_private(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| unusable(path, "written", error))
}

pub(super) fn sync(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| unusable(path, "written", error))
}

/// The directory that a file is in.
pub(super) fn around(file: &Path) -> &Path {
    file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(super) fn unusable(path: &Path, verb: &str, error: std::io::Error) -> Error {
    let detail = format!("{} cannot be {verb}: {error}", path.display());
    Error::new(Code::StoreUnavailable, detail).caused_by(error)
}
