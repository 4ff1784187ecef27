//! Language models over HTTP: one file per dialect, and one for chats that are passed on.
//!
//! A provider builds a request and reads an answer; everything between (time, retries, size, what
//! is said of a failure) is the same for all and is `call`'s.

mod anthropic;
mod call;
mod ollama;
mod openai;
mod relay;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mnemic_core::error::{Code, Error, Result};
use mnemic_core::language::{
    Completion, Endpoint, LanguageModel, Models, Provider, Relay, Relayed,
};

use self::anthropic::Anthropic;
use self::call::Call;
use self::ollama::Ollama;
use self::openai::{OpenAi, Quirks};
use crate::http::{Client, ClientOptions};

/// How many endpoints' peculiarities are remembered.
const REMEMBERED_MAX: usize = 1_024;

#[derive(Debug, Clone, Copy)]
pub struct ProviderOptions {
    pub connect_timeout: Duration,
    /// The longest silence while a chat is passed on; what asks by itself has its own time.
    pub read_timeout: Duration,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(5), read_timeout: Duration::from_mins(10) }
    }
}

/// All providers, over two clients: one that reaches private addresses and one that does not.
#[derive(Debug)]
pub struct Providers {
    anywhere: Client,
    public: Client,
    quirks: Mutex<HashMap<(String, String), Arc<Quirks>>>,
}

impl Providers {
    pub fn new(options: ProviderOptions) -> Result<Self> {
        let client = |allow_private| {
            Client::new(&ClientOptions {
                connect_timeout: options.connect_timeout,
                read_timeout: options.read_timeout,
                redirects_max: 0,
                allow_private,
            })
        };
        Ok(Self { anywhere: client(true)?, public: client(false)?, quirks: Mutex::default() })
    }

    fn client(&self, endpoint: &Endpoint) -> Client {
        if endpoint.allow_private { self.anywhere.clone() } else { self.public.clone() }
    }

    /// What is known of an endpoint, so that it is not asked in vain each time.
    fn quirks(&self, endpoint: &Endpoint) -> Arc<Quirks> {
        let mut known = self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        let name = endpoint.name.clone().unwrap_or_default();
        known.entry((endpoint.base_url.clone(), name)).or_default().clone()
    }
}

#[async_trait]
impl Models for Providers {
    fn open(&self, endpoint: &Endpoint) -> Result<Arc<dyn LanguageModel>> {
        let client = self.client(endpoint);
        Ok(match endpoint.provider {
            Provider::Openai => Arc::new(OpenAi::new(client, endpoint, self.quirks(endpoint))?),
            Provider::Anthropic => Arc::new(Anthropic::new(client, endpoint)?),
            Provider::Ollama => Arc::new(Ollama::new(client, endpoint)?),
        })
    }

    async fn relay(&self, endpoint: &Endpoint, request: Relay) -> Result<Relayed> {
        relay::relay(&self.client(endpoint), endpoint, request).await
    }
}

/// The name that the provider knows the model by.
fn model_name(endpoint: &Endpoint) -> Result<String> {
    endpoint.name.clone().ok_or_else(|| {
        Error::new(Code::NoModel, "the model has no name: set the workspace's model.name")
    })
}

/// What a provider made of an answer, before anybody believes it.
struct Spoken {
    text: Option<String>,
    /// Whether it ended because it grew too long.
    cut: bool,
    tokens: Option<u64>,
}

impl Spoken {
    fn check(self) -> Result<Completion> {
        if self.cut {
            return Err(unusable("it was cut short; it would have been longer than was allowed"));
        }
        let text = self.text.unwrap_or_default();
        if text.trim().is_empty() {
            return Err(unusable("it is empty"));
        }
        Ok(Completion { text, tokens: self.tokens })
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(Code::ModelAnswer, format!("the model's answer cannot be used: {problem}"))
}
