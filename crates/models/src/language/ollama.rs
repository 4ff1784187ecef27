//! Ollama's own dialect, which takes a schema as the format of an answer.

use async_trait::async_trait;
use mnemic_core::error::Result;
use mnemic_core::language::{Completion, Endpoint, LanguageModel, Prompt};
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::{Value, json};

use super::openai::with_schema;
use super::{Call, Spoken, model_name, unusable};
use crate::endpoint::{Failed, bearer};
use crate::http::Client;

#[derive(Debug)]
pub(super) struct Ollama {
    call: Call,
    name: String,
    label: String,
}

#[derive(Deserialize)]
struct ChatResponse {
    message: Message,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
}

impl Ollama {
    pub(super) fn new(client: Client, endpoint: &Endpoint) -> Result<Self> {
        let mut call = Call::new(client, endpoint, "api/chat")?;
        // Where a proxy guards it.
        if let Some(key) = &endpoint.key {
            call = call.with(AUTHORIZATION, bearer(key.reveal())?);
        }
        Ok(Self { call, name: model_name(endpoint)?, label: endpoint.label() })
    }

    fn request(&self, prompt: &Prompt) -> Value {
        // Small models do better when they are told as well as held to it.
        let system = with_schema(&prompt.system, prompt.schema.as_ref());
        let mut request = json!({
            "model": self.name,
            "stream": false,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": prompt.user},
            ],
            "options": {"num_predict": prompt.tokens_max},
        });
        if let Some(schema) = &prompt.schema {
            request["format"] = schema.clone();
        }
        request
    }
}

#[async_trait]
impl LanguageModel for Ollama {
    fn label(&self) -> &str {
        &self.label
    }

    async fn complete(&self, prompt: &Prompt) -> Result<String> {
        self.complete_counted(prompt).await.map(|completion| completion.text)
    }

    async fn complete_counted(&self, prompt: &Prompt) -> Result<Completion> {
        let response: ChatResponse =
            self.call.ask(&self.request(prompt)).await.map_err(Failed::into_error)?;
        if !response.done {
            return Err(unusable("it is not whole"));
        }
        let cut = response.done_reason.as_deref() == Some("length");
        let tokens = response.prompt_eval_count.zip(response.eval_count).map(|(a, b)| a + b);
        Spoken { text: response.message.content, cut, tokens }.check()
    }
}
