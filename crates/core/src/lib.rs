//! What memory is: domain types, each layer's rules, retrieval, and the ports to the outside.
//!
//! Nothing here knows SQL, HTTP or MCP, and nothing reads a clock or makes randomness of its
//! own but for secrets: both are passed in. [`Mnemic`] is the whole product in process; every
//! surface is a thin adapter over it.

pub mod action;
mod afterwards;
pub mod answer;
pub mod ask;
pub mod audit;
pub mod clock;
pub mod context;
pub mod conversation;
pub mod domain;
pub mod edge;
pub mod embed;
pub mod erasure;
pub mod error;
pub mod extraction;
mod fill;
pub mod goal;
pub mod grant;
pub mod ids;
pub mod job;
pub mod language;
pub mod learning;
pub mod memory;
pub mod metric;
pub mod model;
pub mod node;
pub mod page;
mod parts;
pub mod pattern;
pub mod policy;
pub mod principal;
pub mod profile;
pub mod recall;
mod reinforce;
pub mod review;
pub mod run;
pub mod scratchpad;
pub mod secret;
pub mod sequence;
pub mod slot;
pub mod store;
pub mod strategy;
pub mod text;
pub mod timeline;
pub mod token;
pub mod tool;
pub mod workspace;

use std::ops::Deref;
use std::sync::Arc;

use clock::Clock;
use embed::{EmbedderSlot, EmbedderState};
pub use error::{Code, Error, Kind, Result};
pub use parts::Parts;
use slot::SlotSpace;
use store::{Finding, Store};

/// The memory of all workspaces of one store. A handle: clones share everything, so that work can be
/// handed to another thread.
#[derive(Clone)]
pub struct Mnemic {
    parts: Arc<Parts>,
}

impl Deref for Mnemic {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Mnemic {
    /// With nothing but what it cannot do without; see [`Parts`] for the rest.
    pub fn new(
        store: Arc<dyn Store>,
        slots: SlotSpace,
        embedder: EmbedderSlot,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Parts::new(store, slots, embedder, clock).into()
    }

    /// Whether the store answers at all; cheap enough for a probe.
    pub async fn ping(&self) -> Result<()> {
        self.store.list_workspaces(None, 1).await.map(drop)
    }

    /// What serves and what does not: the store first, then slots and the model.
    pub async fn check(&self, thorough: bool) -> Result<Vec<Finding>> {
        let mut findings = self.store.check(thorough).await?;
        findings.push(self.slots.slots.check().await);
        let (ok, detail) = match self.embedder.state() {
            EmbedderState::Ready(embedder) => {
                let waiting = self.fill.waiting();
                (true, format!("{} serves; {waiting} texts wait", embedder.stamp().key()))
            }
            EmbedderState::Off => (true, "switched off: words alone serve".to_owned()),
            EmbedderState::Loading(how_far) => {
                (false, format!("loading ({how_far}): words alone serve for now"))
            }
            EmbedderState::Failed(why) => (false, format!("{why}; words alone serve")),
        };
        findings.push(Finding { part: "embedder".to_owned(), ok, detail });
        findings.push(self.model_finding());
        Ok(findings)
    }

    /// Writes down what is still in flight and closes the store.
    pub async fn close(&self) {
        self.finish_afterwards().await;
        self.flush_accesses().await;
        self.flush_audit().await;
        self.store.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Surfaces run every operation on a multi-threaded runtime.
    #[test]
    fn operations_can_move_between_threads() {
        fn check<T: Send>(_: impl Fn(&'static Mnemic, &'static principal::Caller) -> T) {}
        check(|mnemic, caller| mnemic.create_memory(caller, memory::NewMemory::default()));
        check(|mnemic, caller| mnemic.create_memories(caller, vec![]));
        check(|mnemic, caller| mnemic.finish_run(caller, "", "", None));
        check(|mnemic, caller| mnemic.update_settings(&caller.principal, &serde_json::Value::Null));
    }
}
