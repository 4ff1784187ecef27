//! The embedded store at either end of a migration.
//!
//! A source is opened for reading alone: not a byte of its file changes, not even to bring it up
//! to date. Whoever opens a target must hold the lock of the data directory; a source may be
//! served meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemic_core::{Code, Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use uuid::Uuid;

use super::connection::Location;
use super::error::store_error;
use super::run::Bound;
use super::{MIGRATIONS, Options, migrate};
use crate::cell::Cell;
use crate::transfer::{
    Cells, LOT_BYTES, LOT_ROWS, Rows, Side, Sql, Table, TableColumn, Tables, declared, parameters,
    size,
};
use crate::{Scope, Value};

/// The columns of a table in their order, each with its place in the key, from 1, or 0.
const COLUMNS: &str = "
    SELECT t.name, c.name, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name <> 'schema_migrations' AND t.name NOT LIKE 'sqlite_%'
    ORDER BY t.name, c.cid";

const REFERENCES: &str = "
    SELECT t.name, f.\"table\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f
    WHERE t.type = 'table'";

/// Opens the store in a file that is there, to be read and left as it is. It shows one state,
/// whoever writes to it meanwhile. Blocks.
pub fn open_source(path: &Path) -> Result<Arc<dyn Side>> {
    if !fs::exists(path).unwrap_or(false) {
        let detail = format!("there is no store in {}", path.display());
        return Err(Error::new(Code::NotFound, detail));
    }
    let location = Location { path: path.to_owned(), options: Options::default() };
    location.check_files()?;
    let conn = location.open_reader()?;
    // The state is that of the first read, which is the one of the migrations.
    conn.execute_batch("BEGIN").map_err(|error| store_error("beginning to read", error))?;
    migrate::check(&conn, MIGRATIONS)?;
    Ok(side(conn))
}

/// Opens the store in a file to be written, and makes it where there is none. Blocks.
pub fn open_target(path: &Path) -> Result<Arc<dyn Side>> {
    let location = Location { path: path.to_owned(), options: Options::default() };
    let mut conn = location.create()?;
    migrate::migrate(&mut conn, MIGRATIONS)?;
    // What is lost with the power is copied again; `settle` makes it last.
    synchronous(&conn, "NORMAL")?;
    Ok(side(conn))
}

pub(super) fn side(conn: Connection) -> Arc<dyn Side> {
    Arc::new(File { conn: Arc::new(Mutex::new(conn)) })
}

struct File {
    conn: Arc<Mutex<Connection>>,
}

impl File {
    async fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        run(self.conn.clone(), task).await
    }
}

async fn run<T: Send + 'static>(
    conn: Arc<Mutex<Connection>>,
    task: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
) -> Result<T> {
    let task = move || task(&mut conn.lock().unwrap_or_else(PoisonError::into_inner));
    let broken = |error| Error::internal("the store's file was let go of").caused_by(error);
    tokio::task::spawn_blocking(task).await.map_err(broken)?
}

#[async_trait]
impl Side for File {
    async fn tables(&self) -> Result<Tables> {
        self.run(|conn| tables(conn)).await
    }

    async fn count(&self, table: &Table, scope: Scope) -> Result<u64> {
        let sql = Sql { table, literal }.count(scope);
        self.run(move |conn| {
            let failed = |error| store_error("counting", error);
            let rows: i64 = conn.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
            Ok(u64::try_from(rows).unwrap_or(0))
        })
        .await
    }

    async fn read(&self, table: &Arc<Table>, scope: Scope) -> Result<Box<dyn Rows>> {
        let (conn, table) = (self.conn.clone(), table.clone());
        Ok(Box::new(Reading { conn, table, scope, last: None, ended: false }))
    }

    async fn put(&self, table: &Table, _: Scope, rows: Vec<Cells>) -> Result<()> {
        let values = format!("VALUES ({})", parameters(1, table.columns.len()));
        let sql = Sql { table, literal }.put(&values);
        self.each(sql, rows).await
    }

    async fn remove(&self, table: &Table, _: Scope, keys: Vec<Cells>) -> Result<()> {
        let sql = Sql { table, literal }.remove();
        self.each(sql, keys).await
    }

    fn writers(&self) -> usize {
        1
    }

    /// The index is in the process that serves the store, and is built there.
    async fn derive(&self, _: Scope, _: &(dyn Fn(u64) + Send + Sync)) -> Result<u64> {
        Ok(0)
    }

    async fn settle(&self) -> Result<()> {
        self.run(|conn| {
            synchronous(conn, "FULL")?;
            let failed = |error| store_error("writing the log back", error);
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed)?;
            synchronous(conn, "NORMAL")
        })
        .await
    }

    async fn close(&self) {}
}

impl File {
    /// Runs a statement for each of the parameter lists, all or none.
    async fn each(&self, sql: String, lists: Vec<Cells>) -> Result<()> {
        self.run(move |conn| {
            let failed = |error| store_error("writing", error);
            let transaction =
                conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
            {
                let mut statement = transaction.prepare_cached(&sql).map_err(failed)?;
                for list in &lists {
                    let bound = list.iter().map(Bound);
                    statement.execute(params_from_iter(bound)).map_err(failed)?;
                }
            }
            transaction.commit().map_err(failed)
        })
        .await
    }
}

