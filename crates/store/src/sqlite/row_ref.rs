//! Rows that borrow from SQLite's page cache, for scans that read a whole table.

use std::sync::Arc;

use mnemic_core::Result;
use rusqlite::types::ValueRef;

use super::error::store_error;
use crate::{
    Column, Fields,
    cell::Cell,
    row::{Field, Shape, misfit},
};

/// One row of a scan; what it lends out ends with the call that got it.
pub struct RowRef<'r> {
    row: &'r rusqlite::Row<'r>,
    shape: &'r Arc<Shape>,
}

impl<'r> RowRef<'r> {
    pub(super) fn new(row: &'r rusqlite::Row<'r>, shape: &'r Arc<Shape>) -> Self {
        Self { row, shape }
    }

    pub(super) fn inner(&self) -> &'r rusqlite::Row<'r> {
        self.row
    }

    pub(super) fn shape(&self) -> &'r Arc<Shape> {
        self.shape
    }

    /// Reads a vector into a buffer that is used again, and says whether there was one.
    pub fn vector_into(&self, column: impl Column, buffer: &mut Vec<f32>) -> Result<bool> {
        buffer.clear();
        let position = self.shape.position(column)?;
        let Some(bytes) = self.opt_bytes(position)? else { return Ok(false) };
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(misfit(self.shape, position, "a vector", false));
        }
        buffer.extend(numbers.iter().map(|it| f32::from_le_bytes(*it)));
        Ok(true)
    }
}

impl Fields for RowRef<'_> {
    fn field(&self, column: impl Column) -> Result<Field<'_>> {
        let failed = |error| store_error(self.shape.statement, error);
        let position = self.shape.position(column)?;
        let cell = match self.row.get_ref(position).map_err(failed)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(int) => Cell::Int(int),
            ValueRef::Real(float) => Cell::Float(float),
            ValueRef::Text(text) => Cell::Text(
                str::from_utf8(text)
                    .map_err(|error| failed(rusqlite::Error::Utf8Error(position, error)))?,
            ),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        };
        Ok(Field { shape: self.shape, position, cell })
    }
}
