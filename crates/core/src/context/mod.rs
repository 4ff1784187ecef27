//! What an agent reads before it answers: one block of text from every layer that has something to
//! say, within a budget of tokens.
//!
//! The answer never waits for a layer: each has a deadline, and one that fails or is late is named
//! and left out. The order of the sections never changes, so that equal contexts are equal texts.

mod compose;
mod layer;
mod tokens;

use std::time::Duration;

use uuid::Uuid;

use compose::compose;
pub use layer::Layer;
use layer::Layers;
pub use tokens::Tokenizer;
pub(crate) use tokens::UpperBound;

use crate::Mnemic;
use crate::conversation::ConversationId;
use crate::error::{Error, Result};
use crate::principal::{Action, Operation, Principal};
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

pub const BUDGET_TOKENS_DEFAULT: usize = 2_000;
pub const BUDGET_TOKENS_MAX: usize = 100_000;
/// How long a layer may take.
pub const LAYER_DEADLINE: Duration = Duration::from_millis(800);

static CONTEXT: Operation = Operation::new("context", Action::ReadMemories);

#[derive(Debug, Clone, Default)]
pub struct ContextRequest {
    /// What is about to be answered; without it, only what holds for any question is told.
    pub query: Option<String>,
    /// The conversation that goes on.
    pub conversation_id: Option<String>,
    /// Whose scratchpad is told; the caller's own agent if absent.
    pub agent_id: Option<String>,
    /// Nodes that are about to be acted on.
    pub target_node_ids: Vec<Uuid>,
    /// The run that is told, as its actions name it.
    pub session_id: Option<String>,
    pub channel: Option<String>,
    pub budget_tokens: Option<usize>,
    /// How long a layer may take.
    pub deadline: Option<Duration>,
}

/// What is put before a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// Empty if there is nothing to tell.
    pub text: String,
    pub tokens: usize,
    /// The records that it was made of, in the order of the text.
    pub supporting_ids: Vec<Uuid>,
    pub sections: Vec<Section>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// How sure it is, 0 to 1, that the answer to the question is in memory at all.
    pub confidence: f64,
}

/// The part of a text that one layer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub layer: Layer,
    pub text: String,
    pub tokens: usize,
    pub ids: Vec<Uuid>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub layer: Layer,
    pub reason: String,
}

impl ContextRequest {
    fn check(&self) -> Result<usize> {
        if let Some(query) = &self.query {
            check_content("query", query, QUERY_BYTES_MAX)?;
        }
        if let Some(id) = &self.conversation_id {
            id.parse::<ConversationId>()?;
        }
        check_optional_name("agent_id", self.agent_id.as_deref())?;
        check_optional_name("session_id", self.session_id.as_deref())?;
        check_optional_name("channel", self.channel.as_deref())?;
        let budget = self.budget_tokens.unwrap_or(BUDGET_TOKENS_DEFAULT);
        if !(1..=BUDGET_TOKENS_MAX).contains(&budget) {
            let problem = format!("{budget} is not between 1 and {BUDGET_TOKENS_MAX}");
            return Err(Error::invalid("budget_tokens", problem));
        }
        Ok(budget)
    }
}

impl Mnemic {
    pub async fn context(
        &self,
        principal: &Principal,
        request: &ContextRequest,
    ) -> Result<Context> {
        self.authorize(principal, &CONTEXT)?;
        let budget = request.check()?;
        let Layers { told, mut skipped, confidence } = self.ask_layers(principal, request).await;
        let composed = compose(told, &*self.tokenizer, budget);
        skipped.extend(composed.skipped);
        let sections = composed.sections;
        Ok(Context {
            text: composed.text,
            tokens: composed.tokens,
            supporting_ids: sections.iter().flat_map(|section| section.ids.clone()).collect(),
            sections,
            skipped,
            confidence,
        })
    }
}
