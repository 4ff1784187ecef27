//! Which tables are moved, and what their columns hold.
//!
//! Both ends say so from their own catalogues, and must say the same of names, kinds and keys.
//! SQLite keeps a UUID, a vector and a digest all as a BLOB, so it asks [`declared`](super::declared)
//! which is which.

use std::collections::BTreeSet;
use std::sync::Arc;

use mnemic_core::{Error, Result};

use crate::cell::Cell;
use crate::{Scope, Value};

/// The table whose rows are the workspaces themselves, and the column that names one elsewhere.
const WORKSPACES: &str = "workspaces";
const WORKSPACE_COLUMN: &str = "workspace_id";

/// What a column holds, beside NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Float,
    Text,
    Uuid,
    Time,
    Json,
    Bytes,
    Vector,
}

impl Kind {
    /// The cell in this kind's own type; `None` where it holds something else.
    pub(crate) fn native(self, cell: Cell<'_>) -> Option<Value> {
        if cell.is_null() {
            return Some(Value::Null);
        }
        match self {
            Self::Bool => cell.bool().map(Value::Bool),
            Self::Int => cell.int().map(Value::Int),
            Self::Float => cell.float().map(Value::Float),
            Self::Text => cell.string().map(Value::Text),
            Self::Uuid => cell.uuid().map(Value::Uuid),
            Self::Time => cell.time().map(Value::Time),
            Self::Json => cell.json().map(Value::Json),
            Self::Bytes => cell.bytes().map(|bytes| Value::Bytes(bytes.to_vec())),
            Self::Vector => cell.vector().map(Value::Vector),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A table that is moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<TableColumn>,
    /// The positions of the primary key's columns, in the order of the key.
    pub(crate) key: Vec<usize>,
    /// The tables that its rows refer to.
    pub(crate) refers: BTreeSet<String>,
}

impl Table {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn key_of(&self, row: &[Value]) -> Vec<Value> {
        self.key.iter().filter_map(|position| row.get(*position)).cloned().collect()
    }

    /// The column that says whose a row is; none for what belongs to the installation.
    pub(crate) fn owner(&self) -> Option<&'static str> {
        if self.name == WORKSPACES {
            return Some("id");
        }
        let owned = self.columns.iter().any(|column| column.name == WORKSPACE_COLUMN);
        owned.then_some(WORKSPACE_COLUMN)
    }

    /// Whose rows a read in this scope is confined to, as a column to compare.
    pub(crate) fn owner_in(&self, scope: Scope) -> Option<(&'static str, uuid::Uuid)> {
        match scope {
            Scope::System => None,
            Scope::Workspace(workspace) => self.owner().map(|column| (column, workspace)),
        }
    }

    pub(crate) fn is_workspaces(&self) -> bool {
        self.name == WORKSPACES
    }

    pub(crate) fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == column)
    }
}

/// What one end knows of its tables.
#[derive(Debug, Default)]
pub struct Tables(pub(crate) Vec<Table>);

impl From<Vec<Table>> for Tables {
    fn from(tables: Vec<Table>) -> Self {
        Self(tables)
    }
}

impl Tables {
    /// Every column with what it holds, as `table.column: kind`.
    fn columns(&self) -> BTreeSet<String> {
        let columns = |table: &Table| -> Vec<String> {
            let name = |it: &TableColumn| format!("{}.{}: {:?}", table.name, it.name, it.kind);
            table.columns.iter().map(name).collect()
        };
        self.0.iter().flat_map(columns).collect()
    }
}

/// The tables to move, each behind those that it refers to. Ends that differ are refused.
pub(super) fn agree(source: &Tables, target: Tables) -> Result<Vec<Arc<Table>>> {
    let (ours, theirs) = (source.columns(), target.columns());
    if ours != theirs {
        let difference: Vec<_> = ours.symmetric_difference(&theirs).cloned().collect();
        let detail = format!("the two stores differ in their tables: {}", difference.join(", "));
        return Err(Error::internal(detail));
    }
    in_order(target)
}

/// The tables of one end, each behind those that it refers to.
pub(super) fn in_order(Tables(mut left): Tables) -> Result<Vec<Arc<Table>>> {
    if let Some(Table { name, .. }) = left.iter().find(|table| table.key.is_empty()) {
        return Err(Error::internal(format!("the table {name} has no primary key to go by")));
    }
    let mut ordered: Vec<Arc<Table>> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits: BTreeSet<String> = left.iter().map(|table| table.name.clone()).collect();
        let ready = |table: &Table| {
            table.refers.iter().all(|name| *name == table.name || !waits.contains(name))
        };
        let (now, later): (Vec<_>, Vec<_>) = left.into_iter().partition(ready);
        if now.is_empty() {
            return Err(Error::internal("tables refer to each other in a circle"));
        }
        ordered.extend(now.into_iter().map(Arc::new));
        left = later;
    }
    Ok(ordered)
}
