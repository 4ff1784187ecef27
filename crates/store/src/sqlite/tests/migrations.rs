//! Migrations: applied once, in order, whole; refused where the database does not fit.

use mnemic_core::Code;

use super::*;

const FIRST: Migration = NOTES[0];
const SECOND: Migration = Migration {
    number: 2,
    name: "titles",
    sql: "ALTER TABLE notes ADD COLUMN title TEXT; UPDATE notes SET title = body;",
};
const BROKEN: Migration = Migration {
    number: 2,
    name: "broken",
    sql: "CREATE TABLE half (a TEXT) STRICT; INSERT INTO absent VALUES (1);",
};

static TABLES: Statement = Statement::system(
    "tables",
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> $1 ORDER BY name",
);

fn refused(directory: &Path, migrations: &[Migration]) -> Error {
    try_open(directory, Options::default(), migrations).err().unwrap()
}

#[tokio::test]
async fn they_are_applied_once_and_in_order() {
    let directory = TempDir::new().unwrap();
    let engine = open(directory.path());
    engine.write(WORKSPACE, add(1, "kept")).await.unwrap();
    engine.close().await;
    for _ in 0..2 {
        let engine = try_open(directory.path(), Options::default(), &[FIRST, SECOND]).unwrap();
        assert_eq!(bodies(&engine).await, ["kept"]);
        engine.close().await;
    }
}

#[tokio::test]
async fn one_that_fails_leaves_nothing() {
    let directory = TempDir::new().unwrap();
    let failed = refused(directory.path(), &[FIRST, BROKEN]);
    assert_eq!(failed.code(), Code::Internal);
    assert!(failed.to_string().contains("0002_broken"), "{failed}");
    let engine = open(directory.path());
    let tables = engine.read(Scope::System, &TABLES, values![""]).await.unwrap();
    let tables: Vec<_> = tables.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(tables, ["notes", "schema_migrations"]);
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let directory = TempDir::new().unwrap();
    try_open(directory.path(), Options::default(), &[FIRST, SECOND]).unwrap().close().await;
    let newer = refused(directory.path(), NOTES);
    assert_eq!(newer.code(), Code::Conflict);
    assert!(newer.to_string().contains("newer version"), "{newer}");
}

#[tokio::test]
async fn an_altered_migration_is_refused() {
    let directory = TempDir::new().unwrap();
    open(directory.path()).close().await;
    let altered = Migration { sql: "CREATE TABLE notes (a TEXT) STRICT", ..FIRST };
    let error = refused(directory.path(), &[altered]);
    assert_eq!(error.code(), Code::Conflict);
    assert!(error.to_string().contains("0001_notes"), "{error}");
}

#[tokio::test]
async fn one_that_breaks_references_is_refused() {
    let directory = TempDir::new().unwrap();
    let dangling = Migration {
        number: 2,
        name: "dangling",
        sql: "CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
              CREATE TABLE children (parent INTEGER REFERENCES parents (id)) STRICT;
              INSERT INTO children VALUES (7);",
    };
    let error = refused(directory.path(), &[FIRST, dangling]);
    assert!(error.to_string().contains("absent records"), "{error}");
}

#[tokio::test]
async fn numbers_have_no_gaps() {
    let directory = TempDir::new().unwrap();
    assert_eq!(refused(directory.path(), &[SECOND]).code(), Code::Internal);
}

#[tokio::test]
async fn the_schema_of_this_version_applies() {
    let directory = TempDir::new().unwrap();
    for _ in 0..2 {
        try_open(directory.path(), Options::default(), MIGRATIONS).unwrap().close().await;
    }
}
