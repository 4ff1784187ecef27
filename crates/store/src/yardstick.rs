//! What the capture of an action is measured against: a bare insert that is as durable.
//!
//! The same columns under the same key, beside as many rows, confirmed by the same disk, and
//! nothing else: on the embedded engine no index, no audit, no check and no other thread. On a
//! database the row goes into our own table with its indexes, since the user of a server can make
//! none.

use std::path::Path;

use mnemic_core::Result;
use uuid::Uuid;

use crate::{postgres, sqlite};

/// Inserts one row after the other, on either engine, with nothing around them.
pub enum BareInserts {
    Embedded(sqlite::Bare),
    Database(postgres::Bare),
}

impl BareInserts {
    /// Into a file of its own, which has so many rows already.
    pub fn embedded(path: &Path, rows: usize) -> Result<Self> {
        sqlite::Bare::create(path, rows).map(Self::Embedded)
    }

    /// Into a workspace of a database, with which the rows go.
    pub async fn database(url: &str, workspace: Uuid) -> Result<Self> {
        postgres::Bare::connect(url, workspace).await.map(Self::Database)
    }

    /// Returns when the row is durable.
    pub async fn insert(&self, id: Uuid) -> Result<()> {
        match self {
            Self::Embedded(bare) => tokio::task::block_in_place(|| bare.insert(id)),
            Self::Database(bare) => bare.insert(id).await,
        }
    }
}
