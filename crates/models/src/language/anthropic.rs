//! Anthropic's dialect. An answer with a shape is had by making the model use a tool whose input
//! has that shape.

use async_trait::async_trait;
use mnemic_core::error::Result;
use mnemic_core::language::{Completion, Endpoint, LanguageModel, Prompt};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Spoken, model_name, unusable};
use crate::endpoint::{Failed, secret};
use crate::http::Client;

const KEY: HeaderName = HeaderName::from_static("x-api-key");
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const VERSION_SPOKEN: HeaderValue = HeaderValue::from_static("2023-06-01");
const TOOL: &str = "answer";

#[derive(Debug)]
pub(super) struct Anthropic {
    call: Call,
    name: String,
    label: String,
}

#[derive(Deserialize)]
struct MessageResponse {
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        input: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl Anthropic {
    pub(super) fn new(client: Client, endpoint: &Endpoint) -> Result<Self> {
        let mut call = Call::new(client, endpoint, "v1/messages")?.with(VERSION, VERSION_SPOKEN);
        if let Some(key) = &endpoint.key {
            call = call.with(KEY, secret(key.reveal())?);
        }
        Ok(Self { call, name: model_name(endpoint)?, label: endpoint.label() })
    }

    fn request(&self, prompt: &Prompt) -> Value {
        let mut request = json!({
            "model": self.name,
            "max_tokens": prompt.tokens_max,
            "messages": [{"role": "user", "content": prompt.user}],
        });
        // An empty one is refused.
        if !prompt.system.is_empty() {
            request["system"] = json!(prompt.system);
        }
        if let Some(schema) = &prompt.schema {
            let description = "Gives the answer.";
            request["tools"] =
                json!([{"name": TOOL, "description": description, "input_schema": schema}]);
            request["tool_choice"] = json!({"type": "tool", "name": TOOL});
        }
        request
    }
}

#[async_trait]
impl LanguageModel for Anthropic {
    fn label(&self) -> &str {
        &self.label
    }

    async fn complete(&self, prompt: &Prompt) -> Result<String> {
        self.complete_counted(prompt).await.map(|completion| completion.text)
    }

    async fn complete_counted(&self, prompt: &Prompt) -> Result<Completion> {
        let response: MessageResponse =
            self.call.ask(&self.request(prompt)).await.map_err(Failed::into_error)?;
        if response.stop_reason.as_deref() == Some("refusal") {
            return Err(unusable("the model refuses to answer"));
        }
        let text = if prompt.schema.is_some() {
            let input = response.content.iter().find_map(|block| match block {
                Block::ToolUse { input } => Some(input.to_string()),
                Block::Text { .. } | Block::Other => None,
            });
            // Without the tool, what was said may still be the JSON that was asked for.
            input.unwrap_or_else(|| texts(&response.content))
        } else {
            texts(&response.content)
        };
        let cut = response.stop_reason.as_deref() == Some("max_tokens");
        let tokens = response.usage.map(|usage| usage.input_tokens + usage.output_tokens);
        Spoken { text: Some(text), cut, tokens }.check()
    }
}

fn texts(content: &[Block]) -> String {
    let text = |block: &Block| match block {
        Block::Text { text } => Some(text.clone()),
        Block::ToolUse { .. } | Block::Other => None,
    };
    content.iter().filter_map(text).collect()
}
