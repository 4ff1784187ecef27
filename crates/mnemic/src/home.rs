//! Where the memories are, and by what right this process serves them. The only file that names
//! a concrete engine of the store.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use anyhow::{Context, Result};
use mnemic_core::store::Store;
use mnemic_core::{Kind, Mnemic};

use crate::config::Config;
use crate::owner::{DataDir, Lock, Owner};

pub enum Home {
    /// The data directory, whose lock this process holds.
    Directory(Lock),
    /// A PostgreSQL database, which any number of servers share. Nothing is locked.
    Database(String),
}

impl From<Lock> for Home {
    fn from(lock: Lock) -> Self {
        Self::Directory(lock)
    }
}

impl Home {
    pub async fn open(&self, config: &Config, dir: &DataDir) -> Result<Arc<dyn Store>> {
        if let Self::Database(url) = self {
            return Self::open_database(url).await;
        }
        let (path, bytes_max) = (dir.database(), config.index_bytes_max);
        let options = mnemic_store::sqlite::Options::default();
        let store = tokio::task::spawn_blocking(move || -> Result<_> {
            let store = mnemic_store::open_embedded(&path, options, bytes_max)?;
            // Its log takes over the mode, whatever the directory allows.
            std::fs::set_permissions(&path, Permissions::from_mode(0o600))
                .with_context(|| format!("{} cannot be made private", path.display()))?;
            Ok(store)
        });
        let store = Arc::new(store.await??);
        let back = crate::graves::settle(&*store, dir.path()).await?;
        if back > 0 {
            tracing::warn!(records = back, "what had been erased was back, and was erased again");
        }
        Ok(store)
    }

    /// A database that may be served from; any other is refused with what to do about it.
    pub async fn open_database(url: &str) -> Result<Arc<dyn Store>> {
        let options = mnemic_store::postgres::Options::default();
        Ok(Arc::new(mnemic_store::open_postgres(url, options).await?))
    }

    /// Whether there is a token to administer the store with. The one of a directory must be its
    /// own; that of a database is with whoever started the first of its servers.
    pub async fn has_token(
        &self,
        mnemic: &Mnemic,
        store: &dyn Store,
        dir: &DataDir,
    ) -> Result<bool> {
        if let Self::Database(_) = self {
            return Ok(!store.list_tokens(None, None, 1).await?.is_empty());
        }
        let Some(token) = dir.token() else { return Ok(false) };
        match mnemic.authenticate(&token).await {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == Kind::Unauthenticated => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// A directory keeps its first token; a database's is shown once.
    pub fn keep_token(&self, token: &str) -> Result<()> {
        match self {
            Self::Directory(lock) => lock.keep_token(token),
            Self::Database(_) => Ok(()),
        }
    }

    /// Tells the other processes of this machine, where they are to come here.
    pub fn announce(&self, owner: &Owner) -> Result<()> {
        match self {
            Self::Directory(lock) => lock.announce(owner),
            Self::Database(_) => Ok(()),
        }
    }
}
