//! What each column holds, as the migrations of PostgreSQL declare it.
//!
//! SQLite cannot tell a UUID from a vector, and there may be no PostgreSQL to ask. But its
//! migrations are in this binary and have the same tables, so that nobody keeps a list. A test
//! compares what is read here with the catalogue of a real database.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Kind;
use crate::postgres::MIGRATIONS;

/// What begins a part of a table's declaration that is no column.
const NO_COLUMN: [&str; 7] =
    ["primary", "unique", "check", "constraint", "foreign", "exclude", "like"];

static DECLARED: LazyLock<HashMap<(String, String), Kind>> = LazyLock::new(|| {
    let mut declared = HashMap::new();
    for migration in MIGRATIONS {
        let sql = without_comments(migration.sql);
        created(&sql, &mut declared);
        added(&sql, &mut declared);
    }
    declared
});

/// The kind of a column of any version up to this one.
pub(crate) fn kind(table: &str, column: &str) -> Option<Kind> {
    DECLARED.get(&(table.to_owned(), column.to_owned())).copied()
}

fn without_comments(sql: &str) -> String {
    let code = |line: &str| line.split_once("--").map_or(line, |(code, _)| code).to_owned();
    sql.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// `CREATE TABLE name (column type …, …)`
fn created(sql: &str, declared: &mut HashMap<(String, String), Kind>) {
    for declaration in sql.split("CREATE TABLE ").skip(1) {
        let Some((table, columns)) = declaration.split_once('(') else { continue };
        // Parts of a table have its columns.
        if table.split_whitespace().count() != 1 {
            continue;
        }
        for column in at_this_level(columns) {
            note(table, column, declared);
        }
    }
}

/// `ALTER TABLE name ADD COLUMN column type …, ADD COLUMN …;`
fn added(sql: &str, declared: &mut HashMap<(String, String), Kind>) {
    for change in sql.split("ALTER TABLE ").skip(1) {
        let change = change.split(';').next().unwrap_or_default();
        let Some((table, additions)) = change.split_once(char::is_whitespace) else { continue };
        for addition in additions.split("ADD COLUMN ").skip(1) {
            note(table, addition, declared);
        }
    }
}

fn note(table: &str, column: &str, declared: &mut HashMap<(String, String), Kind>) {
    let mut words = column.split_whitespace();
    let (Some(name), Some(native)) = (words.next(), words.next()) else { return };
    if NO_COLUMN.contains(&name.to_lowercase().as_str()) {
        return;
    }
    if let Some(kind) = kind_of(native.trim_end_matches(',')) {
        declared.insert((table.trim().to_owned(), name.trim_matches('"').to_owned()), kind);
    }
}

fn kind_of(native: &str) -> Option<Kind> {
    Some(match native.to_lowercase().as_str() {
        "boolean" | "bool" => Kind::Bool,
        "smallint" | "integer" | "bigint" | "int2" | "int4" | "int8" => Kind::Int,
        "double" | "float8" => Kind::Float,
        "text" => Kind::Text,
        "uuid" => Kind::Uuid,
        "timestamptz" => Kind::Time,
        "jsonb" => Kind::Json,
        "bytea" => Kind::Bytes,
        "vector" => Kind::Vector,
        _ => return None,
    })
}

/// What commas part, up to the parenthesis that closes.
fn at_this_level(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' if depth == 0 => {
                parts.push(&text[start..at]);
                return parts;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_in_tables_and_additions() {
        for (table, column, expected) in [
            ("workspaces", "grants", Some(Kind::Json)),
            ("memories", "confidence", Some(Kind::Float)),
            ("memories", "pinned", Some(Kind::Bool)),
            ("vectors", "vector", Some(Kind::Vector)),
            ("vectors", "code", Some(Kind::Bytes)),
            ("audit", "at", Some(Kind::Time)),
            ("runs", "run_id", Some(Kind::Text)),
            ("memories", "primary", None),
            ("nothing", "id", None),
        ] {
            assert_eq!(kind(table, column), expected, "{table}.{column}");
        }
    }

    #[test]
    fn nested_parentheses_and_several_additions_are_understood() {
        let mut declared = HashMap::new();
        created(
            "CREATE TABLE a (x text CHECK (x IN ('p', 'q')), y uuid, UNIQUE (x, y));",
            &mut declared,
        );
        added("ALTER TABLE a ADD COLUMN z bigint, ADD COLUMN v vector;", &mut declared);
        let mut names: Vec<_> = declared.keys().map(|(_, column)| column.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["v", "x", "y", "z"]);
    }
}
