//! What a [`Mnemic`] is made of: put together once, then shared by all its handles.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Chronicle, Clock, IdSource};
use crate::embed::EmbedderSlot;
use crate::slot::SlotSpace;
use crate::store::Store;
use crate::{Mnemic, afterwards, audit, context, fill, job, language, reinforce, secret, sequence};

/// Everything that one memory works with.
pub struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) slots: SlotSpace,
    pub(crate) embedder: EmbedderSlot,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    /// Of actions whose reporters leave it to us to say when they were.
    pub(crate) chronicle: Chronicle,
    pub(crate) fill: fill::Fill,
    pub(crate) reinforce: reinforce::Reinforce,
    pub(crate) lease: Duration,
    pub(crate) log: audit::Log,
    pub(crate) audit_days: u32,
    pub(crate) language: Option<Arc<dyn language::LanguageModel>>,
    pub(crate) models: Option<Arc<dyn language::Models>>,
    pub(crate) server_models: language::ServerModels,
    pub(crate) governors: language::Governors,
    pub(crate) master_key: Option<secret::MasterKey>,
    pub(crate) afterwards: afterwards::Afterwards,
    pub(crate) kick: sequence::Kick,
    pub(crate) tokenizer: Arc<dyn context::Tokenizer>,
}

impl From<Parts> for Mnemic {
    fn from(parts: Parts) -> Self {
        Self { parts: Arc::new(parts) }
    }
}

impl Parts {
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
}
