//! Which language model serves a workspace: its own, by its settings and its own key, or the
//! server's. A key goes to the address that it was given for and to no other, whoever may change
//! the settings; and the server's keys never go to an address that a workspace chose.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::language::{
    ApiKey, BreakerState, BudgetState, Endpoint, Provider, Quota, ServerModels, Source,
};
use crate::principal::{Action, Caller, Operation, Principal, Scope};
use crate::secret::Sealed;
use crate::store::{Change, Finding};
use crate::text::check_optional_name;
use crate::workspace::Settings;

/// What its secret is called.
const KEY: &str = "model_key";
const KEY_BYTES_MAX: usize = 4_096;
const URL_BYTES_MAX: usize = 2_048;
const TIMEOUT_SECONDS_MAX: u32 = 600;

static GET: Operation = Operation::new("model.get", Action::UseModel);
static SET_KEY: Operation = Operation::new("model.set_key", Action::ManageKeys);
static DELETE_KEY: Operation = Operation::new("model.delete_key", Action::ManageKeys);

/// What a workspace chooses; what is absent is the server's choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    pub provider: Option<ProviderChoice>,
    /// Absent, the provider's own address.
    pub base_url: Option<String>,
    /// What the provider calls the model.
    pub name: Option<String>,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
    pub timeout_seconds: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderChoice {
    Openai,
    Anthropic,
    Ollama,
    /// None, whatever the server has.
    Off,
}

impl ProviderChoice {
    fn provider(self) -> Option<Provider> {
        match self {
            Self::Openai => Some(Provider::Openai),
            Self::Anthropic => Some(Provider::Anthropic),
            Self::Ollama => Some(Provider::Ollama),
            Self::Off => None,
        }
    }
}

impl ModelSettings {
    pub(crate) fn check(&self) -> Result<()> {
        check_optional_name("settings.model.name", self.name.as_deref())?;
        if let Some(url) = &self.base_url {
            check_base_url(url)?;
            if self.provider.is_none_or(|choice| choice == ProviderChoice::Off) {
                let problem = "needs model.provider, which says whose dialect is spoken there";
                return Err(Error::invalid("settings.model.base_url", problem));
            }
        }
        match self.timeout_seconds {
            Some(seconds) if !(1..=TIMEOUT_SECONDS_MAX).contains(&seconds) => {
                let problem = format!("must be from 1 to {TIMEOUT_SECONDS_MAX}");
                Err(Error::invalid("settings.model.timeout_seconds", problem))
            }
            _ => Ok(()),
        }
    }
}

/// The address may hold a password by mistake, so it is not repeated.
fn check_base_url(url: &str) -> Result<()> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let problem = match rest {
        _ if url.len() > URL_BYTES_MAX => "is too long",
        None => "must begin with https:// or http://",
        Some(rest) if rest.is_empty() || rest.starts_with('/') => "has no host",
        Some(rest) if rest.contains(['@', '?', '#']) => {
            "must not carry credentials, a query or a fragment; the key has its own operation"
        }
        Some(rest) if rest.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            "must not contain spaces"
        }
        Some(_) => return Ok(()),
    };
    Err(Error::invalid("settings.model.base_url", problem))
}

/// A settled choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) endpoint: Endpoint,
    pub(crate) source: Source,
    pub(crate) quota: Quota,
}

/// What a workspace is told about its model. The key itself is never part of it.
#[derive(Debug, Clone)]
pub struct ModelView {
    pub provider: Option<Provider>,
    pub name: Option<String>,
    pub base_url: Option<String>,
    pub source: Option<Source>,
    /// Whether the workspace has a key of its own.
    pub key_set: bool,
    /// Why the key or the model cannot be used.
    pub problem: Option<String>,
    pub breaker: Option<BreakerState>,
    pub budget: Option<BudgetState>,
}

