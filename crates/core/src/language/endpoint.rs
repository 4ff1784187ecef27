//! Where a model is, what it is called, and by which key it is reached.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Quota;

/// Whose dialect an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI, and all that speak like it.
    Openai,
    Anthropic,
    Ollama,
}

impl Provider {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is unless somebody says otherwise.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }
}

/// A key to somebody else's model. Its debug form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub provider: Provider,
    pub base_url: String,
    /// What the provider calls the model; absent, it serves only chats that name one.
    pub name: Option<String>,
    pub key: Option<ApiKey>,
    /// For one answer, with all that is tried again on the way to it.
    pub timeout: Duration,
    /// Whether it may be on this machine or the local network.
    pub allow_private: bool,
}

impl Endpoint {
    pub fn label(&self) -> String {
        format!("{}:{}", self.provider.as_str(), self.name.as_deref().unwrap_or_default())
    }
}

/// Who chose an endpoint and pays for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    Workspace,
    Server,
}

impl Source {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Server => "server",
        }
    }
}

/// What a server offers to workspaces that have no model of their own.
#[derive(Debug, Clone)]
pub struct ServerModels {
    /// The one that serves where a workspace does not choose.
    pub default: Option<Provider>,
    /// Those that the server knows how to reach, at most one of each provider.
    pub endpoints: Vec<Endpoint>,
    /// Whether workspaces may name endpoints on this machine or the local network.
    pub allow_private: bool,
    pub quota: Quota,
    pub timeout: Duration,
}

impl Default for ServerModels {
    fn default() -> Self {
        Self {
            default: None,
            endpoints: vec![],
            allow_private: false,
            quota: Quota::default(),
            timeout: Self::TIMEOUT_DEFAULT,
        }
    }
}

impl ServerModels {
    pub const TIMEOUT_DEFAULT: Duration = Duration::from_mins(1);

    pub(crate) fn of(&self, provider: Provider) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.provider == provider)
    }
}
