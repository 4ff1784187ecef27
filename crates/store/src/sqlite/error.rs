//! SQLite's errors in the product's terms.
//!
//! This is the only place that looks at a SQLite error code. Details say what to do; the cause
//! is kept for the log and never shown.

use mnemic_core::{Code, Error};
use rusqlite::ffi;

/// Maps an error; `what` names the statement or the undertaking for faults of ours.
pub(super) fn store_error(what: &str, error: rusqlite::Error) -> Error {
    let (code, detail) = classify(what, &error);
    Error::new(code, detail).caused_by(error)
}

/// Whether a row was not added because another has its key.
pub(super) fn is_taken(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_extended_error_code(),
        Some(
            ffi::SQLITE_CONSTRAINT_UNIQUE
                | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                | ffi::SQLITE_CONSTRAINT_ROWID
        )
    )
}

fn classify(what: &str, error: &rusqlite::Error) -> (Code, String) {
    use rusqlite::ErrorCode as E;
    let ours = || (Code::Internal, format!("{what}: the database refused it"));
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            rusqlite::Error::Utf8Error(..) => {
                (Code::Corrupt, format!("{what}: stored text is not valid; run `mnemic doctor`"))
            }
            _ => ours(),
        };
    };
    let unavailable = |detail: &str| (Code::StoreUnavailable, detail.to_owned());
    match code {
        E::ConstraintViolation if is_taken(error) => {
            (Code::Conflict, "another record already has this key".to_owned())
        }
        E::ConstraintViolation => match error.sqlite_extended_error_code() {
            Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => (
                Code::Conflict,
                "a record that this refers to is absent, or others still refer to this one"
                    .to_owned(),
            ),
            _ => ours(),
        },
        E::DiskFull => unavailable("the disk is full: free some space; nothing was written"),
        E::ReadOnly | E::PermissionDenied => unavailable(
            "the database is read-only: make its file and directory writable for this user",
        ),
        E::CannotOpen => unavailable(
            "the database cannot be opened: check that its directory exists and is accessible",
        ),
        E::SystemIoFailure | E::NoLargeFileSupport | E::FileLockingProtocolFailed => {
            unavailable("the disk reported an error: check the disk, its space and its limits")
        }
        E::DatabaseBusy | E::DatabaseLocked => {
            unavailable("another process holds the database: stop it, or retry later")
        }
        E::OutOfMemory => unavailable("out of memory: retry later"),
        E::OperationInterrupted | E::OperationAborted => unavailable("the operation was stopped"),
        E::DatabaseCorrupt | E::NotADatabase => {
            (Code::Corrupt, "the database is damaged: run `mnemic doctor`".to_owned())
        }
        E::TooBig => (Code::TooLarge, "a value is larger than the database can hold".to_owned()),
        _ => ours(),
    }
}
