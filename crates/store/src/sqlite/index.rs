//! The search indexes beside the database: one per workspace and kind of item, built from the rows
//! on first use, kept in step by the commit hook, evicted by size. They hold nothing that the rows
//! do not.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::ItemKind;
use mnemic_core::{Code, Error, Result};
use mnemic_recall::{Document, Index};
use uuid::Uuid;

use super::entry::{self, Chunk, TagNames};
use super::hook::{Commit, CommitHook, Reader};
use super::talks::Talks;
use crate::{Scope, Touched, values};

/// How much memory the indexes of all workspaces may take together.
pub const INDEX_BYTES_MAX_DEFAULT: usize = 4 * 1024 * 1024 * 1024;

/// How many searches pass between two looks at the size of all indexes.
const EVICTION_USES: u64 = 256;

/// Whose index it is, and of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Subject {
    pub(super) workspace: Uuid,
    pub(super) kind: ItemKind,
}

/// The indexes of all workspaces in use.
pub struct Indexes {
    entries: Mutex<HashMap<Subject, Arc<Slot>>>,
    model: RwLock<Option<ModelStamp>>,
    bytes_max: usize,
    /// Counts uses, to tell which index has not been used for longest.
    uses: AtomicU64,
}

/// One index's place. It outlives its removal from the map for those who hold it.
pub(super) struct Slot {
    state: RwLock<State>,
    /// Held while the index is built, so that it is built once. What goes on is kept here: whoever
    /// began it may leave before it is over, and the next one who comes takes it up.
    pub(super) build: tokio::sync::Mutex<Option<Scan>>,
    used: AtomicU64,
}

/// An index that is being filled from the rows, on a thread of its own.
pub(super) type Scan = tokio::task::JoinHandle<Result<Built>>;

enum State {
    /// Nobody has built it yet.
    Absent,
    /// Being built: what is committed meanwhile is noted.
    Building(Vec<Uuid>),
    Ready(Box<Built>),
}

/// An index, and the model whose vectors it holds.
pub(super) struct Built {
    pub(super) index: Index,
    /// What was said, where that is what is searched.
    pub(super) talks: Talks,
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
        self.with(|built| built.index.bytes() + built.talks.bytes()).unwrap_or(0)
    }

    /// Completes a built index by what was committed meanwhile, and puts it in place. Runs
    /// between two commits, so nothing can slip in. Whether it was: meanwhile everything may have
    /// changed.
    pub(super) fn install(
        &self,
        mut built: Built,
        subject: Subject,
        reader: Reader<'_>,
    ) -> Result<bool> {
        let mut state = self.write();
        let State::Building(noted) = &*state else { return Ok(false) };
        for id in noted {
            refresh(&mut built, subject, *id, reader)?;
        }
        *state = State::Ready(Box::new(built));
        Ok(true)
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

    pub(super) fn slot(&self, subject: Subject) -> Arc<Slot> {
        let used = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries();
        let slot = entries.entry(subject).or_insert_with(|| {
            Arc::new(Slot {
                state: RwLock::new(State::Absent),
                build: tokio::sync::Mutex::default(),
                used: AtomicU64::new(used),
            })
        });
        slot.used.store(used, Ordering::Relaxed);
        slot.clone()
    }

    pub(super) fn forget(&self, workspace: Uuid) {
        self.entries().retain(|subject, _| subject.workspace != workspace);
    }

    /// Indexes grow by writes, too; summing them up for every search would cost too much.
    pub(super) fn evict_now_and_then(&self, keep: Subject) {
        if self.uses.load(Ordering::Relaxed).is_multiple_of(EVICTION_USES) {
            self.evict(keep);
        }
    }

    /// Lets go of the least recently used indexes while all together are too large. The one
    /// in use stays, however large.
    pub(super) fn evict(&self, keep: Subject) {
        let mut entries = self.entries();
        let mut sizes: Vec<_> = entries
            .iter()
            .map(|(subject, slot)| (slot.used.load(Ordering::Relaxed), *subject, slot.bytes()))
            .collect();
        let mut total: usize = sizes.iter().map(|(_, _, bytes)| bytes).sum();
        metrics::gauge!("mnemic_index_bytes").set(total as f64);
        sizes.sort_unstable();
        for (_, subject, bytes) in sizes {
            if total <= self.bytes_max {
                break;
            }
            if subject != keep && bytes > 0 {
                entries.remove(&subject);
                total -= bytes;
                tracing::info!(
                    workspace = %subject.workspace, kind = subject.kind.as_str(), bytes,
                    "index evicted"
                );
            }
        }
    }

    /// Whether indexes may still be built that nobody has asked for. Half of the room is left to
    /// those that somebody does.
    pub(super) fn has_room(&self) -> bool {
        self.entries().values().map(|slot| slot.bytes()).sum::<usize>() < self.bytes_max / 2
    }

    pub(super) fn describe(&self) -> String {
        let entries = self.entries();
        let bytes: usize = entries.values().map(|slot| slot.bytes()).sum();
        let items: usize = entries
            .values()
            .map(|slot| slot.with(|built| built.index.len()).unwrap_or_default())
            .sum();
        let workspaces: HashSet<_> = entries.keys().map(|subject| subject.workspace).collect();
        format!("{} workspaces, {items} items, {bytes} bytes in memory", workspaces.len())
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Subject, Arc<Slot>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, subject: Subject, touched: &[Touched], reader: Reader<'_>) {
        let of_kind = || touched.iter().filter(|touched| touched.kind == subject.kind);
        if of_kind().next().is_none() {
            return;
        }
        let Some(slot) = self.entries().get(&subject).cloned() else { return };
        let ids: Option<Vec<Uuid>> = of_kind().map(|touched| touched.id).collect();
        let mut state = slot.write();
        let Some(ids) = ids else {
            *state = State::Absent;
            return;
        };
        match &mut *state {
            State::Absent => {}
            State::Building(noted) => noted.extend(ids),
            State::Ready(built) => {
                for id in ids {
                    if let Err(e) = refresh(built, subject, id, reader) {
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
            let Scope::Workspace(workspace) = commit.scope else { continue };
            for kind in ItemKind::ALL {
                self.follow(Subject { workspace, kind }, commit.touched, reader);
            }
        }
    }

    fn missed(&self) {
        self.entries().clear();
    }
}

/// Makes the index say of one record what its row says.
fn refresh(built: &mut Built, subject: Subject, id: Uuid, reader: Reader<'_>) -> Result<()> {
    let Built { index, talks, model } = built;
    let model = model.as_ref().map(ModelStamp::key).unwrap_or_default();
    let (scope, one) = (Scope::Workspace(subject.workspace), entry::of(subject.kind).one);
    let mut found = false;
    reader.scan(scope, one, values![model, id], |row| {
        found = true;
        let mut chunk = Chunk::default();
        chunk.push(row, &mut TagNames::default())?;
        if subject.kind == ItemKind::Turn {
            talks.put(row)?;
        }
        chunk.lend(|documents| documents.iter().try_for_each(|it| put(index, it)))?
    })?;
    if !found {
        index.remove(id.as_bytes());
        talks.remove(TurnId(id));
    }
    Ok(())
}

fn put(index: &mut Index, document: &Document<'_>) -> Result<()> {
    index.put(document).map_err(|e| refused(&e))
}

pub(super) fn refused(error: &mnemic_recall::Error) -> Error {
    Error::new(Code::Corrupt, format!("a record does not fit the index: {error}"))
}
