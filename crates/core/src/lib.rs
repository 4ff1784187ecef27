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

use std::sync::Arc;
use std::time::Duration;

use clock::{Chronicle, Clock, IdSource};
use embed::{EmbedderSlot, EmbedderState};
pub use error::{Code, Error, Kind, Result};
use slot::SlotSpace;
use store::{Finding, Store};

/// The memory of all workspaces of one store.
pub struct Mnemic {
    store: Arc<dyn Store>,
    slots: SlotSpace,
    embedder: EmbedderSlot,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    /// Of actions whose reporters leave it to us to say when they were.
    chronicle: Chronicle,
    fill: fill::Fill,
    reinforce: reinforce::Reinforce,
    lease: Duration,
    log: audit::Log,
    audit_days: u32,
    language: Option<Arc<dyn language::LanguageModel>>,
    models: Option<Arc<dyn language::Models>>,
    server_models: language::ServerModels,
    governors: language::Governors,
    master_key: Option<secret::MasterKey>,
    afterwards: afterwards::Afterwards,
    kick: sequence::Kick,
    tokenizer: Arc<dyn context::Tokenizer>,
}

impl Mnemic {
    pub fn new(
        store: Arc<dyn Store>,
        slots: SlotSpace,
        embedder: EmbedderSlot,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            store,
            slots,
            embedder,
            clock,
            ids: IdSource::default(),
            chronicle: Chronicle::new(sequence::GAP),
            fill: fill::Fill::default(),
            reinforce: reinforce::Reinforce::default(),
            lease: job::LEASE_DEFAULT,
            log: audit::Log::default(),
            audit_days: audit::RETENTION_DAYS_DEFAULT,
            language: None,
            models: None,
            server_models: language::ServerModels::default(),
            governors: language::Governors::default(),
            master_key: None,
            afterwards: afterwards::Afterwards::default(),
            kick: sequence::Kick::default(),
            tokenizer: Arc::new(context::UpperBound),
        }
    }

    /// How long a job stays with a server that has fallen silent.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// What counts the tokens of a context; without one, more are counted than there are.
    #[must_use]
    pub fn with_tokenizer(self, tokenizer: Arc<dyn context::Tokenizer>) -> Self {
        Self { tokenizer, ..self }
    }

    /// How many days of audit are kept.
    #[must_use]
    pub fn with_audit_days(self, audit_days: u32) -> Self {
        Self { audit_days, ..self }
    }

    /// The way to language models, and those that the server offers to every workspace.
    #[must_use]
    pub fn with_models(
        self,
        models: Arc<dyn language::Models>,
        server_models: language::ServerModels,
    ) -> Self {
        Self { models: Some(models), server_models, ..self }
    }

    /// The key that secrets are encrypted with; without one, none can be kept.
    #[must_use]
    pub fn with_master_key(self, master_key: secret::MasterKey) -> Self {
        Self { master_key: Some(master_key), ..self }
    }

    /// The one language model that serves every workspace, whatever it chooses.
    #[must_use]
    pub fn with_language_model(self, model: Arc<dyn language::LanguageModel>) -> Self {
        Self { language: Some(model), ..self }
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
