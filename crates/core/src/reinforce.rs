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

/// Where something was asked, and in which conversation.
type Asked = (Scope, Option<String>);

/// What was returned and has not been counted yet.
#[derive(Debug, Default)]
pub(crate) struct Reinforce {
    noted: Mutex<HashMap<Asked, Vec<MemoryId>>>,
}

impl Reinforce {
    pub(crate) fn note(
        &self,
        scope: Scope,
        conversation: Option<&str>,
        ids: impl Iterator<Item = MemoryId>,
    ) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.values().map(Vec::len).sum::<usize>() < NOTED_MAX {
            noted.entry((scope, conversation.map(str::to_owned))).or_default().extend(ids);
        }
    }

    fn take(&self) -> HashMap<Asked, Vec<MemoryId>> {
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
        for ((scope, conversation), ids) in self.reinforce.take() {
            let counted = async {
                self.store.touch_memories(scope, &ids, now).await?;
                match &conversation {
                    Some(conversation) => self.store.add_sightings(scope, conversation, &ids).await,
                    None => Ok(()),
                }
            };
            if let Err(e) = counted.await {
                tracing::warn!(error = %e, items = ids.len(), "accesses were not counted");
            }
        }
    }
}
