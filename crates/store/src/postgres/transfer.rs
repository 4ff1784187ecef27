//! A PostgreSQL database at either end of a migration, as the user that servers use.
//!
//! COPY may not write to tables with row-level security, so rows go in as arrays, one for each
//! column, a lot of them in one statement.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::{Object, Transaction};
use mnemic_core::{Error, Result};
use postgres_protocol::IsNull as Written;
use postgres_protocol::types::{ArrayDimension, array_to_sql};
use tokio::sync::Mutex;
use tokio_postgres::GenericClient;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, Kind as TypeKind, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::error::{pool_error, store_error};
use super::value::{Bound, Read};
use super::{MIGRATIONS, Options, PostgresEngine, SCHEMA, relist, words};
use crate::transfer::{
    Cells, Kind, LOT_BYTES, LOT_ROWS, Rows, Side, Sql, Table, TableColumn, Tables, parameters,
    quote, size,
};
use crate::{Engine as _, Scope, Value};

/// Connections that write at once: enough for a small server's cores, and few enough for its
/// limit.
const WRITERS: usize = 4;

const COLUMNS: &str = "
    SELECT c.relname::text, a.attname::text, t.typname::text,
           (SELECT k.place FROM pg_index i,
                   unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
            WHERE i.indrelid = c.oid AND i.indisprimary AND k.number = a.attnum
              AND k.place <= i.indnkeyatts)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                           AND a.attgenerated = ''
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname <> 'schema_migrations' AND c.relname <> ALL ($2)
    ORDER BY c.relname, a.attnum";

const REFERENCES: &str = "
    SELECT c.relname::text, r.relname::text FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype = 'f' AND n.nspname = $1";

/// Opens a database that `setup` has prepared. As a source it shows the state of this moment,
/// whoever writes to it meanwhile.
pub async fn open(url: &str, as_source: bool) -> Result<Arc<dyn Side>> {
    Ok(Arc::new(Database::open(url, as_source).await?))
}

pub(super) struct Database {
    pub(super) engine: PostgresEngine,
    /// The connection that holds a source's state, and the name by which others share it.
    snapshot: Mutex<Option<(Object, String)>>,
}

impl Database {
    pub(super) async fn open(url: &str, as_source: bool) -> Result<Self> {
        let unlimited = std::time::Duration::ZERO;
        let options = Options { statement_timeout: unlimited, ..Options::default() };
        let engine = PostgresEngine::open(url, options, MIGRATIONS).await?;
        let snapshot = if as_source { Some(hold(&engine).await?) } else { None };
        Ok(Self { engine, snapshot: Mutex::new(snapshot) })
    }

    pub(super) async fn connection(&self) -> Result<Object> {
        connection(&self.engine).await
    }

    /// A transaction that reads: a source's state, or the target's present one.
    async fn begin_read(&self, table: &Table, scope: Scope) -> Result<Reading> {
        let failed = |error| store_error("beginning a read", error);
        let client = Some(self.connection().await?);
        let reading = Reading { client, table: table.name.clone(), rows: ROWS_FIRST };
        let client = reading.client()?;
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        client.batch_execute(begin).await.map_err(failed)?;
        if let Some((_, name)) = &*self.snapshot.lock().await {
            let share = format!("SET TRANSACTION SNAPSHOT '{name}'");
            client.batch_execute(&share).await.map_err(failed)?;
        }
        set_scope(&***client, scope).await?;
        Ok(reading)
    }

    /// Runs a statement whose parameters are arrays of the columns' values.
    async fn write(&self, scope: Scope, sql: &str, columns: &[Column<'_>]) -> Result<()> {
        let failed = |error| store_error("writing", error);
        let mut client = self.connection().await?;
        let transaction = begin(&mut client, scope).await?;
        let prepared = transaction.prepare_cached(sql).await.map_err(failed)?;
        let params: Vec<_> = columns.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
        transaction.execute(&prepared, &params).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }
}

async fn connection(engine: &PostgresEngine) -> Result<Object> {
    engine.pool.get().await.map_err(|error| pool_error(error).into_error())
}

async fn hold(engine: &PostgresEngine) -> Result<(Object, String)> {
    let failed = |error| store_error("holding the state of the database", error);
    let client = connection(engine).await?;
    client
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await
        .map_err(failed)?;
    let row = client.query_one("SELECT pg_export_snapshot()", &[]).await.map_err(failed)?;
    let name = row.get(0);
    Ok((client, name))
}

/// A transaction that writes. Nobody is told that it is durable until `settle`, so its commit
/// need not wait for the disk.
pub(super) async fn begin(client: &mut Object, scope: Scope) -> Result<Transaction<'_>> {
    let failed = |error| store_error("beginning", error);
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute("SET LOCAL synchronous_commit = off").await.map_err(failed)?;
    set_scope(&*transaction, scope).await?;
    Ok(transaction)
}

