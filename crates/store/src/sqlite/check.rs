//! Looking for damage, for `doctor`. Reads only.

use mnemic_core::{Code, Result};
use rusqlite::{Connection, types::Value};

use super::error::store_error;
use crate::{CheckDepth, Finding};

/// More would not help anybody.
const FINDINGS_MAX: usize = 100;

pub(super) fn check(conn: &Connection, depth: CheckDepth) -> Result<Vec<Finding>> {
    let structure = match depth {
        CheckDepth::Quick => format!("PRAGMA quick_check({FINDINGS_MAX})"),
        CheckDepth::Full => format!("PRAGMA integrity_check({FINDINGS_MAX})"),
    };
    let mut findings = Vec::new();
    for (subject, sql) in [("structure", &*structure), ("references", "PRAGMA foreign_key_check")] {
        let looked = look(conn, sql).map_err(|error| store_error("checking", error));
        let details = match looked {
            Ok(details) => details,
            // So damaged that it cannot be looked through: that is a finding, not a failure.
            Err(error) if error.code() == Code::Corrupt => vec!["cannot be read".to_owned()],
            Err(error) => return Err(error),
        };
        let details = details.into_iter().filter(|detail| detail != "ok");
        findings.extend(details.map(|detail| Finding { subject, detail }));
    }
    Ok(findings)
}

fn look(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let cells = (0..columns).map(|column| row.get::<_, Value>(column));
        let words = cells.map(|cell| cell.map(describe));
        Ok(words.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
    })?;
    rows.take(FINDINGS_MAX).collect()
}

fn describe(value: Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Integer(int) => int.to_string(),
        Value::Real(float) => float.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