impl Mnemic {
    /// Which model serves the caller's workspace, and how it is.
    pub async fn get_model(&self, principal: &Principal) -> Result<ModelView> {
        self.authorize(principal, &GET)?;
        let scope = principal.scope();
        let key_set = self.store.find_secret(scope, KEY).await?.is_some();
        let (chosen, problem) = match self.choose_model(scope).await {
            Ok(chosen) => (chosen, None),
            Err(e) => (None, Some(e.to_string())),
        };
        let state = chosen.as_ref().map(|it| self.governors.state(scope, it, &*self.clock));
        let (endpoint, source) = chosen.map(|it| (it.endpoint, it.source)).unzip();
        Ok(ModelView {
            provider: endpoint.as_ref().map(|it| it.provider),
            name: endpoint.as_ref().and_then(|it| it.name.clone()),
            base_url: endpoint.map(|it| it.base_url),
            source,
            key_set,
            problem,
            breaker: state.map(|(breaker, _)| breaker),
            budget: state.map(|(_, budget)| budget),
        })
    }

    /// Keeps the key to the workspace's model, encrypted, for the address that its settings name
    /// now.
    pub async fn set_model_key(&self, caller: &Caller, key: &ApiKey) -> Result<()> {
        self.authorize(&caller.principal, &SET_KEY)?;
        check_key(key.reveal())?;
        let Some(master) = &self.master_key else {
            let detail = "there is no master key to encrypt it with: set MNEMIC_SECRET_KEY to the \
                          same 32 bytes on every server (`openssl rand -base64 32` makes them)";
            return Err(Error::conflict(detail));
        };
        let settings = self.own_workspace(&caller.principal).await?.settings.model;
        let Some(audience) = audience(&settings) else {
            let detail = "the workspace's settings say no model.provider that the key could be \
                          for; set it first";
            return Err(Error::conflict(detail));
        };
        let workspace = caller.scope().workspace();
        let now = self.clock.now();
        let sealed = master.seal(workspace, KEY, &audience, key.reveal(), now)?;
        self.decide(caller, &SET_KEY, || {
            Box::pin(async { Ok(((), vec![Change::PutSecret(sealed.clone())])) })
        })
        .await
    }

    pub async fn delete_model_key(&self, caller: &Caller) -> Result<()> {
        self.authorize(&caller.principal, &DELETE_KEY)?;
        self.decide(caller, &DELETE_KEY, || {
            Box::pin(async {
                if self.store.find_secret(caller.scope(), KEY).await?.is_none() {
                    return Err(Error::not_found("key"));
                }
                Ok(((), vec![Change::RemoveSecret { name: KEY.to_owned() }]))
            })
        })
        .await
    }

    /// The model that answers for a workspace.
    pub(crate) async fn choose_model(&self, scope: Scope) -> Result<Option<Chosen>> {
        let (settings, sealed) = self.model_choice(scope).await?;
        let open = |sealed: &Sealed| self.open_key(scope, sealed);
        choose(&settings, sealed.as_ref(), &self.server_models, open)
    }

    /// Where the chats of a workspace go: as above, or to any endpoint of the server that speaks
    /// OpenAI's dialect, since a chat names its own model.
    pub(crate) async fn choose_upstream(&self, scope: Scope) -> Result<Option<Chosen>> {
        let (settings, _) = self.model_choice(scope).await?;
        if let Some(chosen) = self.choose_model(scope).await? {
            return Ok(Some(chosen));
        }
        let server = &self.server_models;
        let speaks = [Provider::Openai, Provider::Ollama];
        let found = speaks.into_iter().find_map(|provider| server.of(provider));
        let is_open = settings.provider.is_none();
        Ok(found.filter(|_| is_open).map(|endpoint| of_server(&settings, endpoint, server)))
    }

    /// What the server offers, for who looks it over.
    pub(crate) fn model_finding(&self) -> Finding {
        let server = &self.server_models;
        let default = server.default.and_then(|provider| server.of(provider));
        let mut detail = match default {
            Some(endpoint) => format!("{} serves who chooses none", endpoint.label()),
            None => "the server has none: rules serve who chooses none".to_owned(),
        };
        if self.master_key.is_none() {
            detail.push_str("; without MNEMIC_SECRET_KEY workspaces cannot keep keys of their own");
        }
        Finding { part: "model".to_owned(), ok: true, detail }
    }

