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
    /// By workspace; gone where nothing waits.
    open: HashMap<WorkspaceId, Open>,
    /// How many ever came, and how many of them are done. The first to come is the first to be done.
    came: u64,
    done: u64,
}

/// What a workspace has queued or in work.
#[derive(Debug, Default, Clone, Copy)]
struct Open {
    count: usize,
    /// How many had come with the last of them.
    last: u64,
}

impl Fill {
    pub(crate) fn enqueue(&self, scope: Scope, ids: Vec<Uuid>) {
        if ids.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.came += ids.len() as u64;
        let last = state.came;
        let open = state.open.entry(scope.workspace()).or_default();
        *open = Open { count: open.count + ids.len(), last };
        state.queue.extend(ids.into_iter().map(|id| (scope, id)));
        drop(state);
        self.arrived.notify_one();
    }

    pub(crate) fn waiting(&self) -> usize {
        self.lock().open.values().map(|open| open.count).sum()
    }

    pub(crate) fn waiting_in(&self, scope: Scope) -> usize {
        self.lock().open.get(&scope.workspace()).map_or(0, |open| open.count)
    }

    /// Returns when nothing waits any more of what the workspace has written up to now, or after
    /// `patience`. What is written meanwhile is not waited for, or who reads while somebody writes
    /// would wait for ever.
    pub(crate) async fn settled(&self, scope: Scope, patience: Duration) {
        let Some(last) = self.lock().open.get(&scope.workspace()).map(|open| open.last) else {
            return;
        };
        let wait = async {
            loop {
                let finished = self.finished.notified();
                tokio::pin!(finished);
                finished.as_mut().enable();
                if self.lock().done >= last || self.waiting_in(scope) > WAIT_ITEMS_MAX {
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
        state.done += count as u64;
        if let Some(open) = state.open.get_mut(&scope.workspace()) {
            open.count = open.count.saturating_sub(count);
            if open.count == 0 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_meanwhile_is_not_waited_for() {
        let (fill, scope) = (Fill::default(), Scope::of_job(WorkspaceId(Uuid::from_u128(1))));
        let long = Duration::from_mins(1);
        fill.settled(scope, long).await;
        fill.enqueue(scope, vec![Uuid::from_u128(2), Uuid::from_u128(3)]);
        let (taken, ids) = fill.take().unwrap();
        let waits = fill.settled(scope, long);
        tokio::pin!(waits);
        let soon = Duration::from_millis(5);
        assert!(tokio::time::timeout(soon, &mut waits).await.is_err(), "nothing is done yet");
        fill.enqueue(scope, vec![Uuid::from_u128(4)]);
        fill.done(taken, ids.len());
        waits.await;
        assert_eq!((fill.waiting(), fill.waiting_in(scope)), (1, 1));
        fill.settled(scope, soon).await;
        assert_eq!(fill.waiting_in(scope), 1, "patience has an end");
    }
}
