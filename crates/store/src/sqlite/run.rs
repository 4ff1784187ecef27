//! Running one statement on one connection: binding, stepping, reading rows.
//!
//! Nothing here begins or ends transactions.

use std::sync::Arc;

use mnemic_core::{Error, Result};
use rusqlite::{
    CachedStatement, Connection, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    error::{is_taken, store_error},
    row_ref::RowRef,
};
use crate::{Row, Statement, Value, row::Shape};

/// What a statement gave: its rows, and how many it returned or else changed.
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    pub(super) count: u64,
}

/// Runs any statement to its end.
pub(super) fn execute(
    conn: &Connection,
    statement: &'static Statement,
    arguments: &[Value],
) -> Result<Outcome> {
    let failed = |error| store_error(statement.name, error);
    let mut prepared = prepare(conn, statement, arguments)?;
    if prepared.column_count() == 0 {
        let changed = match prepared.raw_execute() {
            Err(error) if statement.adds && is_taken(&error) => 0,
            changed => changed.map_err(failed)?,
        };
        return Ok(Outcome { rows: Vec::new(), count: changed as u64 });
    }
    let shape = shape(statement, &prepared);
    let mut rows = Vec::new();
    let mut cursor = prepared.raw_query();
    while let Some(row) = cursor.next().map_err(failed)? {
        rows.push(own(row, &shape)?);
    }
    Ok(Outcome { count: rows.len() as u64, rows })
}

/// Runs a statement that changes nothing.
pub(super) fn read(
    conn: &Connection,
    statement: &'static Statement,
    arguments: &[Value],
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    scan(conn, statement, arguments, |row| {
        rows.push(own(row.inner(), row.shape())?);
        Ok(())
    })?;
    Ok(rows)
}

/// The same once for each set of arguments; it is prepared once for all.
pub(super) fn read_each(
    conn: &Connection,
    statement: &'static Statement,
    sets: &[Vec<Value>],
) -> Result<Vec<Vec<Row>>> {
    let failed = |error| store_error(statement.name, error);
    let mut prepared = conn.prepare_cached(statement.sql).map_err(failed)?;
    must_read(statement, &prepared)?;
    let shape = shape(statement, &prepared);
    let read = |arguments: &Vec<Value>| {
        bind(&mut prepared, statement, arguments)?;
        let (mut rows, mut cursor) = (Vec::new(), prepared.raw_query());
        while let Some(row) = cursor.next().map_err(failed)? {
            rows.push(own(row, &shape)?);
        }
        Ok(rows)
    };
    sets.iter().map(read).collect()
}

/// Runs a statement that changes nothing, lending out each row in turn.
pub(super) fn scan(
    conn: &Connection,
    statement: &'static Statement,
    arguments: &[Value],
    mut each: impl FnMut(&RowRef<'_>) -> Result<()>,
) -> Result<()> {
    let failed = |error| store_error(statement.name, error);
    let mut prepared = prepare(conn, statement, arguments)?;
    must_read(statement, &prepared)?;
    let shape = shape(statement, &prepared);
    let mut cursor = prepared.raw_query();
    while let Some(row) = cursor.next().map_err(failed)? {
        each(&RowRef::new(row, &shape))?;
    }
    Ok(())
}

fn must_read(statement: &'static Statement, prepared: &CachedStatement<'_>) -> Result<()> {
    if prepared.readonly() {
        return Ok(());
    }
    let detail = format!("statement {}: writes, but was run as a read", statement.name);
    Err(Error::internal(detail))
}

fn prepare<'c>(
    conn: &'c Connection,
    statement: &'static Statement,
    arguments: &[Value],
) -> Result<CachedStatement<'c>> {
    let failed = |error| store_error(statement.name, error);
    let mut prepared = conn.prepare_cached(statement.sql).map_err(failed)?;
    bind(&mut prepared, statement, arguments)?;
    Ok(prepared)
}

fn bind(
    prepared: &mut CachedStatement<'_>,
    statement: &'static Statement,
    arguments: &[Value],
) -> Result<()> {
    let wanted = prepared.parameter_count();
    if wanted != arguments.len() {
        return Err(Error::internal(format!(
            "statement {}: takes {wanted} parameters but was given {}",
            statement.name,
            arguments.len()
        )));
    }
    // SQLite numbers `$n` by first appearance, so each is bound by its name. As many distinct
    // names as arguments, each within range, means that every argument is used once.
    for index in 1..=wanted {
        let argument = prepared
            .parameter_name(index)
            .and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok())
            .and_then(|number| arguments.get(number.checked_sub(1)?))
            .ok_or_else(|| {
                Error::internal(format!(
                    "statement {}: parameters must be $1 to ${wanted}",
                    statement.name
                ))
            })?;
        let bound = prepared.raw_bind_parameter(index, Bound(argument));
        bound.map_err(|error| store_error(statement.name, error))?;
    }
    Ok(())
}

fn shape(statement: &'static Statement, prepared: &CachedStatement<'_>) -> Arc<Shape> {
    let names = prepared.column_names().map(Into::into).collect();
    Arc::new(Shape { statement: statement.name, names })
}

fn own(row: &rusqlite::Row<'_>, shape: &Arc<Shape>) -> Result<Row> {
    let failed = |error| store_error(shape.statement, error);
    let mut cells = Vec::with_capacity(shape.names.len());
    for position in 0..shape.names.len() {
        cells.push(match row.get_ref(position).map_err(failed)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(int) => Value::Int(int),
            ValueRef::Real(float) => Value::Float(float),
            ValueRef::Text(text) => match str::from_utf8(text) {
                Ok(text) => Value::Text(text.to_owned()),
                Err(error) => return Err(failed(rusqlite::Error::Utf8Error(position, error))),
            },
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        });
    }
    Ok(Row::new(shape.clone(), cells))
}

/// A value in SQLite's own types.
pub(super) struct Bound<'a>(pub(super) &'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        use rusqlite::types::Value as Sql;
        let borrowed = |value| Ok(ToSqlOutput::Borrowed(value));
        match self.0 {
            Value::Null => borrowed(ValueRef::Null),
            Value::Bool(bool) => borrowed(ValueRef::Integer((*bool).into())),
            Value::Int(int) => borrowed(ValueRef::Integer(*int)),
            Value::Float(float) => borrowed(ValueRef::Real(*float)),
            Value::Text(text) => borrowed(ValueRef::Text(text.as_bytes())),
            Value::Uuid(uuid) => borrowed(ValueRef::Blob(uuid.as_bytes())),
            Value::Bytes(bytes) => borrowed(ValueRef::Blob(bytes)),
            Value::Time(time) => {
                // Rounded down on both sides of 1970, so that order is kept.
                let microseconds = time.as_nanosecond().div_euclid(1_000);
                let microseconds = i64::try_from(microseconds)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
                borrowed(ValueRef::Integer(microseconds))
            }
            Value::Json(json) => Ok(ToSqlOutput::Owned(Sql::Text(json.to_string()))),
            Value::Vector(vector) => {
                let bytes = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
                Ok(ToSqlOutput::Owned(Sql::Blob(bytes)))
            }
        }
    }
}
