//! The statements of a migration, made of the names that a database's own catalogue gave.
//!
//! This is the one place that makes SQL at run time. A name is always quoted and a value is
//! always a parameter, except for the workspace, whose hexadecimal digits cannot be anything else.

use uuid::Uuid;

use super::Table;
use crate::Scope;

pub(crate) struct Sql<'a> {
    pub(crate) table: &'a Table,
    /// How the engine spells a UUID.
    pub(crate) literal: fn(Uuid) -> String,
}

impl Sql<'_> {
    pub(crate) fn count(&self, scope: Scope) -> String {
        format!("SELECT count(*) FROM {}{}", quote(&self.table.name), self.whose(scope))
    }

    /// All rows in the order of their keys.
    pub(crate) fn read(&self, scope: Scope) -> String {
        let (table, whose) = (quote(&self.table.name), self.whose(scope));
        format!("SELECT {} FROM {table}{whose} ORDER BY {}", self.columns(), self.key())
    }

    /// So many rows behind a key, whose values are the parameters.
    pub(crate) fn read_behind(&self, scope: Scope, rows: usize) -> String {
        let (table, columns, key) = (quote(&self.table.name), self.columns(), self.key());
        let whose = match self.whose(scope) {
            none if none.is_empty() => " WHERE ".to_owned(),
            whose => format!("{whose} AND "),
        };
        let values = parameters(1, self.table.key.len());
        format!(
            "SELECT {columns} FROM {table}{whose}({key}) > ({values}) ORDER BY {key} LIMIT {rows}"
        )
    }

    /// Adds what `rows` yields (`VALUES …` or a query), and replaces what is there.
    pub(crate) fn put(&self, rows: &str) -> String {
        let Table { columns, key, .. } = self.table;
        let others = columns.iter().enumerate().filter(|(position, _)| !key.contains(position));
        let settings: Vec<_> =
            others.map(|(_, column)| format!("{0} = excluded.{0}", quote(&column.name))).collect();
        let settle = if settings.is_empty() {
            "NOTHING".to_owned()
        } else {
            format!("UPDATE SET {}", settings.join(", "))
        };
        let (table, columns) = (quote(&self.table.name), self.columns());
        format!("INSERT INTO {table} ({columns}) {rows} ON CONFLICT ({}) DO {settle}", self.key())
    }

    /// Removes the row whose key is the parameters.
    pub(crate) fn remove(&self) -> String {
        let names = self.key_names().into_iter().zip(1..);
        let is: Vec<_> = names.map(|(name, number)| format!("{name} = ${number}")).collect();
        format!("DELETE FROM {} WHERE {}", quote(&self.table.name), is.join(" AND "))
    }

    pub(crate) fn columns(&self) -> String {
        let names: Vec<_> = self.table.columns.iter().map(|column| quote(&column.name)).collect();
        names.join(", ")
    }

    pub(crate) fn key_names(&self) -> Vec<String> {
        let columns =
            self.table.key.iter().filter_map(|position| self.table.columns.get(*position));
        columns.map(|column| quote(&column.name)).collect()
    }

    fn key(&self) -> String {
        self.key_names().join(", ")
    }

    /// The condition of a scope.
    fn whose(&self, scope: Scope) -> String {
        self.table.owner_in(scope).map_or_else(String::new, |(column, workspace)| {
            format!(" WHERE {} = {}", quote(column), (self.literal)(workspace))
        })
    }
}

/// `$1, $2, …`
pub(crate) fn parameters(from: usize, count: usize) -> String {
    (from..from + count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
