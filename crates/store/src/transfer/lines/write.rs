//! Writing an export: what belongs to the installation, then workspace by workspace and table by
//! table, each behind those that it refers to, its rows in the order of their keys.

use std::io::Write;
use std::sync::Arc;

use mnemic_core::{Code, Error, Result};
use sha2::{Digest as _, Sha256};

use super::{header, spell};
use crate::Value;
use crate::transfer::feed::Feed;
use crate::transfer::layout::in_order;
use crate::transfer::migrate::{Bar, Piece, Tell, pieces, workspaces, workspaces_table};
use crate::transfer::{Kind, Side, Step, Table, TableColumn};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub rows: u64,
    pub workspaces: usize,
    /// Of all lines but the last.
    pub sha256: String,
}

/// Writes everything that a source holds, in one state.
pub async fn export(
    source: &Arc<dyn Side>,
    out: &mut (dyn Write + Send),
    tell: Tell<'_>,
) -> Result<Exported> {
    let tables = in_order(source.tables().await?)?;
    let workspaces = workspaces(source, workspaces_table(&tables)?).await?;
    let mut pieces = pieces(&tables, &workspaces);
    for piece in &mut pieces {
        piece.source_rows = source.count(&piece.table, piece.scope).await?;
    }
    let total = pieces.iter().map(|piece| piece.source_rows).sum();
    let mut bar = Bar { tell, step: Step::Export, done: 0, total };
    let mut lines = Lines { out, sum: Sha256::new() };
    lines.write(header::write(&tables))?;
    for piece in pieces.iter().filter(|piece| piece.source_rows > 0) {
        write_piece(source, piece, &mut lines, &mut bar).await?;
    }
    let rows = bar.done;
    let sha256 = hex(&lines.sum.finalize_reset());
    lines.write(format!(r#"{{"end":true,"rows":{rows},"sha256":"{sha256}"}}"#))?;
    lines.out.flush().map_err(unwritable)?;
    Ok(Exported { rows, workspaces: workspaces.len(), sha256 })
}

async fn write_piece(
    source: &Arc<dyn Side>,
    piece: &Piece,
    lines: &mut Lines<'_>,
    bar: &mut Bar<'_>,
) -> Result<()> {
    let mut feed = Feed::open(source, &piece.table, piece.scope);
    while let Some(item) = feed.next().await? {
        lines.write(row(&piece.table, &item.row)?)?;
        bar.advance(1, &piece.table.name);
    }
    Ok(())
}

fn row(table: &Table, row: &[Value]) -> Result<String> {
    let mut line = String::from(r#"{"table":"#);
    spell::write_text(&table.name, &mut line);
    line.push_str(r#","row":{"#);
    // Where a column holds JSON, `null` is a value of it, and what is absent is left out.
    let is_absent = |(column, value): &(&TableColumn, &Value)| {
        column.kind == Kind::Json && matches!(value, Value::Null)
    };
    let cells = table.columns.iter().zip(row).filter(|cell| !is_absent(cell));
    for (position, (column, value)) in cells.enumerate() {
        if position > 0 {
            line.push(',');
        }
        spell::write_text(&column.name, &mut line);
        line.push(':');
        spell::write(value, &mut line).ok_or_else(|| {
            let detail = format!("{}.{} holds no finite number", table.name, column.name);
            Error::new(Code::Corrupt, detail)
        })?;
    }
    line.push_str("}}");
    Ok(line)
}

struct Lines<'a> {
    out: &'a mut (dyn Write + Send),
    sum: Sha256,
}

impl Lines<'_> {
    fn write(&mut self, mut line: String) -> Result<()> {
        line.push('\n');
        self.sum.update(&line);
        self.out.write_all(line.as_bytes()).map_err(unwritable)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unwritable(error: std::io::Error) -> Error {
    let detail = format!("the export cannot be written: {error}");
    Error::new(Code::StoreUnavailable, detail).caused_by(error)
}
