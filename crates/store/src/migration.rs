//! Migrations: numbered changes of the schema, embedded in the binary.
//!
//! The two engines have a folder each with the same numbers. A migration that was released is
//! never edited: its checksum is recorded where it was applied, and a difference is refused.

use mnemic_core::{Code, Error, Result};
use sha2::{Digest, Sha256};

/// One change of the schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub number: u32,
    pub name: &'static str,
    pub sql: &'static str,
}

/// A migration as a database remembers it.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) number: u32,
    pub(crate) name: String,
    pub(crate) checksum: Vec<u8>,
}

impl Migration {
    pub(crate) fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }
}

/// The migrations that are still to be applied, or the reason why the database is refused.
pub(crate) fn outstanding<'a>(
    known: &'a [Migration],
    applied: &[Applied],
) -> Result<&'a [Migration]> {
    for (index, migration) in known.iter().enumerate() {
        if usize::try_from(migration.number).ok() != Some(index + 1) {
            return Err(Error::internal(format!(
                "migration {:04}_{} is out of order",
                migration.number, migration.name
            )));
        }
    }
    for (index, before) in applied.iter().enumerate() {
        let Some(migration) = known.get(index) else {
            return Err(refused(format!(
                "the database was written by a newer version of mnemic (it has migration {:04}_{}, \
                 this version knows {}): use that version or a newer one",
                before.number,
                before.name,
                known.len()
            )));
        };
        if before.number != migration.number || before.checksum != migration.checksum() {
            return Err(refused(format!(
                "the database has another migration {:04}_{} than this version of mnemic: \
                 use the version that wrote it",
                before.number, before.name
            )));
        }
    }
    Ok(known.get(applied.len()..).unwrap_or_default())
}

fn refused(detail: String) -> Error {
    Error::new(Code::Conflict, detail)
}
