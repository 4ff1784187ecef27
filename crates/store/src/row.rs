//! Rows that come out of statements, read by typed getters.
//!
//! A value of the wrong type means damaged data or a schema that a statement does not fit: it is
//! an error that names statement and column, never a panic.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use mnemic_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{Value, cell::Cell};

/// A column by its position (from 0) or its name.
pub trait Column: Copy + fmt::Display {
    fn position(self, names: &[Box<str>]) -> Option<usize>;
}

impl Column for usize {
    fn position(self, names: &[Box<str>]) -> Option<usize> {
        (self < names.len()).then_some(self)
    }
}

impl Column for &str {
    fn position(self, names: &[Box<str>]) -> Option<usize> {
        names.iter().position(|name| **name == *self)
    }
}

/// The statement and column names that all rows of one result share.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) statement: &'static str,
    pub(crate) names: Vec<Box<str>>,
}

impl Shape {
    pub(crate) fn position(&self, column: impl Column) -> Result<usize> {
        column.position(&self.names).ok_or_else(|| {
            Error::internal(format!("statement {}: no column {column}", self.statement))
        })
    }
}

/// A cell together with the names that an error about it needs.
#[derive(Debug)]
pub struct Field<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) position: usize,
    pub(crate) cell: Cell<'a>,
}

impl<'a> Field<'a> {
    fn required<T>(self, kind: &str, convert: impl FnOnce(Cell<'a>) -> Option<T>) -> Result<T> {
        convert(self.cell).ok_or_else(|| self.misfit(kind))
    }

    fn optional<T>(
        self,
        kind: &str,
        convert: impl FnOnce(Cell<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        if self.cell.is_null() { Ok(None) } else { self.required(kind, convert).map(Some) }
    }

    /// The value itself is left out: it may be private, and errors are logged.
    fn misfit(&self, kind: &str) -> Error {
        misfit(self.shape, self.position, kind, self.cell.is_null())
    }
}

pub(crate) fn misfit(shape: &Shape, position: usize, kind: &str, null: bool) -> Error {
    let name = shape.names.get(position).map_or("?", |name| name);
    let found = if null { "null" } else { "a value that is not one" };
    Error::new(
        Code::Corrupt,
        format!(
            "statement {}: column {name} should hold {kind} but holds {found}",
            shape.statement
        ),
    )
}

macro_rules! getters {
    ($($get:ident, $opt:ident: $type:ty, $kind:literal;)*) => {
        $(
            #[doc = concat!("The column as ", $kind, "; NULL is an error.")]
            fn $get(&self, column: impl Column) -> Result<$type> {
                self.field(column)?.required($kind, Cell::$get)
            }

            #[doc = concat!("The column as ", $kind, ", or `None` where it is NULL.")]
            fn $opt(&self, column: impl Column) -> Result<Option<$type>> {
                self.field(column)?.optional($kind, Cell::$get)
            }
        )*
    };
}

/// The getters that owned and borrowed rows share, so that one mapping serves both.
pub trait Fields {
    fn field(&self, column: impl Column) -> Result<Field<'_>>;

    getters! {
        uuid, opt_uuid: Uuid, "a UUID";
        time, opt_time: Timestamp, "a time";
        bool, opt_bool: bool, "a truth value";
        int, opt_int: i64, "a whole number";
        float, opt_float: f64, "a number";
        text, opt_text: &str, "text";
        string, opt_string: String, "text";
        bytes, opt_bytes: &[u8], "bytes";
        json, opt_json: serde_json::Value, "JSON";
        vector, opt_vector: Vec<f32>, "a vector";
    }

    /// What the column's JSON stands for; NULL is an error.
    fn decode<T: DeserializeOwned>(&self, column: impl Column) -> Result<T> {
        self.field(column)?.required("JSON of its kind", Cell::decode)
    }
}

/// One row of a result, owned.
#[derive(Debug, Clone)]
pub struct Row {
    shape: Arc<Shape>,
    cells: Vec<Value>,
}

impl Row {
    pub(crate) fn new(shape: Arc<Shape>, cells: Vec<Value>) -> Self {
        Self { shape, cells }
    }
}

impl Fields for Row {
    fn field(&self, column: impl Column) -> Result<Field<'_>> {
        let position = self.shape.position(column)?;
        let cell = match self.cells.get(position) {
            None | Some(Value::Null) => Cell::Null,
            Some(Value::Bool(it)) => Cell::Bool(*it),
            Some(Value::Int(it)) => Cell::Int(*it),
            Some(Value::Float(it)) => Cell::Float(*it),
            Some(Value::Text(it)) => Cell::Text(it),
            Some(Value::Uuid(it)) => Cell::Uuid(*it),
            Some(Value::Time(it)) => Cell::Time(*it),
            Some(Value::Json(it)) => Cell::Json(it),
            Some(Value::Bytes(it)) => Cell::Bytes(it),
            Some(Value::Vector(it)) => Cell::Vector(it),
        };
        Ok(Field { shape: &self.shape, position, cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values;

    fn row(cells: Vec<Value>) -> Row {
        let names = (0..cells.len()).map(|it| format!("c{it}").into()).collect();
        Row::new(Arc::new(Shape { statement: "memory.find", names }), cells)
    }

    #[test]
    fn encoded_forms_read_as_native_ones() {
        let id = Uuid::from_u128(42);
        let time = Timestamp::from_microsecond(-1_500_001).unwrap();
        let native = row(values![id, time, true, serde_json::json!([1]), vec![1.5_f32, -2.0]]);
        let encoded = row(values![
            id.as_bytes().to_vec(),
            -1_500_001_i64,
            1_i64,
            "[1]",
            [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat(),
        ]);
        for row in [native, encoded] {
            assert_eq!(row.uuid("c0").unwrap(), id);
            assert_eq!(row.time(1).unwrap(), time);
            assert!(row.bool("c2").unwrap());
            assert_eq!(row.json("c3").unwrap(), serde_json::json!([1]));
            assert_eq!(row.opt_vector(4).unwrap(), Some(vec![1.5, -2.0]));
        }
    }

    #[test]
    fn misfits_name_statement_and_column() {
        let row = row(values!["x", None::<i64>, vec![1_u8, 2, 3]]);
        for error in [
            row.uuid("c0").unwrap_err(),
            row.bool(0).unwrap_err(),
            row.int("c1").unwrap_err(),
            row.vector(2).unwrap_err(),
        ] {
            assert_eq!(error.code(), Code::Corrupt);
            assert!(error.to_string().starts_with("statement memory.find: column c"), "{error}");
        }
        assert_eq!(row.opt_int("c1").unwrap(), None);
        assert_eq!(row.int("absent").unwrap_err().code(), Code::Internal);
        assert_eq!(row.int(9).unwrap_err().code(), Code::Internal);
    }
}
