//! What was erased stays erased when other rows take the place of a store's own, from a backup
//! or an export made before the erasure.
//!
//! The tombstones and revoked tokens of what is replaced are gathered first and laid afterwards. In
//! a directory they wait in a file meanwhile, so that whoever opens the store next lays them,
//! should this process be killed in between.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use mnemic_core::erasure::{
    Graveyard, Reach, adopt_tombstones, apply_all_tombstones, export_tombstones,
};
use mnemic_core::store::Store;
use mnemic_core::{Code, Error};
use tempfile::NamedTempFile;

use crate::output;

const FILE: &str = "graves.json";

/// Tombstones that wait for the store in a directory.
pub struct Graves {
    path: PathBuf,
}

impl Graves {
    /// Gathers those of the store in a directory whose lock the caller holds. One that cannot be
    /// opened is no reason against a restore, but the user is told.
    pub async fn gather(dir: &Path) -> Result<Self> {
        let graves = Self { path: dir.join(FILE) };
        let database = dir.join("mnemic.db");
        if !database.try_exists().with_context(|| format!("{}", database.display()))? {
            return Ok(graves);
        }
        match of_directory(dir, &database).await {
            Ok(graveyard) if graveyard.plots.is_empty() => {}
            Ok(graveyard) => graves.keep(&graveyard)?,
            Err(error) => output::note(&format!(
                "what was erased from the store that is replaced cannot be read ({error}): if the \
                 file has it, it is back"
            )),
        }
        Ok(graves)
    }

    fn keep(&self, graveyard: &Graveyard) -> Result<()> {
        let failed = || format!("{} cannot be written", self.path.display());
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(dir).with_context(failed)?;
        file.write_all(&serde_json::to_vec(graveyard)?).with_context(failed)?;
        file.as_file().sync_all().with_context(failed)?;
        file.persist(&self.path).with_context(failed)?;
        Ok(())
    }

    /// Lays them in the store that is there now, and says how many records were back.
    pub async fn settle(&self) -> Result<u64> {
        let Some(dir) = self.path.parent().filter(|_| self.path.exists()) else { return Ok(0) };
        let store = open(&dir.join("mnemic.db")).await?;
        let laid = settle(&*store, dir).await;
        store.close().await;
        laid
    }

    /// For when nothing was replaced after all.
    pub fn leave(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Lays the tombstones that wait in a directory, if there are any.
pub async fn settle(store: &dyn Store, dir: &Path) -> Result<u64> {
    let path = dir.join(FILE);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).context(format!("{} cannot be read", path.display())),
    };
    let graveyard = serde_json::from_slice(&text)
        .with_context(|| format!("{} is damaged; remove it to go on without", path.display()))?;
    let back = lay(store, &graveyard).await?;
    std::fs::remove_file(&path).with_context(|| format!("{}", path.display()))?;
    Ok(back)
}

/// Takes tombstones over and erases what is back in spite of them; says how many records.
pub async fn lay(store: &dyn Store, graveyard: &Graveyard) -> Result<u64> {
    match adopt_tombstones(store, graveyard).await {
        Ok(_) => {}
        // A store of another origin has erased other things.
        Err(error) if error.code() == Code::Conflict => {
            output::note(&format!("{error}; what was erased may be back"));
            return Ok(0);
        }
        Err(error) => return Err(error.into()),
    }
    let back = apply_all_tombstones(store, Reach::Records).await?;
    let records = ["memories", "nodes", "tokens"];
    let count = |counts: &mnemic_core::erasure::Counts| -> u64 {
        records.iter().filter_map(|noun| counts.get(*noun)).sum()
    };
    Ok(back.iter().map(|(_, counts)| count(counts)).sum())
}

/// Says how much was back.
pub fn tell(back: u64) {
    if back > 0 {
        output::note(&format!("{back} records in it had been erased since, and were again"));
    }
}

/// Those that wait from an earlier time are laid first, or they would be lost with the store.
async fn of_directory(dir: &Path, database: &Path) -> Result<Graveyard> {
    let store = open(database).await?;
    let gathered = async {
        settle(&*store, dir).await?;
        Ok(export_tombstones(&*store).await?)
    };
    let gathered = gathered.await;
    store.close().await;
    gathered
}

async fn open(database: &Path) -> Result<Arc<dyn Store>, Error> {
    let path = database.to_owned();
    let options = mnemic_store::sqlite::Options::default();
    let bytes_max = mnemic_store::sqlite::INDEX_BYTES_MAX_DEFAULT;
    let opened = move || mnemic_store::open_embedded(&path, options, bytes_max);
    let store = tokio::task::spawn_blocking(opened).await;
    Ok(Arc::new(store.map_err(|e| Error::internal("opening a store failed").caused_by(e))??))
}
