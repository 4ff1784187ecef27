//! One set of statements, two schemas: the same tables and columns after every migration, and
//! every statement prepared on both.

use std::collections::BTreeSet;

use super::*;
use crate::sqlite;

const COLUMNS: &str = "
    SELECT c.relname || '.' || a.attname || ' ' || a.attnotnull
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = 'mnemic' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname <> 'schema_migrations' AND c.relname <> ALL ($1)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_have_the_same_columns_after_each_migration() {
    assert_eq!(MIGRATIONS.len(), sqlite::MIGRATIONS.len());
    let embedded = rusqlite::Connection::open_in_memory().unwrap();
    let owner = postgres().owner_url(&postgres().database("template1"));
    for (ours, theirs) in MIGRATIONS.iter().zip(sqlite::MIGRATIONS) {
        assert_eq!((ours.number, ours.name), (theirs.number, theirs.name));
        embedded.execute_batch(theirs.sql).unwrap();
        let known = &MIGRATIONS[..ours.number as usize];
        super::super::setup::setup_with(&owner, false, known).await.unwrap();
        assert_eq!(columns(&owner).await, embedded_columns(&embedded), "after {}", ours.name);
    }
}

async fn columns(owner: &str) -> BTreeSet<String> {
    let (client, _driver) = connect::client(owner).await.unwrap();
    let rows = client.query(COLUMNS, &[&words::TABLES.as_slice()]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn embedded_columns(conn: &rusqlite::Connection) -> BTreeSet<String> {
    let sql = "SELECT t.name || '.' || c.name || iif(c.\"notnull\", ' true', ' false')
               FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'";
    let mut columns = conn.prepare(sql).unwrap();
    columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_statement_fits_the_schema() {
    let engine = opened().await;
    let client = engine.pool.get().await.unwrap();
    let mut faults = Vec::new();
    for statement in crate::statements::all().chain(statements()) {
        if let Err(error) = client.prepare(statement.sql).await {
            faults.push(format!("{}: {}", statement.name, error.as_db_error().unwrap()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_statement_stays_inside_its_workspace() {
    let faults: Vec<_> = statements().flat_map(crate::scope_check::statement_faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
