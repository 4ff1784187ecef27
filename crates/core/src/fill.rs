//! Vectors follow their texts: a write returns as soon as the text is durable and found by
//! words, and its vector is made behind it. A recall waits a moment for what was written just
//! before it, so that what was remembered is found by meaning at once, too.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use uuid::Uuid;

use crate::Mnemic;
use crate::embed::{Embedder, Purpose, Seen};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::principal::Scope;
use crate::recall::ItemKind;
use crate::store::{Embedded, Unembedded};

/// How many texts are embedded and stored together.
const BATCH_ITEMS: usize = 32;
/// A recall does not wait for a longer queue than this: an import is going on.
const WAIT_ITEMS_MAX: usize = 64;
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The texts that wait for their vectors.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    state: Mutex<State>,
    arrived: Notify,
    finished: Notify,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(Scope, Uuid)>,
    /// Queued or in work, by workspace.
    open: HashMap<WorkspaceId, usize>,
}

impl Fill {
    pub(crate) fn enqueue(&self, scope: Scope, ids: Vec<Uuid>) {
        if ids.is_empty() {
            return;
        }
        let mut state = self.lock();
        *state.open.entry(scope.workspace()).or_default() += ids.len();
        state.queue.extend(ids.into_iter().map(|id| (scope, id)));
        drop(state);
        self.arrived.notify_one();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lock().open.values().sum()
    }

    pub(crate) fn waiting_in(&self, scope: Scope) -> usize {
        self.lock().open.get(&scope.workspace()).copied().unwrap_or(0)
    }

    /// Returns when nothing of the workspace waits any more, or after `patience`.
    pub(crate) async fn settled(&self, scope: Scope, patience: Duration) {
        let wait = async {
            loop {
                let finished = self.finished.notified();
                tokio::pin!(finished);
                finished.as_mut().enable();
                let open = self.waiting_in(scope);
                if open == 0 || open > WAIT_ITEMS_MAX {
                    return;
                }
                finished.await;
            }
        };
        let _ = tokio::time::timeout(patience, wait).await;
    }

    /// The next texts of one workspace.
    fn take(&self) -> Option<(Scope, Vec<Uuid>)> {
        let mut state = self.lock();
        let (scope, first) = state.queue.pop_front()?;
        let mut ids = vec![first];
        while ids.len() < BATCH_ITEMS && state.queue.front().is_some_and(|(s, _)| *s == scope) {
            ids.extend(state.queue.pop_front().map(|(_, id)| id));
        }
        Some((scope, ids))
    }

    fn done(&self, scope: Scope, count: usize) {
        let mut state = self.lock();
        if let Some(open) = state.open.get_mut(&scope.workspace()) {
            *open = open.saturating_sub(count);
            if *open == 0 {
                state.open.remove(&scope.workspace());
            }
        }
        drop(state);
        self.finished.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mnemic {
    /// Makes the vectors of what is written, for as long as it is polled.
    pub async fn fill_vectors(&self) {
        loop {
            let Some((scope, ids)) = self.fill.take() else {
                self.fill.arrived.notified().await;
                continue;
            };
            let count = ids.len();
            metrics::gauge!("mnemic_embedding_queue").set(self.fill.waiting() as f64);
            // Without a model the texts are dropped here: they are found again, with all
            // others that have no vector, when a model appears.
            if let Some(embedder) = self.embedder.ready() {
                let texts = self.store.lookup_unembedded(scope, &ids).await;
                let filled = match texts {
                    Ok(texts) => self.fill_batch(scope, &*embedder, texts).await,
                    Err(e) => Err(e),
                };
                if let Err(e) = filled {
                    tracing::warn!(error = %e, items = count, "embedding failed; trying again");
                    tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
                    self.fill.enqueue(scope, ids);
                }
            }
            self.fill.done(scope, count);
        }
    }

    /// Gives every text of a workspace a vector of the present model, and says how many
    /// lacked one. Vectors of other models go once none is missing.
    pub(crate) async fn reembed_workspace(&self, scope: Scope) -> Result<u64> {
        let embedder = self.embedder.require()?;
        let (mut after, mut made) = (None, 0);
        loop {
            let texts =
                self.store.list_unembedded(scope, embedder.stamp(), after, BATCH_ITEMS).await?;
            let Some(last) = texts.last() else { break };
            after = Some(last.id);
            made += texts.len() as u64;
            self.fill_batch(scope, &*embedder, texts).await?;
        }
        self.store.drop_other_vectors(scope, embedder.stamp()).await?;
        Ok(made)
    }

    async fn fill_batch(
        &self,
        scope: Scope,
        embedder: &dyn Embedder,
        texts: Vec<Unembedded>,
    ) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let count = texts.len() as u64;
        let contents = texts.iter().map(|unembedded| unembedded.text.clone()).collect();
        let seen = embedder.see(contents, Purpose::Document).await?;
        let embedded = texts
            .into_iter()
            .zip(seen)
            .map(|(Unembedded { kind, id, text }, Seen { vector, pieces })| {
                // Pieces are many: they are kept where they are weighed.
                let weighed = matches!(kind, ItemKind::Turn | ItemKind::Memory);
                let pieces = if weighed { pieces } else { vec![] };
                Embedded { kind, id, text, vector, pieces }
            })
            .collect();
        self.store.put_vectors(scope, embedder.stamp(), embedded).await?;
        metrics::counter!("mnemic_embedded_total").increment(count);
        Ok(())
    }
}
