//! The hook: told after each commit, before the answer, and survived when it fails.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use mnemic_core::Kind;
use mnemic_core::recall::ItemKind;

use super::*;
use crate::Touched;

/// Keeps a copy of every body, as an index would, and can be told to panic.
#[derive(Default)]
struct Copy {
    entries: Mutex<Entries>,
    missed: AtomicUsize,
}

#[derive(Default)]
struct Entries {
    bodies: std::collections::BTreeMap<Uuid, String>,
    /// While the copy is built, what was touched meanwhile.
    noted: Option<Vec<Touched>>,
}

static GET: Statement =
    Statement::workspace("note.get", "SELECT body FROM notes WHERE workspace_id = $1 AND id = $2");

impl Copy {
    fn refresh(entries: &mut Entries, touched: &Touched, reader: Reader<'_>) {
        let id = touched.id.unwrap();
        let rows = reader.read(WORKSPACE, &GET, values![id]).unwrap();
        match rows.first() {
            Some(row) => entries.bodies.insert(id, row.string("body").unwrap()),
            None => entries.bodies.remove(&id),
        };
    }

    fn count(&self) -> usize {
        self.entries.lock().unwrap().bodies.len()
    }
}

impl CommitHook for Copy {
    fn committed(&self, commits: &[Commit<'_>], reader: Reader<'_>) {
        for touched in commits.iter().flat_map(|commit| commit.touched) {
            assert_ne!(touched.kind, ItemKind::Node, "the hook was told to");
            let mut entries = self.entries.lock().unwrap();
            match &mut entries.noted {
                Some(noted) => noted.push(*touched),
                None => Self::refresh(&mut entries, touched, reader),
            }
        }
    }

    fn missed(&self) {
        self.missed.fetch_add(1, Ordering::SeqCst);
    }
}

fn open_with_copy(directory: &Path) -> Arc<SqliteEngine<Copy>> {
    let path = directory.join("store.db");
    let hook = Arc::new(Copy::default());
    Arc::new(SqliteEngine::open(&path, Options::default(), NOTES, hook).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hook_knows_before_the_caller() {
    let directory = TempDir::new().unwrap();
    let engine = open_with_copy(directory.path());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..64 {
        let engine = engine.clone();
        tasks.spawn(async move {
            engine.write(WORKSPACE, add(number, "a")).await.unwrap();
            assert!(engine.hook().entries.lock().unwrap().bodies.contains_key(&id(number)));
            let mut delete = Batch::from(Step::new(&DELETE, values![id(number)]));
            delete.touch(ItemKind::Memory, id(number));
            engine.write(WORKSPACE, delete).await.unwrap();
            assert!(!engine.hook().entries.lock().unwrap().bodies.contains_key(&id(number)));
            // What failed was never committed, so the hook never hears of it.
            let mut failing = add(1_000 + number, "a");
            failing.push(Step::new(&DELETE, values![id(5_000)]).expect(Expect::Rows(1)));
            engine.write(WORKSPACE, failing).await.unwrap_err();
        });
    }
    tasks.join_all().await;
    assert_eq!(engine.hook().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_is_built_under_writes_without_missing_any() {
    let directory = TempDir::new().unwrap();
    let engine = open_with_copy(directory.path());
    for number in 0..200 {
        engine.write(WORKSPACE, add(number, "before")).await.unwrap();
    }
    let writer = tokio::spawn({
        let engine = engine.clone();
        async move {
            for number in 200..600 {
                engine.write(WORKSPACE, add(number, "meanwhile")).await.unwrap();
            }
        }
    });
    for _ in 0..5 {
        build(&engine).await;
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    writer.await.unwrap();
    assert_eq!(engine.hook().count(), 600);
}

async fn build(engine: &Arc<SqliteEngine<Copy>>) {
    *engine.hook().entries.lock().unwrap() =
        Entries { noted: Some(Vec::new()), ..Entries::default() };
    let scanned = tokio::task::spawn_blocking({
        let engine = engine.clone();
        move || {
            let mut bodies = std::collections::BTreeMap::new();
            let each = |row: &RowRef<'_>| {
                bodies.insert(row.uuid("id")?, row.text("body")?.to_owned());
                Ok(())
            };
            engine.scan(WORKSPACE, &LIST, vec![], each).unwrap();
            bodies
        }
    });
    let bodies = scanned.await.unwrap();
    let hook = engine.hook().clone();
    let install = move |reader: Reader<'_>| {
        let mut entries = hook.entries.lock().unwrap();
        entries.bodies = bodies;
        for touched in entries.noted.take().unwrap_or_default() {
            Copy::refresh(&mut entries, &touched, reader);
        }
    };
    engine.exclusive(install).await.unwrap();
}

#[tokio::test]
async fn a_panic_in_the_hook_does_not_undo_or_hang() {
    let directory = TempDir::new().unwrap();
    let engine = open_with_copy(directory.path());
    let mut batch = Batch::from(Step::new(&ADD, values![id(1), "committed"]));
    batch.touch(ItemKind::Node, id(1));
    engine.write(WORKSPACE, batch).await.unwrap();
    assert_eq!(engine.hook().missed.load(Ordering::SeqCst), 1);
    engine.write(WORKSPACE, add(2, "after")).await.unwrap();
    assert_eq!(bodies(&*engine).await, ["committed", "after"]);
}

#[tokio::test]
async fn a_panic_in_the_writer_does_not_hang_anybody() {
    let directory = TempDir::new().unwrap();
    let engine = open_with_copy(directory.path());
    let broken = engine.exclusive(|_| -> () { panic!("on purpose") }).await.unwrap_err();
    assert_eq!(broken.kind(), Kind::Unavailable);
    engine.write(WORKSPACE, add(1, "after")).await.unwrap();
    assert_eq!(bodies(&*engine).await, ["after"]);
}

#[tokio::test]
async fn a_scan_lends_rows_and_stops_at_an_error() {
    let directory = TempDir::new().unwrap();
    let engine = open(directory.path());
    for number in 0..10 {
        engine.write(WORKSPACE, add(number, "a")).await.unwrap();
    }
    let mut seen = 0;
    let stopped = engine.scan(WORKSPACE, &LIST, vec![], |row| {
        seen += 1;
        assert_eq!(row.text("body")?, "a");
        if seen == 3 { Err(Error::internal("enough")) } else { Ok(()) }
    });
    assert_eq!(stopped.unwrap_err().to_string(), "enough");
    assert_eq!(seen, 3);
    let vectors = Statement::workspace("v", "SELECT x'0000803f000000c0' AS v, $1 AS w");
    let vectors: &'static Statement = Box::leak(Box::new(vectors));
    let mut buffer = vec![9.0];
    engine
        .scan(WORKSPACE, vectors, vec![], |row| row.vector_into("v", &mut buffer).map(drop))
        .unwrap();
    assert_eq!(buffer, [1.0, -2.0]);
}
