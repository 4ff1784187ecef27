//! Reading an export into a store of its own, from which it is moved on once it is known to be
//! whole. A mistake is named by its line and field.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use mnemic_core::{Code, Error, Result};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::error::Category;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::header::{self, Header};
use super::spell;
use super::write::hex;
use crate::sqlite::stage::Stage;
use crate::transfer::migrate::Tell;
use crate::transfer::{Kind, LOT_ROWS, Progress, Side, Step};

/// No row is anywhere near as long; a file of one endless line shall not fill the memory.
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The fields of an object, each read on its own: JSON is read to some depth, and a value
/// that was just within it when it came in is wrapped in two more objects here.
type Fields<'l> = BTreeMap<String, &'l RawValue>;

/// An export that was read and found whole.
pub struct Staged {
    /// The source of a migration.
    pub side: Arc<dyn Side>,
    pub rows: u64,
}

/// Reads an export into a new store at `path`, and brings it up to date there. Blocks.
pub fn stage(input: impl BufRead, path: &Path, tell: Tell<'_>) -> Result<Staged> {
    let mut lines = Lines { input, number: 0, sum: Sha256::new() };
    let first = lines.next()?.ok_or_else(|| lines.cut())?;
    let header = header::read(&first)?;
    lines.sum.update(&first);
    let mut stage = Stage::create(path, header.schema)?;
    check_tables(&header, &stage)?;
    let mut rows = 0;
    loop {
        let line = lines.next()?.ok_or_else(|| lines.cut())?;
        let fields = lines.object(&line)?;
        if fields.contains_key("end") {
            lines.check_end(&fields, rows)?;
            break;
        }
        lines.sum.update(&line);
        let (table, row) = lines.row(&header, &fields)?;
        stage.add(table, &row).map_err(|error| lines.at(table, &error))?;
        rows += 1;
        if rows % LOT_ROWS as u64 == 0 {
            tell(Progress { step: Step::Import, table, done: rows, total: 0 });
        }
    }
    Ok(Staged { side: stage.finish()?, rows })
}

/// The file must have the tables and columns of the version that it says it is of.
fn check_tables(header: &Header, stage: &Stage) -> Result<()> {
    let named = header
        .tables
        .iter()
        .flat_map(|(table, columns)| columns.keys().map(move |column| format!("{table}.{column}")));
    let named: BTreeSet<String> = named.collect();
    let known = stage.columns()?;
    let difference: Vec<_> = named.symmetric_difference(&known).cloned().collect();
    if difference.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "line 1: `tables` is not what schema {} has; they differ in {}",
        header.schema,
        difference.join(", ")
    );
    Err(Error::new(Code::InvalidBody, detail))
}

struct Lines<R> {
    input: R,
    number: u64,
    /// Of the lines that were taken into account.
    sum: Sha256,
}

impl<R: BufRead> Lines<R> {
    /// The next line with its end; `None` behind the last.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = std::io::Read::take(&mut self.input, LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut line).map_err(|error| {
            let detail = format!("the file cannot be read behind line {}: {error}", self.number);
            Error::new(Code::StoreUnavailable, detail).caused_by(error)
        })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if !line.ends_with(b"\n") && read as u64 == LINE_BYTES_MAX {
            return Err(self.invalid(&format!("has more than {LINE_BYTES_MAX} bytes")));
        }
        Ok(Some(line))
    }

    fn object<'l>(&self, line: &'l [u8]) -> Result<Fields<'l>> {
        if !line.ends_with(b"\n") {
            // The last line has an end, too: this one was cut.
            return Err(self.cut());
        }
        serde_json::from_slice(line).map_err(|error| match error.classify() {
            Category::Data => self.invalid("is not a JSON object"),
            _ => self.invalid(&format!("is not JSON (column {})", error.column())),
        })
    }

    /// The table and its values, in the order of the header's columns.
    fn row<'h>(
        &self,
        header: &'h Header,
        fields: &Fields<'_>,
    ) -> Result<(&'h str, Vec<(&'h str, crate::Value)>)> {
        let name: Option<String> = field(fields, "table");
        let name = name.ok_or_else(|| self.invalid("`table` must be the name of a table"))?;
        let Some((table, columns)) = header.tables.get_key_value(&name) else {
            return Err(self.invalid(&format!("the table `{name}` is not in the header")));
        };
        let row: Option<Fields<'_>> = field(fields, "row");
        let mut row = row.ok_or_else(|| self.invalid("`row` must be an object"))?;
        let mut values = Vec::with_capacity(columns.len());
        for (column, kind) in columns {
            let json: Option<Json> = field(&row, column);
            let is_absent = row.remove(column).is_none() && *kind == Kind::Json;
            let value = json.and_then(|json| spell::read(*kind, json));
            let value = if is_absent { Some(crate::Value::Null) } else { value };
            let value = value.ok_or_else(|| self.misfit(table, column, *kind))?;
            values.push((column.as_str(), value));
        }
        match row.keys().next() {
            None => Ok((table, values)),
            Some(extra) => Err(self.invalid(&format!("`row.{extra}` is no column of {table}"))),
        }
    }

    fn check_end(&mut self, fields: &Fields<'_>, rows: u64) -> Result<()> {
        let counted: Option<u64> = field(fields, "rows");
        if counted != Some(rows) {
            let counted = counted.map_or_else(|| "no number".to_owned(), |it| it.to_string());
            let problem = format!("`rows` is {counted}, but {rows} came: the file is damaged");
            return Err(self.invalid(&problem));
        }
        let sum = hex(&self.sum.finalize_reset());
        if field::<String>(fields, "sha256") != Some(sum) {
            let problem = "`sha256` is not that of the lines before: the file was changed or \
                           damaged";
            return Err(self.invalid(problem));
        }
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.invalid("stands behind the last: the file is damaged")),
        }
    }

    fn misfit(&self, table: &str, column: &str, kind: Kind) -> Error {
        self.invalid(&format!("`row.{column}` of {table} must be {} or null", kind.expected()))
    }

    fn at(&self, table: &str, error: &Error) -> Error {
        Error::new(error.code(), format!("line {}: a row of {table}: {error}", self.number))
    }

    fn invalid(&self, problem: &str) -> Error {
        Error::new(Code::InvalidBody, format!("line {}: {problem}", self.number))
    }

    fn cut(&self) -> Error {
        let detail = format!(
            "the file ends in line {}, before the line that an export ends with: it was cut off",
            self.number
        );
        Error::new(Code::InvalidBody, detail)
    }
}

/// A field that is there and of its type.
fn field<'l, T: Deserialize<'l>>(fields: &Fields<'l>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}
