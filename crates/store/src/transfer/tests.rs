//! Stores of made-up rows in every table of the schema, there and back again.
//!
//! The rows are made from the layout, so a table that is added to the schema is in these tests
//! at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use mnemic_core::{Code, Error};
use mnemic_test_servers::postgres as server;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::postgres;

const WORKSPACES: usize = 3;
const ROWS: usize = 40;
/// As deep as JSON may be that anybody sends, less the object that it is a field of.
const JSON_DEPTH: usize = 125;

/// A database that was set up and never served.
pub(super) async fn database() -> String {
    let name = server().database("template1");
    let prepared = postgres::setup(&server().owner_url(&name), false).await.unwrap();
    server().url(&prepared.role, &name)
}

pub(super) fn file(directory: &TempDir) -> PathBuf {
    directory.path().join("mnemic.db")
}

pub(super) async fn layout(url: &str) -> Vec<Arc<Table>> {
    let side = open_database(url, false).await.unwrap();
    let tables = layout::in_order(side.tables().await.unwrap());
    side.close().await;
    tables.unwrap()
}

pub(super) async fn migrated(
    source: &Arc<dyn Side>,
    target: &Arc<dyn Side>,
    force: bool,
) -> Result<Report> {
    migrate(source, target, force, &|_| ()).await
}

/// What any column may hold, and some of what has gone wrong between databases before.
fn any_value(kind: Kind) -> BoxedStrategy<Value> {
    let text = prop_oneof![
        Just(String::new()),
        Just("Straße — Ünïcödé, 日本語, \u{1f980}\u{200d}\u{10ffff}, e\u{301}".to_owned()),
        Just("tab\tnew\nline \\N \\x '\"$1; DROP".to_owned()),
        "[^\u{0}]{0,40}",
    ];
    match kind {
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Int => {
            prop_oneof![Just(i64::MAX), Just(i64::MIN), any::<i64>()].prop_map(Value::Int).boxed()
        }
        Kind::Float => prop_oneof![Just(0.1), Just(f64::MIN_POSITIVE), Just(1e300), -1e9..1e9]
            .prop_map(Value::Float)
            .boxed(),
        Kind::Text => text.prop_map(Value::Text).boxed(),
        Kind::Uuid => any::<u128>().prop_map(|it| Value::Uuid(Uuid::from_u128(it))).boxed(),
        Kind::Time => (-62_000_000_000_000_000_i64..253_000_000_000_000_000)
            .prop_map(|it| Value::Time(jiff::Timestamp::from_microsecond(it).unwrap()))
            .boxed(),
        Kind::Json => prop_oneof![
            Just(json!({"b": [1, 2.5, null, true, {"ü": "\u{1f980}"}], "a": {"z": {}, "y": []}})),
            Just(json!([1e16, 1e-7, -0.0, 1.0, u64::MAX, i64::MIN, 1e25])),
            Just((0..JSON_DEPTH).fold(json!({}), |within, _| json!([within]))),
            text.prop_map(serde_json::Value::String),
            any::<f64>().prop_filter("finite", |it| it.abs() < 1e30).prop_map(|it| json!([it])),
        ]
        .prop_map(Value::Json)
        .boxed(),
        Kind::Bytes => prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Bytes).boxed(),
        Kind::Vector => prop::collection::vec(-1.0_f32..1.0, 1..8)
            .prop_map(|mut it| {
                it.push(-0.0);
                Value::Vector(it)
            })
            .boxed(),
    }
}

