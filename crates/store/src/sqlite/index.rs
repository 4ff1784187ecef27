//! The search index beside the database: one per workspace, built from the rows on first use,
//! kept in step by the commit hook, evicted by size. It holds nothing that the rows do not.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mnemic_core::embed::ModelStamp;
use mnemic_core::{Code, Error, Result};
use mnemic_recall::{Document, Index};
use uuid::Uuid;

use super::entry::{Chunk, TagNames};
use super::hook::{Commit, CommitHook, Reader};
use crate::statements::memory;
use crate::{Scope, Touched, values};

/// How much memory the indexes of all workspaces may take together.
pub const INDEX_BYTES_MAX_DEFAULT: usize = 4 * 1024 * 1024 * 1024;

/// How many searches pass between two looks at the size of all indexes.
const EVICTION_USES: u64 = 256;

/// The indexes of all workspaces in use.
pub struct Indexes {
    entries: Mutex<HashMap<Uuid, Arc<Slot>>>,
    model: RwLock<Option<ModelStamp>>,
    bytes_max: usize,
    /// Counts uses, to tell which index has not been used for longest.
    uses: AtomicU64,
}

/// One workspace's place. It outlives its removal from the map for those who hold it.
pub(super) struct Slot {
    state: RwLock<State>,
    /// Held while the index is built, so that it is built once.
    pub(super) build: tokio::sync::Mutex<()>,
    used: AtomicU64,
}

enum State {
    /// Nobody has built it yet.
    Absent,
    /// Being built: what is committed meanwhile is noted.
    Building(Vec<Touched>),
    Ready(Box<Built>),
}

/// An index, and the model whose vectors it holds.
pub(super) struct Built {
    pub(super) index: Index,
    pub(super) model: Option<ModelStamp>,
}

impl Slot {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the index, if it is ready.
    pub(super) fn with<T>(&self, use_index: impl FnOnce(&Built) -> T) -> Option<T> {
        match &*self.read() {
            State::Ready(built) => Some(use_index(built)),
            State::Absent | State::Building(_) => None,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(&*self.read(), State::Ready(_))
    }

    pub(super) fn begin(&self) {
        *self.write() = State::Building(Vec::new());
    }

    pub(super) fn give_up(&self) {
        *self.write() = State::Absent;
    }

    fn bytes(&self) -> usize {
        self.with(|built| built.index.bytes()).unwrap_or(0)
    }

    /// Completes a built index by what was committed meanwhile, and puts it in place. Runs
    /// between two commits, so nothing can slip in.
    pub(super) fn install(
        &self,
        mut built: Built,
        workspace: Uuid,
        reader: Reader<'_>,
    ) -> Result<()> {
        let mut state = self.write();
        if let State::Building(noted) = &*state {
            for touched in noted {
                refresh(&mut built, workspace, *touched, reader)?;
            }
        }
        *state = State::Ready(Box::new(built));
        Ok(())
    }
}

impl Indexes {
    pub fn new(bytes_max: usize) -> Self {
        Self {
            entries: Mutex::default(),
            model: RwLock::default(),
            bytes_max,
            uses: AtomicU64::new(0),
        }
    }

    pub(super) fn model(&self) -> Option<ModelStamp> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every index holds vectors of one model, so a change of model drops them all.
    pub(super) fn use_model(&self, stamp: &ModelStamp) {
        let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
        if model.as_ref() != Some(stamp) {
            *model = Some(stamp.clone());
            self.entries().clear();
        }
    }

    pub(super) fn slot(&self, workspace: Uuid) -> Arc<Slot> {
        let used = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries();
        let slot = entries.entry(workspace).or_insert_with(|| {
            Arc::new(Slot {
                state: RwLock::new(State::Absent),
                build: tokio::sync::Mutex::new(()),
                used: AtomicU64::new(used),
            })
        });
        slot.used.store(used, Ordering::Relaxed);
        slot.clone()
    }

    pub(super) fn forget(&self, workspace: Uuid) {
        self.entries().remove(&workspace);
    }

    /// Indexes grow by writes, too; summing them up for every search would cost too much.
    pub(super) fn evict_now_and_then(&self, keep: Uuid) {
        if self.uses.load(Ordering::Relaxed).is_multiple_of(EVICTION_USES) {
            self.evict(keep);
        }
    }

    /// Lets go of the least recently used indexes while all together are too large. The one
    /// in use stays, however large.
    pub(super) fn evict(&self, keep: Uuid) {
        let mut entries = self.entries();
        let mut sizes: Vec<_> = entries
            .iter()
            .map(|(id, slot)| (slot.used.load(Ordering::Relaxed), *id, slot.bytes()))
            .collect();
        let mut total: usize = sizes.iter().map(|(_, _, bytes)| bytes).sum();
        metrics::gauge!("mnemic_index_bytes").set(total as f64);
        sizes.sort_unstable();
        for (_, id, bytes) in sizes {
            if total <= self.bytes_max {
                break;
            }
            if id != keep && bytes > 0 {
                entries.remove(&id);
                total -= bytes;
                tracing::info!(workspace = %id, bytes, "index evicted");
            }
        }
    }

    pub(super) fn describe(&self) -> String {
        let entries = self.entries();
        let bytes: usize = entries.values().map(|slot| slot.bytes()).sum();
        let items: usize = entries
            .values()
            .map(|slot| slot.with(|built| built.index.len()).unwrap_or_default())
            .sum();
        format!("{} workspaces, {items} items, {bytes} bytes in memory", entries.len())
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Slot>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, workspace: Uuid, touched: &[Touched], reader: Reader<'_>) {
        let Some(slot) = self.entries().get(&workspace).cloned() else { return };
        let mut state = slot.write();
        match &mut *state {
            State::Absent => {}
            State::Building(noted) => noted.extend_from_slice(touched),
            State::Ready(built) => {
                for &touched in touched {
                    if let Err(e) = refresh(built, workspace, touched, reader) {
                        tracing::error!(error = %e, "the index lost a record; building it anew");
                        *state = State::Absent;
                        return;
                    }
                }
            }
        }
    }
}

impl CommitHook for Indexes {
    fn committed(&self, commits: &[Commit<'_>], reader: Reader<'_>) {
        for commit in commits {
            if let Scope::Workspace(workspace) = commit.scope {
                self.follow(workspace, commit.touched, reader);
            }
        }
    }

    fn missed(&self) {
        self.entries().clear();
    }
}

/// Makes the index say of one record what its row says.
fn refresh(built: &mut Built, workspace: Uuid, touched: Touched, reader: Reader<'_>) -> Result<()> {
    if touched.kind != memory::KIND {
        return Ok(());
    }
    let Built { index, model } = built;
    let model = model.as_ref().map(ModelStamp::key).unwrap_or_default();
    let mut found = false;
    reader.scan(
        Scope::Workspace(workspace),
        &memory::SEARCH_ENTRY,
        values![model, touched.id],
        |row| {
            found = true;
            let mut chunk = Chunk::default();
            chunk.push(row, &mut TagNames::default())?;
            chunk.lend(|documents| documents.iter().try_for_each(|it| put(index, it)))?
        },
    )?;
    if !found {
        index.remove(touched.id.as_bytes());
    }
    Ok(())
}

fn put(index: &mut Index, document: &Document<'_>) -> Result<()> {
    index.put(document).map_err(|e| refused(&e))
}

pub(super) fn refused(error: &mnemic_recall::Error) -> Error {
    Error::new(Code::Corrupt, format!("a record does not fit the index: {error}"))
}
