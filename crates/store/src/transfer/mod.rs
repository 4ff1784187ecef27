//! Moving a whole store from one engine to another, table by table, or by way of a file.
//!
//! Nothing here knows what a table is about. Which tables there are, and which types their
//! columns have, is read from the databases themselves (see [`layout`]), so that a table
//! which is added to the schema is moved without a line of code. It must not decide what memory
//! means, and it writes to the target alone.

pub(crate) mod declared;
mod digest;
mod feed;
mod layout;
mod lines;
mod migrate;
mod report;
mod sql;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::Result;

pub use crate::postgres::transfer::open as open_database;
pub use crate::postgres::yardstick::{Yardstick, copy as plain_copy};
pub use crate::sqlite::transfer::{open_source as open_file, open_target as open_new_file};
pub use digest::Checksum;
pub use layout::{Table, Tables};
pub use lines::{Exported, Staged, export, stage};
pub use migrate::migrate;
pub use report::{Part, Progress, Report, Step};

pub(crate) use layout::{Kind, TableColumn};
pub(crate) use lines::hex;
pub(crate) use sql::{Sql, parameters, quote};

use crate::{Scope, Value};

/// One row, its values in the order of the table's columns.
pub type Cells = Vec<Value>;

/// A store at either end of a migration.
///
/// A source shows one state of its database from its opening to its close, whoever writes to it
/// meanwhile. What was put into a target is shown by every later read of it, and is durable once
/// [`settle`](Self::settle) has returned.
#[async_trait]
pub trait Side: Send + Sync + 'static {
    /// The tables that hold records, with what this side knows of their columns.
    async fn tables(&self) -> Result<Tables>;

    /// How many rows of a table the scope has.
    async fn count(&self, table: &Table, scope: Scope) -> Result<u64>;

    /// The rows of a table in the order of their keys: the one workspace's, or in the system's
    /// scope all that belong to the installation.
    async fn read(&self, table: &Arc<Table>, scope: Scope) -> Result<Box<dyn Rows>>;

    /// Adds rows; one whose key is there already is replaced. All of them or none.
    async fn put(&self, table: &Table, scope: Scope, rows: Vec<Cells>) -> Result<()>;

    /// Removes the rows with these keys.
    async fn remove(&self, table: &Table, scope: Scope, keys: Vec<Cells>) -> Result<()>;

    /// How many [`put`](Self::put)s at once are worth while.
    fn writers(&self) -> usize;

    /// Brings what this engine derives from a scope's rows in line with them, and says how many
    /// records that concerned. `tell` hears of each lot that is done.
    async fn derive(&self, scope: Scope, tell: &(dyn Fn(u64) + Send + Sync)) -> Result<u64>;

    /// Makes everything that was put durable.
    async fn settle(&self) -> Result<()>;

    async fn close(&self);
}

/// A read that is under way.
#[async_trait]
pub trait Rows: Send {
    /// The next rows, none at the end. Each lot takes a bounded amount of memory.
    async fn next(&mut self) -> Result<Vec<Cells>>;
}

/// Lots are cut at so many rows, and at about so many bytes.
pub(crate) const LOT_ROWS: usize = 2_000;
pub(crate) const LOT_BYTES: usize = 8 * 1_024 * 1_024;

/// About how much memory a row takes.
pub(crate) fn size(row: &[Value]) -> usize {
    row.iter().map(value_size).sum()
}

fn value_size(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Vector(vector) => size_of_val(vector.as_slice()),
            Value::Json(json) => json_size(json),
            _ => 0,
        }
}

fn json_size(json: &serde_json::Value) -> usize {
    size_of::<serde_json::Value>()
        + match json {
            serde_json::Value::String(text) => text.len(),
            serde_json::Value::Array(items) => items.iter().map(json_size).sum(),
            serde_json::Value::Object(fields) => {
                fields.iter().map(|(name, value)| name.len() + json_size(value)).sum()
            }
            _ => 0,
        }
}
