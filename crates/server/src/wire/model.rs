//! The model of a workspace on the wire. Its key comes in and never goes out.

use std::fmt;

use mnemic_core::language::{BreakerState, BudgetState, Provider};
use mnemic_core::model::{ModelSettings, ModelView, ProviderChoice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::nullable;

/// Whose dialect the model speaks; `off` is none, whatever the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderWire {
    Openai,
    Anthropic,
    Ollama,
    Off,
}

impl From<Provider> for ProviderWire {
    fn from(provider: Provider) -> Self {
        match provider {
            Provider::Openai => Self::Openai,
            Provider::Anthropic => Self::Anthropic,
            Provider::Ollama => Self::Ollama,
        }
    }
}

impl From<ProviderChoice> for ProviderWire {
    fn from(choice: ProviderChoice) -> Self {
        match choice {
            ProviderChoice::Openai => Self::Openai,
            ProviderChoice::Anthropic => Self::Anthropic,
            ProviderChoice::Ollama => Self::Ollama,
            ProviderChoice::Off => Self::Off,
        }
    }
}

/// Which language model serves; what is null is the server's choice.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettingsRequest {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<ProviderWire>)]
    pub provider: Option<Option<ProviderWire>>,
    /// The endpoint's address, such as `https://api.openai.com/v1`. Needs a provider.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, max_length = 2048)]
    pub base_url: Option<Option<String>>,
    /// What the provider calls the model.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128)]
    pub name: Option<Option<String>>,
    /// How often Mnemic itself may ask in a minute.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_u64)]
    pub requests_per_minute: Option<Option<u32>>,
    /// How many tokens, of prompts and answers, that may take in a minute.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_u64)]
    pub tokens_per_minute: Option<Option<u32>>,
    /// For one answer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 600)]
    pub timeout_seconds: Option<Option<u32>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ModelSettingsResponse {
    pub provider: Option<ProviderWire>,
    pub base_url: Option<String>,
    pub name: Option<String>,
    #[schema(value_type = Option<i64>)]
    pub requests_per_minute: Option<u32>,
    #[schema(value_type = Option<i64>)]
    pub tokens_per_minute: Option<u32>,
    #[schema(value_type = Option<i64>)]
    pub timeout_seconds: Option<u32>,
}

impl From<ModelSettings> for ModelSettingsResponse {
    fn from(settings: ModelSettings) -> Self {
        let ModelSettings {
            provider,
            base_url,
            name,
            requests_per_minute,
            tokens_per_minute,
            timeout_seconds,
        } = settings;
        Self {
            provider: provider.map(Into::into),
            base_url,
            name,
            requests_per_minute,
            tokens_per_minute,
            timeout_seconds,
        }
    }
}

/// A key, on its way in. Its debug form hides it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelKeyRequest {
    #[schema(min_length = 1, max_length = 4096)]
    pub key: String,
}

impl fmt::Debug for ModelKeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelKeyRequest(…)")
    }
}

/// The model that serves a workspace, and how it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ModelResponse {
    /// Null where there is none: then rules serve.
    pub provider: Option<ProviderWire>,
    pub name: Option<String>,
    pub base_url: Option<String>,
    /// `workspace` or `server`: who chose it, and whose key is used.
    pub source: Option<String>,
    /// Whether the workspace has a key of its own. The key is never shown.
    pub key_set: bool,
    /// Why the model cannot be used, and what to do.
    pub problem: Option<String>,
    /// `closed`, `open` (it failed too often and is left alone for a while) or `half_open`.
    pub breaker: Option<String>,
    /// Until it is asked again.
    pub breaker_wait_seconds: Option<u64>,
    /// What is left of this minute's budget; null where there is no limit.
    pub requests_left: Option<u64>,
    pub tokens_left: Option<u64>,
}

impl From<ModelView> for ModelResponse {
    fn from(view: ModelView) -> Self {
        let wait = match view.breaker {
            Some(BreakerState::Open { wait }) => Some(wait.as_secs()),
            _ => None,
        };
        let left = |of: fn(BudgetState) -> Option<u64>| view.budget.and_then(of);
        Self {
            provider: view.provider.map(Into::into),
            source: view.source.map(|source| source.as_str().to_owned()),
            key_set: view.key_set,
            breaker: view.breaker.map(|state| state.as_str().to_owned()),
            breaker_wait_seconds: wait,
            requests_left: left(|budget| budget.requests_left),
            tokens_left: left(|budget| budget.tokens_left),
            name: view.name,
            base_url: view.base_url,
            problem: view.problem,
        }
    }
}