    async fn model_choice(&self, scope: Scope) -> Result<(ModelSettings, Option<Sealed>)> {
        let workspace = self.store.lookup_workspace(scope.workspace()).await?;
        let Settings { model, .. } =
            workspace.ok_or_else(|| Error::not_found("workspace"))?.settings;
        let chooses = model.provider.is_some_and(|choice| choice != ProviderChoice::Off);
        let sealed = if chooses { self.store.find_secret(scope, KEY).await? } else { None };
        Ok((model, sealed))
    }

    fn open_key(&self, scope: Scope, sealed: &Sealed) -> Result<ApiKey> {
        let master = self.master_key.as_ref().ok_or_else(|| {
            let detail = "the key to the workspace's model cannot be read without the master key: \
                          set MNEMIC_SECRET_KEY to the one that it was encrypted with";
            Error::conflict(detail)
        })?;
        master.open(scope.workspace(), sealed).map(ApiKey::new)
    }
}

/// For whom a key is that is set now.
fn audience(settings: &ModelSettings) -> Option<String> {
    let provider = settings.provider?.provider()?;
    let base_url = settings.base_url.as_deref().unwrap_or(provider.base_url());
    Some(format!("{} {}", provider.as_str(), base_url.trim_end_matches('/')))
}

fn choose(
    settings: &ModelSettings,
    sealed: Option<&Sealed>,
    server: &ServerModels,
    open: impl Fn(&Sealed) -> Result<ApiKey>,
) -> Result<Option<Chosen>> {
    let Some(choice) = settings.provider else {
        let endpoint = server.default.and_then(|provider| server.of(provider));
        return Ok(endpoint.map(|endpoint| of_server(settings, endpoint, server)));
    };
    let Some(provider) = choice.provider() else { return Ok(None) };
    let key = match sealed {
        Some(sealed) if Some(&sealed.audience) != audience(settings).as_ref() => {
            let detail = "the key to the workspace's model was given for another address than the \
                          settings name now; set it again";
            return Err(Error::conflict(detail));
        }
        Some(sealed) => Some(open(sealed)?),
        None => None,
    };
    if let (None, None, Some(endpoint)) = (&key, &settings.base_url, server.of(provider)) {
        return Ok(Some(of_server(settings, endpoint, server)));
    }
    let base_url = settings.base_url.clone().unwrap_or_else(|| provider.base_url().to_owned());
    let endpoint = Endpoint {
        provider,
        base_url,
        name: settings.name.clone(),
        key,
        timeout: timeout(settings, server.timeout),
        allow_private: server.allow_private,
    };
    Ok(Some(Chosen { endpoint, source: Source::Workspace, quota: quota(settings, server) }))
}

fn of_server(settings: &ModelSettings, endpoint: &Endpoint, server: &ServerModels) -> Chosen {
    let endpoint = Endpoint {
        name: settings.name.clone().or_else(|| endpoint.name.clone()),
        timeout: timeout(settings, endpoint.timeout),
        ..endpoint.clone()
    };
    Chosen { endpoint, source: Source::Server, quota: quota(settings, server) }
}

fn timeout(settings: &ModelSettings, otherwise: Duration) -> Duration {
    settings.timeout_seconds.map_or(otherwise, |seconds| Duration::from_secs(seconds.into()))
}

fn quota(settings: &ModelSettings, server: &ServerModels) -> Quota {
    let Quota { requests_per_minute, tokens_per_minute } = server.quota;
    Quota {
        requests_per_minute: settings.requests_per_minute.or(requests_per_minute),
        tokens_per_minute: settings.tokens_per_minute.or(tokens_per_minute),
    }
}

fn check_key(key: &str) -> Result<()> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(Error::invalid("key", format!("must have 1 to {KEY_BYTES_MAX} bytes")));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::invalid("key", "has characters that no key has"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