async fn set_scope(client: &impl GenericClient, scope: Scope) -> Result<()> {
    let (workspace, kind) = match scope {
        Scope::System => (String::new(), "system"),
        Scope::Workspace(workspace) => (workspace.to_string(), ""),
    };
    let sql = "SELECT set_config('app.ws', $1, true), set_config('app.scope', $2, true)";
    let set = client.query(sql, &[&workspace, &kind]).await;
    set.map(drop).map_err(|error| store_error("setting the scope", error))
}

#[async_trait]
impl Side for Database {
    async fn tables(&self) -> Result<Tables> {
        let failed = |error| store_error("looking at the tables", error);
        let client = self.connection().await?;
        let derived = words::TABLES.as_slice();
        let columns = client.query(COLUMNS, &[&SCHEMA, &derived]).await.map_err(failed)?;
        let mut tables: BTreeMap<String, Drawn> = BTreeMap::new();
        for row in columns {
            let (table, name, native) = (row.get(0), row.get::<_, String>(1), row.get(2));
            let drawn = tables.entry(table).or_default();
            if let Some(place) = row.get::<_, Option<i64>>(3) {
                drawn.key.insert(place, drawn.columns.len());
            }
            let kind = kind(&name, native)?;
            drawn.columns.push(TableColumn { name, kind });
        }
        for row in client.query(REFERENCES, &[&SCHEMA]).await.map_err(failed)? {
            if let Some(drawn) = tables.get_mut(row.get::<_, &str>(0)) {
                drawn.refers.insert(row.get(1));
            }
        }
        let table = |(name, drawn): (String, Drawn)| Table {
            name,
            columns: drawn.columns,
            key: drawn.key.into_values().collect(),
            refers: drawn.refers,
        };
        Ok(Tables::from(tables.into_iter().map(table).collect::<Vec<_>>()))
    }

    async fn count(&self, table: &Table, scope: Scope) -> Result<u64> {
        let sql = Sql { table, literal }.count(scope);
        let mut reading = self.begin_read(table, scope).await?;
        let row = reading.client()?.query_one(&sql, &[]).await;
        let row = row.map_err(|error| store_error("counting", error))?;
        reading.end().await?;
        Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0))
    }

    async fn read(&self, table: &Arc<Table>, scope: Scope) -> Result<Box<dyn Rows>> {
        let select = Sql { table, literal }.read(scope);
        let declare = format!("DECLARE moved NO SCROLL CURSOR FOR {select}");
        let reading = self.begin_read(table, scope).await?;
        let declared = reading.client()?.batch_execute(&declare).await;
        declared.map_err(|error| store_error("reading", error))?;
        Ok(Box::new(reading))
    }

    async fn put(&self, table: &Table, scope: Scope, rows: Vec<Cells>) -> Result<()> {
        let types = table.columns.iter().map(|column| native(column.kind));
        let arrays = arrays(types);
        let sql = Sql { table, literal }.put(&format!("SELECT * FROM unnest({arrays})"));
        let columns = Column::all(&rows, table.columns.len());
        self.write(scope, &sql, &columns).await
    }

    async fn remove(&self, table: &Table, scope: Scope, keys: Vec<Cells>) -> Result<()> {
        let kinds = table.key.iter().filter_map(|position| table.columns.get(*position));
        let arrays = arrays(kinds.map(|column| native(column.kind)));
        let names = Sql { table, literal }.key_names().join(", ");
        let sql = format!(
            "DELETE FROM {} WHERE ({names}) IN (SELECT * FROM unnest({arrays}))",
            quote(&table.name)
        );
        let columns = Column::all(&keys, table.key.len());
        self.write(scope, &sql, &columns).await
    }

    fn writers(&self) -> usize {
        WRITERS
    }

    async fn derive(&self, scope: Scope, tell: &(dyn Fn(u64) + Send + Sync)) -> Result<u64> {
        relist::relist(&self.engine, scope, WRITERS, tell).await
    }

    /// A commit that waits for the disk takes all before it along.
    async fn settle(&self) -> Result<()> {
        let failed = |error| store_error("settling", error);
        let client = self.connection().await?;
        let sql = "BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_current_xact_id(); COMMIT";
        client.batch_execute(sql).await.map_err(failed)
    }

    async fn close(&self) {
        // Taken from the pool, so that its transaction ends with it.
        if let Some((client, _)) = self.snapshot.lock().await.take() {
            drop(Object::take(client));
        }
        self.engine.close().await;
    }
}