/// Goes from lot to lot by the key of the last row, so that nothing is held in between.
struct Reading {
    conn: Arc<Mutex<Connection>>,
    table: Arc<Table>,
    scope: Scope,
    last: Option<Cells>,
    ended: bool,
}

#[async_trait]
impl Rows for Reading {
    async fn next(&mut self) -> Result<Vec<Cells>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let sql = Sql { table: &self.table, literal };
        let sql = match &self.last {
            Some(_) => sql.read_behind(self.scope, LOT_ROWS),
            None => format!("{} LIMIT {LOT_ROWS}", sql.read(self.scope)),
        };
        let (table, last) = (self.table.clone(), self.last.take().unwrap_or_default());
        let lot = run(self.conn.clone(), move |conn| lot(conn, &table, &sql, &last)).await?;
        self.last = lot.last().map(|row| self.table.key_of(row));
        self.ended = lot.is_empty();
        Ok(lot)
    }
}

fn lot(conn: &Connection, table: &Table, sql: &str, behind: &[Value]) -> Result<Vec<Cells>> {
    let failed = |error| store_error(&table.name, error);
    let mut statement = conn.prepare_cached(sql).map_err(failed)?;
    let bound = params_from_iter(behind.iter().map(Bound));
    let mut cursor = statement.query(bound).map_err(failed)?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = cursor.next().map_err(failed)? {
        let row = own(table, row)?;
        bytes += size(&row);
        rows.push(row);
        if bytes >= LOT_BYTES {
            break;
        }
    }
    Ok(rows)
}

fn own(table: &Table, row: &rusqlite::Row<'_>) -> Result<Cells> {
    let failed = |error| store_error(&table.name, error);
    let mut cells = Vec::with_capacity(table.columns.len());
    for (position, column) in table.columns.iter().enumerate() {
        let cell = match row.get_ref(position).map_err(failed)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(int) => Cell::Int(int),
            ValueRef::Real(float) => Cell::Float(float),
            ValueRef::Text(text) => Cell::Text(
                str::from_utf8(text)
                    .map_err(|error| failed(rusqlite::Error::Utf8Error(position, error)))?,
            ),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        };
        let value = column.kind.native(cell).ok_or_else(|| {
            let detail = format!("{}.{} holds a value of a wrong type", table.name, column.name);
            Error::new(Code::Corrupt, detail)
        })?;
        cells.push(value);
    }
    Ok(cells)
}

/// A column as SQLite knows it.
pub(super) struct Column {
    pub(super) table: String,
    pub(super) name: String,
    /// Its place in the key, from 1, or 0.
    place: u32,
}

/// All columns of all tables that hold records.
pub(super) fn columns(conn: &Connection) -> Result<Vec<Column>> {
    let failed = |error| store_error("looking at the tables", error);
    let column = |row: &rusqlite::Row<'_>| {
        Ok(Column { table: row.get(0)?, name: row.get(1)?, place: row.get(2)? })
    };
    let mut columns = conn.prepare(COLUMNS).map_err(failed)?;
    let columns = columns.query_map([], column).map_err(failed)?;
    columns.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn tables(conn: &Connection) -> Result<Tables> {
    let failed = |error| store_error("looking at the references", error);
    let mut drawn: BTreeMap<String, Table> = BTreeMap::new();
    let mut places: BTreeMap<String, BTreeMap<u32, usize>> = BTreeMap::new();
    for Column { table, name, place } in columns(conn)? {
        let kind = declared::kind(&table, &name).ok_or_else(|| {
            let detail = format!("the migrations of PostgreSQL do not declare {table}.{name}");
            Error::internal(detail)
        })?;
        let empty = Table { name: table.clone(), ..Table::default() };
        let columns = &mut drawn.entry(table.clone()).or_insert(empty).columns;
        if place > 0 {
            places.entry(table).or_default().insert(place, columns.len());
        }
        columns.push(TableColumn { name, kind });
    }
    let mut references = conn.prepare(REFERENCES).map_err(failed)?;
    let pair = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
    for reference in references.query_map([], pair).map_err(failed)? {
        let (from, to) = reference.map_err(failed)?;
        if let Some(table) = drawn.get_mut(&from) {
            table.refers.insert(to);
        }
    }
    for (name, places) in places {
        if let Some(table) = drawn.get_mut(&name) {
            table.key = places.into_values().collect();
        }
    }
    Ok(drawn.into_values().collect::<Vec<_>>().into())
}

fn literal(workspace: Uuid) -> String {
    format!("x'{}'", workspace.simple())
}

pub(super) fn synchronous(conn: &Connection, mode: &str) -> Result<()> {
    conn.pragma_update(None, "synchronous", mode)
        .map_err(|error| store_error("setting synchronous", error))
}