/// Fills a new embedded store with rows of every table, in a few workspaces.
pub(super) async fn fill(path: &Path, tables: &[Arc<Table>]) -> Arc<dyn Side> {
    let side = open_new_file(path).unwrap();
    let required = required(path);
    let mut runner = TestRunner::deterministic();
    let mut draw = |kind: Kind| any_value(kind).new_tree(&mut runner).unwrap().current();
    let workspaces: Vec<_> = (0..WORKSPACES).map(|_| Uuid::now_v7()).collect();
    for table in tables {
        for workspace in &workspaces {
            let count = if table.is_workspaces() { 1 } else { ROWS };
            let mut rows = Vec::new();
            for number in 0..count {
                let cell = |column: &TableColumn| {
                    let needed = required.contains(&format!("{}.{}", table.name, column.name));
                    match draw(column.kind) {
                        _ if Some(&*column.name) == table.owner() => Value::Uuid(*workspace),
                        _ if !needed && number % 3 == 0 => Value::Null,
                        // Kept answers of what says nothing are so.
                        Value::Json(_) if number % 4 == 1 => Value::Json(serde_json::Value::Null),
                        // It may have to be unique.
                        Value::Text(text) if needed => {
                            Value::Text(format!("{text}{workspace}{number}"))
                        }
                        Value::Bytes(bytes) if needed => {
                            let own = format!("{workspace}{number}");
                            Value::Bytes([&bytes, own.as_bytes()].concat())
                        }
                        value => value,
                    }
                };
                rows.push(table.columns.iter().map(cell).collect());
            }
            side.put(table, Scope::Workspace(*workspace), rows).await.unwrap();
        }
    }
    side.settle().await.unwrap();
    side
}

fn required(path: &Path) -> BTreeSet<String> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
               WHERE t.type = 'table' AND (c.\"notnull\" OR c.pk)";
    let mut columns = conn.prepare(sql).unwrap();
    columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Every row of every table of a file, as SQLite itself spells them.
fn dump(path: &Path) -> Vec<String> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT t.name, group_concat('quote(\"' || c.name || '\")', ' || '','' || ')
               FROM sqlite_schema t JOIN pragma_table_info(t.name) c
               WHERE t.type = 'table' AND t.name <> 'schema_migrations' GROUP BY t.name";
    let mut tables = conn.prepare(sql).unwrap();
    let tables = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut all = Vec::new();
    for table in tables {
        let (table, columns): (String, String) = table.unwrap();
        let sql = format!("SELECT '{table}: ' || {columns} FROM \"{table}\" ORDER BY 1");
        let mut rows = conn.prepare(&sql).unwrap();
        all.extend(rows.query_map([], |row| row.get(0)).unwrap().map(|row| row.unwrap()));
    }
    all
}

pub(super) fn assert_equal(report: &Report) {
    let differences: Vec<_> = report.differences().collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_survives_the_way_there_and_back() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database().await;
    let tables = layout(&url).await;
    fill(&file(&first), &tables).await.close().await;
    let before = (dump(&file(&first)), std::fs::read(file(&first)).unwrap());
    assert_eq!(before.0.len(), WORKSPACES * (1 + ROWS * (tables.len() - 1)));

    let source = open_file(&file(&first)).unwrap();
    let there = open_database(&url, false).await.unwrap();
    let report = migrated(&source, &there, false).await.unwrap();
    assert_equal(&report);
    assert_eq!(report.written(), before.0.len() as u64);
    let seen: BTreeSet<_> = report.parts.iter().map(|part| &*part.table).collect();
    assert_eq!(seen, tables.iter().map(|table| table.name()).collect());
    there.close().await;
    drop(source);
    assert!(before.1 == std::fs::read(file(&first)).unwrap(), "the source was written to");

    let there = open_database(&url, true).await.unwrap();
    let back = open_new_file(&file(&second)).unwrap();
    assert_equal(&migrated(&there, &back, false).await.unwrap());
    there.close().await;
    drop(back);
    let lines = dump(&file(&second)).len();
    assert_eq!(lines, before.0.len());
    let source = open_file(&file(&first)).unwrap();
    let back = open_file(&file(&second)).unwrap();
    for table in &tables {
        let sums = [sum(&source, table).await, sum(&back, table).await];
        assert_eq!(sums[0], sums[1], "{}", table.name);
    }
}

async fn sum(side: &Arc<dyn Side>, table: &Arc<Table>) -> Checksum {
    let mut feed = feed::Feed::open(side, table, Scope::System);
    let mut sum = Checksum::default();
    while let Some(item) = feed.next().await.unwrap() {
        sum.add(item.digest);
    }
    sum
}

