//! What is particular to this engine: groups, the hook, scans, migrations and faults.

use std::{path::Path, sync::Arc};

use mnemic_core::recall::ItemKind;
use mnemic_core::{Error, Kind};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::{Expect, Fields, Step, values};

mod conformance;
mod faults;
mod hook;
mod migrations;
mod writer;

const NOTES: &[Migration] = &[Migration {
    number: 1,
    name: "notes",
    sql: "CREATE TABLE notes (
              workspace_id BLOB NOT NULL,
              id BLOB NOT NULL,
              body TEXT NOT NULL,
              PRIMARY KEY (workspace_id, id)
          ) STRICT, WITHOUT ROWID",
}];

static ADD: Statement = Statement::workspace(
    "note.add",
    "INSERT INTO notes (workspace_id, id, body) VALUES ($1, $2, $3)",
);
static DELETE: Statement =
    Statement::workspace("note.delete", "DELETE FROM notes WHERE workspace_id = $1 AND id = $2");
static LIST: Statement = Statement::workspace(
    "note.list",
    "SELECT id, body FROM notes WHERE workspace_id = $1 ORDER BY id",
);

const WORKSPACE: Scope = Scope::Workspace(Uuid::from_u128(1));

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn add(number: u128, body: &str) -> Batch {
    let mut batch = Batch::from(Step::new(&ADD, values![id(number), body]).expect(Expect::Rows(1)));
    batch.touch(ItemKind::Memory, id(number));
    batch
}

fn open(directory: &Path) -> SqliteEngine {
    try_open(directory, Options::default(), NOTES).unwrap()
}

fn try_open(directory: &Path, options: Options, migrations: &[Migration]) -> Result<SqliteEngine> {
    SqliteEngine::open(&directory.join("store.db"), options, migrations, Arc::new(NoHook))
}

async fn bodies(engine: &impl Engine) -> Vec<String> {
    let rows = engine.read(WORKSPACE, &LIST, vec![]).await.unwrap();
    rows.iter().map(|row| row.string("body").unwrap()).collect()
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let directory = TempDir::new().unwrap();
    let engine = open(directory.path());
    engine.write(WORKSPACE, add(1, "one")).await.unwrap();
    assert_eq!(bodies(&engine).await, ["one"]);
    engine.close().await;
    let refused = engine.write(WORKSPACE, add(2, "two")).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Unavailable);
    let refused = engine.read(WORKSPACE, &LIST, vec![]).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Unavailable);
    assert_eq!(bodies(&open(directory.path())).await, ["one"]);
}
