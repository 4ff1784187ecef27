//! Being returned by a recall is a sign of use. It is counted behind the answer, in groups.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Mnemic;
use crate::ids::MemoryId;
use crate::principal::Scope;

const PERIOD: Duration = Duration::from_millis(500);
/// A count is worth less than memory: beyond this many records, new ones are not noted.
const NOTED_MAX: usize = 100_000;

/// What was returned and has not been counted yet.
#[derive(Debug, Default)]
pub(crate) struct Reinforce {
    noted: Mutex<HashMap<Scope, Vec<MemoryId>>>,
}

impl Reinforce {
    pub(crate) fn note(&self, scope: Scope, ids: impl Iterator<Item = MemoryId>) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.values().map(Vec::len).sum::<usize>() < NOTED_MAX {
            noted.entry(scope).or_default().extend(ids);
        }
    }

    fn take(&self) -> HashMap<Scope, Vec<MemoryId>> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Mnemic {
    /// Counts accesses, for as long as it is polled.
    pub async fn count_accesses(&self) {
        loop {
            tokio::time::sleep(PERIOD).await;
            self.flush_accesses().await;
        }
    }

    /// Counts what is noted now; called once more before closing.
    pub async fn flush_accesses(&self) {
        let now = self.clock.now();
        for (scope, ids) in self.reinforce.take() {
            if let Err(e) = self.store.touch_memories(scope, &ids, now).await {
                tracing::warn!(error = %e, items = ids.len(), "accesses were not counted");
            }
        }
    }
}