/// A target that goes away after so many writes.
struct Failing {
    side: Arc<dyn Side>,
    writes_left: AtomicUsize,
}

#[async_trait]
impl Side for Failing {
    async fn tables(&self) -> Result<Tables> {
        self.side.tables().await
    }
    async fn count(&self, table: &Table, scope: Scope) -> Result<u64> {
        self.side.count(table, scope).await
    }
    async fn read(&self, table: &Arc<Table>, scope: Scope) -> Result<Box<dyn Rows>> {
        self.side.read(table, scope).await
    }
    async fn put(&self, table: &Table, scope: Scope, mut rows: Vec<Cells>) -> Result<()> {
        let left = self.writes_left.fetch_sub(1, Ordering::SeqCst);
        if left == 1 {
            rows.truncate(rows.len() / 2);
            self.side.put(table, scope, rows).await?;
            return Err(Error::new(Code::StoreUnavailable, "gone"));
        }
        self.side.put(table, scope, rows).await
    }
    async fn remove(&self, table: &Table, scope: Scope, keys: Vec<Cells>) -> Result<()> {
        self.side.remove(table, scope, keys).await
    }
    fn writers(&self) -> usize {
        1
    }
    async fn derive(&self, scope: Scope, tell: &(dyn Fn(u64) + Send + Sync)) -> Result<u64> {
        self.side.derive(scope, tell).await
    }
    async fn settle(&self) -> Result<()> {
        self.side.settle().await
    }
    async fn close(&self) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_broken_off_anywhere_is_finished_by_repeating_it() {
    let first = TempDir::new().unwrap();
    let url = database().await;
    let tables = layout(&url).await;
    let source = fill(&file(&first), &tables).await;
    let there = open_database(&url, false).await.unwrap();
    let writes = WORKSPACES * tables.len();
    let mut broken = 0;
    // Each run gets a little further than the one before, and the last one through.
    for writes_left in [1, 2, 3, 5, writes, 2 * writes] {
        let writes_left = AtomicUsize::new(writes_left);
        let failing: Arc<dyn Side> = Arc::new(Failing { side: there.clone(), writes_left });
        match migrated(&source, &failing, false).await {
            Ok(report) => assert_equal(&report),
            Err(error) => {
                assert_eq!(error.to_string(), "gone");
                broken += 1;
            }
        }
    }
    assert!(broken >= 4, "only {broken} were broken off");
    let again = migrated(&source, &there, false).await.unwrap();
    assert_equal(&again);
    assert_eq!((again.written(), again.derived), (0, 0), "nothing was left to do");
    there.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_was_changed_is_made_equal_by_force_alone() {
    let first = TempDir::new().unwrap();
    let url = database().await;
    let tables = layout(&url).await;
    let source = fill(&file(&first), &tables).await;
    let there = open_database(&url, false).await.unwrap();
    migrated(&source, &there, false).await.unwrap();

    let conn = rusqlite::Connection::open(file(&first)).unwrap();
    let changes = "UPDATE memories SET content = 'brand new words', deleted_at = NULL
                       WHERE rowid % 7 = 0;
                   DELETE FROM memories WHERE rowid % 7 = 1;
                   DELETE FROM citations WHERE rowid % 5 = 0";
    conn.execute_batch(changes).unwrap();
    let refused = migrated(&source, &there, false).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    let said = refused.to_string();
    assert!(said.contains("--force") && said.contains("citations, memories"), "{said}");
    let report = migrated(&source, &there, true).await.unwrap();
    assert_equal(&report);
    assert!(report.removed() > 0 && report.written() > 0 && report.derived > 0, "{report:?}");
    there.close().await;

    let name = url.rsplit('/').next().unwrap();
    let count = |sql: &str| server().run(name, sql).trim().parse::<u64>().unwrap();
    let live = count("SELECT count(*) FROM mnemic.memories WHERE deleted_at IS NULL")
        + count("SELECT count(*) FROM mnemic.turns");
    assert_eq!(count("SELECT count(*) FROM mnemic.word_documents"), live);
    let astray = "SELECT count(*) FROM mnemic.word_postings p
                  LEFT JOIN mnemic.word_documents d USING (workspace_id, item_id)
                  WHERE d.item_id IS NULL OR NOT d.terms ? p.term";
    assert_eq!(count(astray), 0);
    let terms = "SELECT count(*) FROM mnemic.word_terms t
                 WHERE t.documents <> (
                     SELECT count(*) FROM mnemic.word_postings p
                     WHERE p.workspace_id = t.workspace_id AND p.kind = t.kind AND p.term = t.term)";
    assert_eq!(count(terms), 0, "counted as they are listed");
    let listed =
        count("SELECT count(DISTINCT (workspace_id, kind, term)) FROM mnemic.word_postings");
    assert_eq!(count("SELECT count(*) FROM mnemic.word_terms"), listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_elses_store_is_refused_even_by_force() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database().await;
    let tables = layout(&url).await;
    let source = fill(&file(&first), &tables).await;
    let other = fill(&file(&second), &tables).await;
    let there = open_database(&url, false).await.unwrap();
    migrated(&source, &there, false).await.unwrap();
    let before = server().dump(url.rsplit('/').next().unwrap());
    for force in [false, true] {
        let refused = migrated(&other, &there, force).await.unwrap_err();
        assert!(refused.to_string().contains("3 workspaces"), "{refused}");
    }
    let unordered = |dump: String| dump.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let after = server().dump(url.rsplit('/').next().unwrap());
    let is_row = |line: &String| !line.starts_with('\\');
    let rows = |dump| unordered(dump).into_iter().filter(is_row).collect::<Vec<_>>();
    assert_eq!(rows(before), rows(after));
    there.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_stands_still_while_others_write_to_it() {
    let (first, second) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let url = database().await;
    let tables = layout(&url).await;
    let source = fill(&file(&first), &tables).await;
    let there = open_database(&url, false).await.unwrap();
    let copied = migrated(&source, &there, false).await.unwrap();
    there.close().await;
    let there = open_database(&url, true).await.unwrap();
    let name = url.rsplit('/').next().unwrap();
    server().run(name, "DELETE FROM mnemic.citations; DELETE FROM mnemic.memories");
    let back = open_new_file(&file(&second)).unwrap();
    let report = migrated(&there, &back, false).await.unwrap();
    assert_equal(&report);
    assert_eq!(report.rows(), copied.rows());
    there.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_an_older_version_is_left_as_it_is() {
    let first = TempDir::new().unwrap();
    open_new_file(&file(&first)).unwrap().close().await;
    let conn = rusqlite::Connection::open(file(&first)).unwrap();
    conn.execute_batch("DELETE FROM schema_migrations").unwrap();
    drop(conn);
    let before = std::fs::read(file(&first)).unwrap();
    let refused = open_file(&file(&first)).err().unwrap();
    assert!(refused.to_string().contains("mnemic doctor"), "{refused}");
    assert!(before == std::fs::read(file(&first)).unwrap());
    assert_eq!(open_file(&first.path().join("absent")).err().unwrap().code(), Code::NotFound);
}

fn named(name: &str, refers: &[&str]) -> Table {
    Table {
        name: name.to_owned(),
        columns: vec![TableColumn { name: "id".to_owned(), kind: Kind::Uuid }],
        key: vec![0],
        refers: refers.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[test]
fn a_table_that_one_end_lacks_is_named() {
    let ends = || Tables::from(vec![named("workspaces", &[]), named("notes", &["workspaces"])]);
    let ordered = layout::agree(&ends(), ends()).unwrap();
    let names: Vec<_> = ordered.iter().map(|table| table.name()).collect();
    assert_eq!(names, ["workspaces", "notes"]);
    let one = Tables::from(vec![named("workspaces", &[])]);
    let refused = layout::agree(&ends(), one).unwrap_err();
    assert!(refused.to_string().contains("notes.id"), "{refused}");
    let circle = || Tables::from(vec![named("a", &["b"]), named("b", &["a"])]);
    assert!(layout::agree(&circle(), circle()).is_err());
}
