//! Being returned by a recall or a search is a sign of use. It is counted behind the answer, in groups.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Mnemic;
use crate::ids::{MemoryId, NodeId};
use crate::principal::Scope;

const PERIOD: Duration = Duration::from_millis(500);
/// A count is worth less than memory: beyond this many records, new ones are not noted.
const NOTED_MAX: usize = 100_000;

/// Where something was asked, and in which conversation.
type Asked = (Scope, Option<String>);

/// What was returned and has not been counted yet.
#[derive(Debug, Default)]
pub(crate) struct Reinforce {
    noted: Mutex<HashMap<Asked, Noted>>,
}

#[derive(Debug, Default)]
struct Noted {
    memories: Vec<MemoryId>,
    nodes: Vec<NodeId>,
}

impl Reinforce {
    pub(crate) fn note(
        &self,
        scope: Scope,
        conversation: Option<&str>,
        ids: impl Iterator<Item = MemoryId>,
    ) {
        self.add((scope, conversation.map(str::to_owned)), |noted| noted.memories.extend(ids));
    }

    pub(crate) fn note_nodes(&self, scope: Scope, ids: impl Iterator<Item = NodeId>) {
        self.add((scope, None), |noted| noted.nodes.extend(ids));
    }

    fn add(&self, asked: Asked, add: impl FnOnce(&mut Noted)) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let count: usize = noted.values().map(|n| n.memories.len() + n.nodes.len()).sum();
        if count < NOTED_MAX {
            add(noted.entry(asked).or_default());
        }
    }

    fn take(&self) -> HashMap<Asked, Noted> {
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
        for ((scope, conversation), Noted { memories, nodes }) in self.reinforce.take() {
            let items = memories.len() + nodes.len();
            let counted = async {
                self.store.touch_memories(scope, &memories, now).await?;
                self.store.touch_nodes(scope, &nodes, now).await?;
                match &conversation {
                    Some(conversation) => {
                        self.store.add_sightings(scope, conversation, &memories).await
                    }
                    None => Ok(()),
                }
            };
            if let Err(e) = counted.await {
                tracing::warn!(error = %e, items, "accesses were not counted");
            }
        }
    }
}
