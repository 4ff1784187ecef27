//! OpenAI's dialect, as it is spoken by OpenAI and by many that are like it in most respects. Where
//! one refuses what another demands, it is asked again in the other way, and that is remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mnemic_core::error::Result;
use mnemic_core::language::{Completion, Endpoint, LanguageModel, Prompt};
use reqwest::StatusCode;
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Spoken, model_name, unusable};
use crate::endpoint::{Failed, bearer};
use crate::http::Client;

const OWN_HOST: &str = "api.openai.com";

/// How an endpoint wants to be asked.
#[derive(Debug, Default)]
pub(super) struct Quirks {
    /// It refuses a schema, so the prompt says what is wanted.
    no_schema: AtomicBool,
    /// It wants the other word for the longest answer.
    other_limit: AtomicBool,
}

#[derive(Debug)]
pub(super) struct OpenAi {
    call: Call,
    name: String,
    label: String,
    quirks: Arc<Quirks>,
}

#[derive(Deserialize)]
struct ChatResponse {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: Option<u64>,
}

impl OpenAi {
    pub(super) fn new(client: Client, endpoint: &Endpoint, quirks: Arc<Quirks>) -> Result<Self> {
        let mut call = Call::new(client, endpoint, "chat/completions")?;
        if let Some(key) = &endpoint.key {
            call = call.with(AUTHORIZATION, bearer(key.reveal())?);
        }
        Ok(Self { call, name: model_name(endpoint)?, label: endpoint.label(), quirks })
    }

    async fn ask(&self, prompt: &Prompt) -> Result<ChatResponse> {
        // Two things can be refused, so the third way of asking is the last.
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.call.ask(&self.request(prompt)).await {
                Err(Failed::Refused(status, error)) if attempts < 3 => {
                    if !self.learn(prompt, status, &error.to_string()) {
                        return Err(error);
                    }
                }
                done => return done.map_err(Failed::into_error),
            }
        }
    }

    fn request(&self, prompt: &Prompt) -> Value {
        let schema = prompt.schema.as_ref();
        let told = schema.filter(|_| self.quirks.no_schema.load(Ordering::Relaxed));
        let mut request = json!({
            "model": self.name,
            "messages": [
                {"role": "system", "content": with_schema(&prompt.system, told)},
                {"role": "user", "content": prompt.user},
            ],
        });
        // OpenAI's newer models refuse the old word, and most others know only that.
        let is_own = self.call.url().host_str() == Some(OWN_HOST);
        let is_new = is_own != self.quirks.other_limit.load(Ordering::Relaxed);
        let limit = if is_new { "max_completion_tokens" } else { "max_tokens" };
        request[limit] = prompt.tokens_max.into();
        if let (Some(schema), None) = (schema, told) {
            request["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": is_strict(schema)},
            });
        }
        request
    }

    /// Whether there is another way to ask that may not be refused.
    fn learn(&self, prompt: &Prompt, status: StatusCode, said: &str) -> bool {
        let is_objection = matches!(
            status,
            StatusCode::BAD_REQUEST
                | StatusCode::UNPROCESSABLE_ENTITY
                | StatusCode::NOT_IMPLEMENTED
        );
        let is_about_limit = said.contains("max_tokens") || said.contains("max_completion_tokens");
        if is_objection && is_about_limit {
            return !self.quirks.other_limit.swap(true, Ordering::Relaxed);
        }
        let has_schema = prompt.schema.is_some();
        is_objection && has_schema && !self.quirks.no_schema.swap(true, Ordering::Relaxed)
    }
}

#[async_trait]
impl LanguageModel for OpenAi {
    fn label(&self) -> &str {
        &self.label
    }

    async fn complete(&self, prompt: &Prompt) -> Result<String> {
        self.complete_counted(prompt).await.map(|completion| completion.text)
    }

    async fn complete_counted(&self, prompt: &Prompt) -> Result<Completion> {
        let response = self.ask(prompt).await?;
        let tokens = response.usage.and_then(|usage| usage.total_tokens);
        let choice = response.choices.into_iter().next();
        let choice = choice.ok_or_else(|| unusable("it has no choices"))?;
        if choice.message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
            return Err(unusable("the model refuses to answer"));
        }
        match choice.finish_reason.as_deref() {
            Some("content_filter") => return Err(unusable("a filter of the provider cut it")),
            Some("tool_calls" | "function_call") => {
                return Err(unusable("it calls a tool that it was not given"));
            }
            _ => {}
        }
        let cut = choice.finish_reason.as_deref() == Some("length");
        Spoken { text: choice.message.content, cut, tokens }.check()
    }
}

/// For endpoints that take no schema, the prompt says it.
pub(super) fn with_schema(system: &str, schema: Option<&Value>) -> String {
    match schema {
        None => system.to_owned(),
        Some(schema) => format!(
            "{system}\n\nAnswer with JSON alone, without any text around it, by this JSON schema:\n\
             {schema}"
        ),
    }
}

/// Whether a schema keeps the rules that OpenAI has for holding a model to it: every object closed,
/// and every property required.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_closed = match fields.get("properties").and_then(Value::as_object) {
                None => true,
                Some(properties) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    let is_required =
                        |name: &String| required.is_some_and(|all| all.contains(&json!(name)));
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                }
            };
            is_closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schemas_that_keep_the_rules_are_strict() {
        let closed = json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {"a": {"type": "string"}},
        });
        assert!(is_strict(&closed));
        assert!(is_strict(&json!({"type": "array", "items": closed})));
        let mut open = closed.clone();
        open["required"] = json!([]);
        assert!(!is_strict(&open));
        assert!(!is_strict(&json!({"type": "array", "items": open})));
    }
}