#[derive(Default)]
struct Drawn {
    columns: Vec<TableColumn>,
    /// Positions of columns by their place in the key.
    key: BTreeMap<i64, usize>,
    refers: BTreeSet<String>,
}

fn kind(column: &str, native: &str) -> Result<Kind> {
    Ok(match native {
        "bool" => Kind::Bool,
        "int2" | "int4" | "int8" => Kind::Int,
        "float8" => Kind::Float,
        "text" => Kind::Text,
        "uuid" => Kind::Uuid,
        "timestamptz" => Kind::Time,
        "jsonb" => Kind::Json,
        "bytea" => Kind::Bytes,
        "vector" => Kind::Vector,
        other => {
            let detail = format!("the column {column} has the type {other}, which cannot be moved");
            return Err(Error::internal(detail));
        }
    })
}

/// The type of a parameter; a smaller integer takes it by assignment.
const fn native(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int => "int8",
        Kind::Float => "float8",
        Kind::Text => "text",
        Kind::Uuid => "uuid",
        Kind::Time => "timestamptz",
        Kind::Json => "jsonb",
        Kind::Bytes => "bytea",
        Kind::Vector => "vector",
    }
}

/// `$1::uuid[], $2::text[], …`
fn arrays(types: impl Iterator<Item = &'static str>) -> String {
    let types: Vec<_> = types.collect();
    let numbers = parameters(1, types.len());
    let each = numbers.split(", ").zip(types).map(|(number, name)| format!("{number}::{name}[]"));
    each.collect::<Vec<_>>().join(", ")
}

fn literal(workspace: Uuid) -> String {
    format!("'{workspace}'::uuid")
}

/// One column of a lot of rows, as an array.
#[derive(Debug)]
struct Column<'a> {
    rows: &'a [Cells],
    position: usize,
}

impl<'a> Column<'a> {
    fn all(rows: &'a [Cells], count: usize) -> Vec<Self> {
        (0..count).map(|position| Self { rows, position }).collect()
    }
}

impl ToSql for Column<'_> {
    fn to_sql(
        &self,
        to: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let TypeKind::Array(member) = to.kind() else {
            return Err(format!("a column does not fit a parameter of type {to}").into());
        };
        let dimension = ArrayDimension { len: i32::try_from(self.rows.len())?, lower_bound: 1 };
        let values = self.rows.iter().map(|row| row.get(self.position).unwrap_or(&Value::Null));
        let write = |value: &Value, out: &mut BytesMut| match Bound(value).to_sql(member, out)? {
            IsNull::Yes => Ok(Written::Yes),
            IsNull::No => Ok(Written::No),
        };
        array_to_sql([dimension], member.oid(), values, write, out)?;
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// How many rows are asked for before it is known how large they are.
const ROWS_FIRST: usize = 100;

/// A cursor in a transaction of its own.
struct Reading {
    client: Option<Object>,
    table: String,
    /// How many to ask for next.
    rows: usize,
}

impl Reading {
    fn client(&self) -> Result<&Object> {
        self.client.as_ref().ok_or_else(|| Error::internal("a read went on after its end"))
    }

    async fn end(&mut self) -> Result<()> {
        let failed = |error| store_error("ending a read", error);
        self.client()?.batch_execute("COMMIT").await.map_err(failed)?;
        self.client = None;
        Ok(())
    }
}

#[async_trait]
impl Rows for Reading {
    async fn next(&mut self) -> Result<Vec<Cells>> {
        if self.client.is_none() {
            return Ok(Vec::new());
        }
        let failed = |error| store_error(&self.table, error);
        let client = self.client()?;
        let fetch =
            client.prepare(&format!("FETCH {} FROM moved", self.rows)).await.map_err(failed)?;
        let mut lot = Vec::new();
        for row in client.query(&fetch, &[]).await.map_err(failed)? {
            let cell = |position| row.try_get::<_, Read>(position).map(|read| read.0);
            let cells: Cells =
                (0..row.len()).map(cell).collect::<Result<_, _>>().map_err(failed)?;
            lot.push(cells);
        }
        let bytes: usize = lot.iter().map(|row| size(row)).sum();
        let each = (bytes / lot.len().max(1)).max(1);
        let ended = lot.len() < self.rows;
        self.rows = (LOT_BYTES / each).clamp(1, LOT_ROWS);
        if ended {
            self.end().await?;
        }
        Ok(lot)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Broken off in the middle: the connection ends, and the transaction with it.
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}
