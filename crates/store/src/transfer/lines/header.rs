//! The first line of an export: that it is one, of which version, and what its columns hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use mnemic_core::{Code, Error, Result};
use serde_json::Value as Json;

use super::{VERSION, spell};
use crate::sqlite::MIGRATIONS;
use crate::transfer::{Kind, Table, declared};

pub(super) struct Header {
    /// How many migrations the store had that was exported.
    pub(super) schema: usize,
    pub(super) tables: BTreeMap<String, BTreeMap<String, Kind>>,
}

/// The header of this version, without the end of its line.
pub(super) fn write(tables: &[Arc<Table>]) -> String {
    let mut line = format!(
        r#"{{"mnemic":"export","version":{VERSION},"schema":{},"tables":{{"#,
        MIGRATIONS.len()
    );
    for (position, table) in tables.iter().enumerate() {
        if position > 0 {
            line.push(',');
        }
        spell::write_text(&table.name, &mut line);
        line.push_str(":{");
        for (position, column) in table.columns.iter().enumerate() {
            if position > 0 {
                line.push(',');
            }
            spell::write_text(&column.name, &mut line);
            line.push(':');
            spell::write_text(column.kind.word(), &mut line);
        }
        line.push('}');
    }
    line.push_str("}}");
    line
}

/// Reads the first line.
pub(super) fn read(line: &[u8]) -> Result<Header> {
    let json: Option<Json> = serde_json::from_slice(line).ok();
    let fields = json.as_ref().and_then(Json::as_object);
    let fields = fields.filter(|fields| fields.get("mnemic").is_some_and(|it| it == "export"));
    let Some(fields) = fields else {
        let expected = "line 1: this is no export of mnemic, whose first line begins with \
                        {\"mnemic\":\"export\"";
        return Err(Error::new(Code::InvalidBody, expected));
    };
    let number = |name: &str| {
        let number = fields.get(name).and_then(Json::as_u64).filter(|it| *it > 0);
        number.ok_or_else(|| invalid(&format!("`{name}` must be a number from 1")))
    };
    let (version, schema) = (number("version")?, number("schema")?);
    let known = usize::try_from(schema).ok().filter(|schema| *schema <= MIGRATIONS.len());
    let (Some(schema), true) = (known, version <= VERSION) else {
        return Err(Error::new(
            Code::Conflict,
            format!(
                "line 1: the file was written by a newer version of mnemic (format {version}, \
                 schema {schema}; this version knows {VERSION} and {}): use that version or a \
                 newer one",
                MIGRATIONS.len()
            ),
        ));
    };
    let tables = fields.get("tables").and_then(Json::as_object);
    let tables = tables.ok_or_else(|| invalid("`tables` must be an object"))?;
    let tables = tables.iter().map(|(name, columns)| Ok((name.clone(), kinds(name, columns)?)));
    Ok(Header { schema, tables: tables.collect::<Result<_>>()? })
}

fn kinds(table: &str, columns: &Json) -> Result<BTreeMap<String, Kind>> {
    let columns = columns.as_object();
    let columns = columns.ok_or_else(|| invalid(&format!("`tables.{table}` must be an object")))?;
    let kind = |(name, word): (&String, &Json)| {
        let kind = word.as_str().and_then(Kind::from_word);
        let fits = |kind: &Kind| declared::kind(table, name).is_none_or(|it| it == *kind);
        let kind = kind.filter(fits).ok_or_else(|| {
            invalid(&format!("`tables.{table}.{name}` is {word}, which it cannot hold"))
        })?;
        Ok((name.clone(), kind))
    };
    columns.iter().map(kind).collect()
}

fn invalid(problem: &str) -> Error {
    Error::new(Code::InvalidBody, format!("line 1: {problem}"))
}
