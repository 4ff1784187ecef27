//! PostgreSQL's errors in the product's terms.
//!
//! This is the only place that looks at an SQLSTATE. Details say what to do; the cause is kept
//! for the log and never shown.

use deadpool_postgres::{PoolError, TimeoutType};
use mnemic_core::{Code, Error};
use tokio_postgres::error::SqlState;

use super::tls;

/// What went wrong, and whether the same may be tried again.
#[derive(Debug)]
pub(super) enum Failure {
    /// Somebody else was in the way and nothing was written: the very same may succeed now.
    Contended(Error),
    /// The connection was lost and nothing was written: another one may serve.
    Disconnected(Error),
    /// Trying again would not help, or might do it twice.
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Failure {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Contended(error) | Self::Disconnected(error) | Self::Final(error) => error,
        }
    }
}

/// Maps an error; `what` names the statement or the undertaking for faults of ours.
pub(super) fn store_error(what: &str, error: tokio_postgres::Error) -> Error {
    let (code, detail) = classify(what, &error);
    Error::new(code, detail).caused_by(error)
}

/// The same, for something that certainly was not committed.
pub(super) fn failure(what: &str, error: tokio_postgres::Error) -> Failure {
    let contended = error.code().is_some_and(|state| {
        [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(state)
    });
    let lost = is_lost(&error);
    let error = store_error(what, error);
    match (contended, lost) {
        (true, _) => Failure::Contended(error),
        (false, true) => Failure::Disconnected(error),
        (false, false) => Failure::Final(error),
    }
}

/// Why no connection could be had.
pub(super) fn pool_error(error: PoolError) -> Failure {
    let unavailable = |detail: &str| Error::new(Code::StoreUnavailable, detail.to_owned());
    Failure::Final(match error {
        PoolError::Backend(error) => {
            return Failure::Disconnected(store_error("connecting", error));
        }
        PoolError::Closed => unavailable("the store is closed"),
        PoolError::Timeout(TimeoutType::Wait) => {
            unavailable("all connections to the database are in use: retry later")
        }
        error => unanswered().caused_by(error),
    })
}

pub(super) fn unanswered() -> Error {
    Error::new(Code::StoreUnavailable, "the database does not answer: check that it runs")
}

/// Whether the statement would have changed something where only reading is allowed.
pub(super) fn is_write_in_read(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// Whether a row was not added because another has its key.
pub(super) fn is_taken(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::UNIQUE_VIOLATION)
}

/// Whether something that a statement requires does not hold.
pub(super) fn is_unmet(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::DIVISION_BY_ZERO)
}

/// Whether the connection is of no use any more.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(state) => {
            matches!(state.code(), "57P01" | "57P02" | "57P03" | "57P05")
                || state.code().starts_with("08")
        }
        // Without a state the error is the client's: an end of the connection, or a value that
        // does not fit, which is the only other one that reaches us.
        None => !is_misfit(error),
    }
}

fn is_misfit(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    text.starts_with("error serializing parameter") || text.starts_with("error deserializing")
}

/// What the driver found out before the database had its say, or in its stead.
fn without_state(error: &tokio_postgres::Error) -> String {
    if let Some(detail) = tls::refusal(error) {
        return detail;
    }
    let text = error.to_string();
    let detail = if text.starts_with("invalid configuration") {
        "the address of the database lacks its host, the user or the password: complete it"
    } else if text.starts_with("authentication error") {
        "the database asks for another proof of who connects than the address allows: check its \
         password and channel_binding"
    } else {
        "the connection to the database was lost: check that it runs"
    };
    detail.to_owned()
}

fn classify(what: &str, error: &tokio_postgres::Error) -> (Code, String) {
    let ours = || (Code::Internal, format!("{what}: the database refused it"));
    let unavailable = |detail: &str| (Code::StoreUnavailable, detail.to_owned());
    let Some(state) = error.code() else {
        return if is_misfit(error) { ours() } else { unavailable(&without_state(error)) };
    };
    match state.code() {
        "23505" | "23P01" => (Code::Conflict, "another record already has this key".to_owned()),
        "23503" => (
            Code::Conflict,
            "a record that this refers to is absent, or others still refer to this one".to_owned(),
        ),
        "22008" => (
            Code::InvalidField,
            "a time is out of the range that the database keeps: 4713 BC to 294276".to_owned(),
        ),
        "40001" | "40P01" => unavailable("too many change the same at once: retry later"),
        "53100" => unavailable("the database's disk is full: free some space"),
        "53300" => unavailable("the database takes no more connections: raise its limit"),
        "25006" => unavailable("the database is read-only: connect to the primary"),
        "28000" | "28P01" => {
            unavailable("the database refuses the user or password of --store: correct it")
        }
        "3D000" => unavailable("there is no such database: create it, then run `mnemic db setup`"),
        "55P03" | "57014" => unavailable("the database took too long: retry later"),
        "54000" | "54001" | "54011" => {
            (Code::TooLarge, "a value is larger than the database can hold".to_owned())
        }
        "XX001" | "XX002" => {
            (Code::Corrupt, "the database is damaged: ask its administrator".to_owned())
        }
        state if is_lost(error) || state.starts_with("53") || state.starts_with("58") => {
            unavailable("the database cannot serve right now: retry later")
        }
        _ => ours(),
    }
}
