//! The port to language models, and what is done with what they say.
//!
//! Everything works without one: where a workspace has none, or it fails, rules serve instead, and
//! what they write says so. A model is never called inside a transaction. What it answers is
//! untrusted: an answer that is empty, cut short, echoes what was asked or has the wrong shape is a
//! failure, never a result.

mod breaker;
mod budget;
mod echo;
mod endpoint;
mod governed;
mod json;
mod relay;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

pub use breaker::{Breaker, BreakerState};
pub use budget::{Budget, BudgetState, Quota};
pub use echo::is_echo;
pub use endpoint::{ApiKey, Endpoint, Provider, ServerModels, Source};
pub(crate) use governed::Governors;
pub(crate) use json::json;
pub use relay::{Chunks, Relay, Relayed, Route};

use crate::Mnemic;
use crate::error::{Code, Error, Result};
use crate::model::Chosen;
use crate::principal::{Action, Operation, Principal, Scope};

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

/// A whole answer, and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// Of prompt and answer together, where the model says so.
    pub tokens: Option<u64>,
}

#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// Provider and model, such as `openai:gpt-5-mini`: written wherever it made something.
    fn label(&self) -> &str;

    /// The whole answer. One that was cut short, is empty or came too late is an error.
    async fn complete(&self, prompt: &Prompt) -> Result<String>;

    /// The same, with what it took.
    async fn complete_counted(&self, prompt: &Prompt) -> Result<Completion> {
        Ok(Completion { text: self.complete(prompt).await?, tokens: None })
    }
}

/// The way to models that run elsewhere.
#[async_trait]
pub trait Models: Send + Sync + 'static {
    /// The model of an endpoint. Nothing is asked of it yet.
    fn open(&self, endpoint: &Endpoint) -> Result<Arc<dyn LanguageModel>>;

    /// Passes a request of a chat on as it is, and returns as soon as an answer begins.
    async fn relay(&self, endpoint: &Endpoint, request: Relay) -> Result<Relayed>;
}

static RELAY: Operation = Operation::new("chat.relay", Action::UseModel);

impl Mnemic {
    /// The model that serves a workspace, if there is one: its own, or else the server's.
    pub(crate) async fn language_model(
        &self,
        scope: Scope,
    ) -> Result<Option<Arc<dyn LanguageModel>>> {
        if let Some(model) = &self.language {
            return Ok(Some(model.clone()));
        }
        let Some(models) = &self.models else { return Ok(None) };
        let Some(chosen) = self.choose_model(scope).await? else { return Ok(None) };
        if chosen.endpoint.name.is_none() {
            return Ok(None);
        }
        let model = models.open(&chosen.endpoint)?;
        let governed = self.governors.govern(model, scope, &chosen, self.clock.clone());
        Ok(Some(Arc::new(governed)))
    }

    /// Asks the workspace's model for a text; `None` where there is no model.
    pub async fn ask_model(
        &self,
        scope: Scope,
        prompt: &Prompt,
    ) -> Result<Option<(String, String)>> {
        let Some(model) = self.language_model(scope).await? else { return Ok(None) };
        Ok(Some((text(&*model, prompt).await?, model.label().to_owned())))
    }

    /// Passes a chat on to the workspace's OpenAI-compatible endpoint.
    pub async fn relay_chat(&self, principal: &Principal, request: Relay) -> Result<Relayed> {
        self.authorize(principal, &RELAY)?;
        let (Some(models), Some(Chosen { endpoint, .. })) =
            (&self.models, self.choose_upstream(principal.scope()).await?)
        else {
            let detail = "no model is configured to pass chats on to: set the workspace's \
                          model.provider, or OPENAI_BASE_URL and OPENAI_API_KEY for the server";
            return Err(Error::new(Code::NoModel, detail));
        };
        models.relay(&endpoint, request).await
    }
}

/// What a model says, unless it only repeats what it was asked.
pub(crate) async fn text(model: &dyn LanguageModel, prompt: &Prompt) -> Result<String> {
    let text = model.complete(prompt).await?;
    if is_echo(prompt, &text) {
        return Err(unusable("it repeats what was asked"));
    }
    Ok(text)
}

pub(crate) fn unusable(problem: &str) -> Error {
    Error::new(Code::ModelAnswer, format!("the model's answer cannot be used: {problem}"))
}
