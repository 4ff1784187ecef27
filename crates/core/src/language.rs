//! The port to language models.
//!
//! Everything works without one: where a workspace has none, or it fails, rules serve instead, and
//! what they write says so. A model is never called inside a transaction.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;

/// What a model is asked.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// What it is to do.
    pub system: String,
    /// What it is to do it with. Stored text in it is delimited: it is data, not instructions.
    pub user: String,
    /// The longest answer that is wanted, in tokens of the model.
    pub tokens_max: u32,
    /// A JSON schema that the answer must have; absent, it is plain text.
    pub schema: Option<Value>,
}

#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// Provider and model, such as `openai:gpt-5-mini`: written wherever it made something.
    fn label(&self) -> &str;

    /// The whole answer. One that was cut short, is empty or came too late is an error.
    async fn complete(&self, prompt: &Prompt) -> Result<String>;
}

impl Mnemic {
    /// The model that serves a workspace, if there is one.
    pub(crate) async fn language_model(
        &self,
        _scope: Scope,
    ) -> Result<Option<Arc<dyn LanguageModel>>> {
        Ok(self.language.clone())
    }
}
