//! Where a world's store lives. An engine joins the suite by a [`Place`] of its own.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use mnemic_core::principal::Scope;
use mnemic_core::store::Store;
use mnemic_store::{EngineStore, Fields, SearchEngine, Statement, Value, postgres, sqlite};
use mnemic_test_servers::postgres as server;
use tempfile::TempDir;

use crate::engine::{Fault, Mortal};

/// A store that can be opened, and opened again.
pub(crate) trait Place: Send + Sync {
    fn open(&self) -> Opened;
    /// What another server of the same store would use while this one is open.
    fn beside(&self, opened: &Opened) -> Opened;
    /// Whether these bytes are anywhere in what the store keeps.
    fn has(&self, bytes: &str) -> bool;
}

#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    /// The same store, for what core has no way to ask.
    pub(crate) rows: Arc<dyn Rows>,
    /// By which it can be made to fail.
    pub(crate) fault: Arc<Fault>,
}

impl Opened {
    fn new(engine: impl SearchEngine) -> Self {
        let fault = Arc::new(Fault::default());
        let store = Arc::new(EngineStore::new(Mortal::new(engine, fault.clone())));
        Self { store: store.clone(), rows: store, fault }
    }
}

#[async_trait]
pub(crate) trait Rows: Send + Sync {
    async fn count(&self, scope: Scope, statement: &'static Statement, params: Vec<Value>) -> i64;
}

#[async_trait]
impl<E: SearchEngine> Rows for EngineStore<E> {
    async fn count(&self, scope: Scope, statement: &'static Statement, params: Vec<Value>) -> i64 {
        let scope = mnemic_store::Scope::Workspace(scope.workspace().0);
        let rows = self.engine().read(scope, statement, params).await.unwrap();
        rows[0].int("rows").unwrap()
    }
}

/// SQLite in a directory that goes with the test.
pub(crate) struct Embedded {
    directory: TempDir,
    index_bytes_max: usize,
}

impl Embedded {
    fn with_index(index_bytes_max: usize) -> Box<dyn Place> {
        Box::new(Self { directory: TempDir::new().unwrap(), index_bytes_max })
    }
}

impl Place for Embedded {
    fn open(&self) -> Opened {
        let path = self.directory.path().join("mnemic.db");
        let indexes = Arc::new(sqlite::Indexes::new(self.index_bytes_max));
        let (options, migrations) = (sqlite::Options::default(), sqlite::MIGRATIONS);
        Opened::new(sqlite::SqliteEngine::open(&path, options, migrations, indexes).unwrap())
    }

    /// One process has the directory, so whatever works at once works on one store.
    fn beside(&self, opened: &Opened) -> Opened {
        opened.clone()
    }

    /// In none of its files, whatever a row or a page in them says.
    fn has(&self, bytes: &str) -> bool {
        std::fs::read_dir(self.directory.path()).unwrap().any(|file| {
            let held = std::fs::read(file.unwrap().path()).unwrap();
            held.windows(bytes.len()).any(|window| window == bytes.as_bytes())
        })
    }
}

/// The embedded store as it is served.
pub(crate) fn embedded() -> Box<dyn Place> {
    Embedded::with_index(sqlite::INDEX_BYTES_MAX_DEFAULT)
}

/// The embedded store with so little room that it keeps the index of one workspace at a time.
pub(crate) fn embedded_cramped() -> Box<dyn Place> {
    Embedded::with_index(1)
}

/// A database of its own on the PostgreSQL of this test process.
pub(crate) struct Shared {
    database: String,
    url: String,
}

impl Place for Shared {
    fn open(&self) -> Opened {
        let (options, migrations) = (postgres::Options::default(), postgres::MIGRATIONS);
        Opened::new(wait(postgres::PostgresEngine::open(&self.url, options, migrations)).unwrap())
    }

    fn beside(&self, _: &Opened) -> Opened {
        self.open()
    }

    /// In no row, be it as text or as bytes: what a deleted row leaves in files is the database's own business.
    fn has(&self, bytes: &str) -> bool {
        let (dump, mut hex) = (server().dump(&self.database), String::new());
        for byte in bytes.bytes() {
            let _ = write!(hex, "{byte:02x}");
        }
        dump.contains(bytes) || dump.contains(&hex)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        server().drop_database(&self.database);
    }
}

/// PostgreSQL as it is served: with a user that owns nothing.
pub(crate) fn shared() -> Box<dyn Place> {
    static ROLE: OnceLock<String> = OnceLock::new();
    const TEMPLATE: &str = "mnemic_template";
    let role = ROLE.get_or_init(|| {
        server().run("postgres", &format!("CREATE DATABASE {TEMPLATE}"));
        wait(postgres::setup(&server().owner_url(TEMPLATE), false)).unwrap().role
    });
    let database = server().database(TEMPLATE);
    let url = server().url(role, &database);
    Box::new(Shared { database, url })
}

/// Waits in the midst of a test, whose runtime has several threads.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}
