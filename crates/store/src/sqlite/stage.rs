//! A store of some earlier version or this one, filled with rows from elsewhere and then brought
//! up to date. It is thrown away afterwards, so nothing of it needs to survive a loss of power.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use mnemic_core::{Code, Error, Result};
use rusqlite::{Connection, params_from_iter};

use super::connection::Location;
use super::error::store_error;
use super::run::Bound;
use super::transfer::{self, columns, synchronous};
use super::{MIGRATIONS, Options, migrate};
use crate::Value;
use crate::transfer::{LOT_ROWS, Side, parameters, quote};

pub(crate) struct Stage {
    conn: Connection,
    inserts: HashMap<String, String>,
    uncommitted: usize,
}

impl Stage {
    /// Makes a store with so many of the migrations.
    pub(crate) fn create(path: &Path, migrations: usize) -> Result<Self> {
        let known = MIGRATIONS.get(..migrations);
        let known = known.ok_or_else(|| Error::internal("there are fewer migrations"))?;
        let location = Location { path: path.to_owned(), options: Options::default() };
        let mut conn = location.create()?;
        migrate::migrate(&mut conn, known)?;
        synchronous(&conn, "OFF")?;
        Ok(Self { conn, inserts: HashMap::new(), uncommitted: 0 })
    }

    /// `table.column`, of all tables that hold records.
    pub(crate) fn columns(&self) -> Result<BTreeSet<String>> {
        let columns = columns(&self.conn)?;
        Ok(columns.into_iter().map(|column| format!("{}.{}", column.table, column.name)).collect())
    }

    /// Adds a row. One that is there already, or refers to one that is not, is refused.
    pub(crate) fn add(&mut self, table: &str, row: &[(&str, Value)]) -> Result<()> {
        let failed = |error| store_error("staging", error);
        if self.uncommitted == 0 {
            self.conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        }
        let insert = self.inserts.entry(table.to_owned()).or_insert_with(|| insert(table, row));
        let mut statement = self.conn.prepare_cached(insert).map_err(failed)?;
        let values = params_from_iter(row.iter().map(|(_, value)| Bound(value)));
        statement.execute(values).map_err(|error| match failed(error) {
            error if error.code() == Code::Internal => {
                let detail = "a value that must be there is null, or one is of a wrong kind";
                Error::new(Code::InvalidBody, detail).caused_by(error)
            }
            error => error,
        })?;
        drop(statement);
        self.uncommitted += 1;
        if self.uncommitted == LOT_ROWS { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<()> {
        if std::mem::take(&mut self.uncommitted) > 0 {
            let failed = |error| store_error("staging", error);
            self.conn.execute_batch("COMMIT").map_err(failed)?;
        }
        Ok(())
    }

    /// Brings it up to date and lends it to be read.
    pub(crate) fn finish(mut self) -> Result<Arc<dyn Side>> {
        self.commit()?;
        migrate::migrate(&mut self.conn, MIGRATIONS)?;
        Ok(transfer::side(self.conn))
    }
}

/// The columns of a table always come in the same order.
fn insert(table: &str, row: &[(&str, Value)]) -> String {
    let names: Vec<_> = row.iter().map(|(name, _)| quote(name)).collect();
    let values = parameters(1, row.len());
    format!("INSERT INTO {} ({}) VALUES ({values})", quote(table), names.join(", "))
}
