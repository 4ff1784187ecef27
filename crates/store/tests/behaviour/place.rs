//! Where a world's store lives. An engine joins the suite by a [`Place`] of its own.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use mnemic_core::principal::Scope;
use mnemic_core::store::Store;
use mnemic_store::{EngineStore, Fields, SearchEngine, Statement, Value, sqlite};
use tempfile::TempDir;

/// A store that can be opened, and opened again.
pub(crate) trait Place: Send + Sync {
    fn open(&self) -> Opened;
    /// Every file in which erased text could linger.
    fn files(&self) -> Vec<PathBuf>;
}

pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    /// The same store, for what core has no way to ask.
    pub(crate) rows: Arc<dyn Rows>,
}

impl<E: SearchEngine> From<EngineStore<E>> for Opened {
    fn from(store: EngineStore<E>) -> Self {
        let store = Arc::new(store);
        Self { store: store.clone(), rows: store }
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
        let options = sqlite::Options::default();
        mnemic_store::open_embedded(&path, options, self.index_bytes_max).unwrap().into()
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
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
