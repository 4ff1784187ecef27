//! Whose turn it is to write, among the callers of this server.
//!
//! Batches of one workspace wait for each other in the database. They wait here first, so that
//! a busy workspace holds one connection and not all of them.

use std::hash::{BuildHasher, RandomState};

use tokio::sync::{Mutex, MutexGuard};

use crate::Scope;

/// Enough that two busy workspaces rarely share one.
const QUEUES: usize = 256;

pub(super) struct Turns {
    hasher: RandomState,
    queues: Vec<Mutex<()>>,
}

impl Default for Turns {
    fn default() -> Self {
        let queues = (0..QUEUES).map(|_| Mutex::new(())).collect();
        Self { hasher: RandomState::new(), queues }
    }
}

impl Turns {
    /// Waits in line; the turn ends when what this returns is dropped.
    pub(super) async fn take(&self, scope: Scope) -> Option<MutexGuard<'_, ()>> {
        let hash = usize::try_from(self.hasher.hash_one(scope) % QUEUES as u64).unwrap_or(0);
        match self.queues.get(hash) {
            Some(queue) => Some(queue.lock().await),
            None => None,
        }
    }
}
