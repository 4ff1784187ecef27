//! Every row of every table, by the catalogue of the engine.

use std::collections::BTreeMap;

use mnemic_test_servers::postgres as server;
use rusqlite::types::Value as Cell;

use crate::house::Rows;

/// The cells of each table, each with the name of its column and as text in lower case.
pub(super) type Tables = BTreeMap<String, Vec<Vec<(String, String)>>>;

pub(super) fn all(rows: &Rows) -> Tables {
    match rows {
        Rows::Embedded(dir) => embedded(&dir.path().join("mnemic.db")),
        Rows::Shared(name) => shared(&server().dump(name)),
    }
}

fn embedded(path: &std::path::Path) -> Tables {
    let store = rusqlite::Connection::open(path).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let mut names = store.prepare(names).unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names.map(Result::unwrap).map(|name| (name.clone(), table(&store, &name))).collect()
}

fn table(store: &rusqlite::Connection, name: &str) -> Vec<Vec<(String, String)>> {
    let mut all = store.prepare(&format!("SELECT * FROM {name}")).unwrap();
    let columns: Vec<_> = all.column_names().map(str::to_owned).collect();
    let rows = all.query_map([], |row| {
        let cell = |(at, column): (usize, &String)| {
            let text = match row.get_unwrap::<_, Cell>(at) {
                Cell::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                other => format!("{other:?}"),
            };
            (column.clone(), text.to_lowercase())
        };
        Ok(columns.iter().enumerate().map(cell).collect())
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Of a dump: `COPY schema.table (columns) FROM stdin;`, rows with tabs between their cells, `\.`.
fn shared(dump: &str) -> Tables {
    let mut tables = Tables::new();
    let mut lines = dump.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix("COPY ") else { continue };
        let (name, columns) = rest.split_once(" (").unwrap();
        let (_, name) = name.split_once('.').unwrap();
        let columns = columns.strip_suffix(") FROM stdin;").unwrap().split(", ");
        let columns: Vec<_> = columns.map(|column| column.trim_matches('"')).collect();
        let rows = tables.entry(name.to_owned()).or_default();
        for line in lines.by_ref().take_while(|line| *line != "\\.") {
            let cells = columns.iter().zip(line.split('\t'));
            rows.push(cells.map(|(to, cell)| ((*to).to_owned(), cell.to_lowercase())).collect());
        }
    }
    tables
}
