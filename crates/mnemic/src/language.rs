//! The language models that this server offers, from its settings and the variables that other
//! programs use, too. A key in the environment alone makes nothing go out: what Mnemic asks by
//! itself, it asks only of a model that was named.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use mnemic_core::language::{ApiKey, Endpoint, Provider, Quota, ServerModels};
use serde::Deserialize;

use crate::config::{number, switch, variable};

const OLLAMA_PORT: u16 = 11_434;

/// `[model]` in the settings file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelFile {
    provider: Option<String>,
    name: Option<String>,
    base_url: Option<String>,
    timeout_seconds: Option<u64>,
    allow_private: Option<bool>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
}

/// What was found about one provider.
struct Found {
    provider: Provider,
    base_url: Option<String>,
    key: Option<ApiKey>,
}

impl Found {
    fn of(provider: Provider) -> Result<Self> {
        let (base_url, key) = match provider {
            Provider::Openai => (variable("OPENAI_BASE_URL"), variable("OPENAI_API_KEY")),
            Provider::Anthropic => (variable("ANTHROPIC_BASE_URL"), variable("ANTHROPIC_API_KEY")),
            Provider::Ollama => {
                let host = variable("OLLAMA_HOST");
                (host.as_deref().map(ollama_url).transpose()?, None)
            }
        };
        Ok(Self { provider, base_url, key: key.map(ApiKey::new) })
    }

    fn is_there(&self) -> bool {
        self.base_url.is_some() || self.key.is_some()
    }
}

pub fn models(file: ModelFile) -> Result<ServerModels> {
    let all = [Provider::Openai, Provider::Anthropic, Provider::Ollama];
    let mut found = all.map(Found::of).into_iter().collect::<Result<Vec<_>>>()?;
    let name = variable("MNEMIC_MODEL").or(file.name);
    let word = variable("MNEMIC_MODEL_PROVIDER").or(file.provider);
    let default = match word.as_deref() {
        Some("off") => None,
        Some(word) => Some(provider(word)?),
        None if name.is_some() => {
            let first = found.iter().find(|it| it.is_there()).map(|it| it.provider);
            Some(first.context(
                "MNEMIC_MODEL names a model, but nothing says where it is: set \
                 MNEMIC_MODEL_PROVIDER, or one of OPENAI_API_KEY, OPENAI_BASE_URL, \
                 ANTHROPIC_API_KEY, OLLAMA_HOST",
            )?)
        }
        None => None,
    };
    if let Some(url) = variable("MNEMIC_MODEL_BASE_URL").or(file.base_url) {
        let Some(chosen) = found.iter_mut().find(|it| Some(it.provider) == default) else {
            bail!("MNEMIC_MODEL_BASE_URL needs MNEMIC_MODEL_PROVIDER, which says who is there");
        };
        chosen.base_url = Some(url);
    }
    let seconds = number("MNEMIC_MODEL_TIMEOUT_SECONDS")?.or(file.timeout_seconds);
    let timeout = seconds.map_or(ServerModels::TIMEOUT_DEFAULT, Duration::from_secs);
    let is_offered = |it: &Found| {
        word.as_deref() != Some("off") && (it.is_there() || Some(it.provider) == default)
    };
    let endpoints = found.into_iter().filter(is_offered).map(|it| Endpoint {
        provider: it.provider,
        base_url: it.base_url.unwrap_or_else(|| it.provider.base_url().to_owned()),
        name: name.clone().filter(|_| Some(it.provider) == default),
        key: it.key,
        timeout,
        // Whoever runs the server says where its models are.
        allow_private: true,
    });
    let usual = Quota::default();
    Ok(ServerModels {
        default,
        endpoints: endpoints.collect(),
        allow_private: switch("MNEMIC_MODEL_ALLOW_PRIVATE")?
            .or(file.allow_private)
            .unwrap_or(false),
        quota: Quota {
            requests_per_minute: number("MNEMIC_MODEL_REQUESTS_PER_MINUTE")?
                .or(file.requests_per_minute)
                .or(usual.requests_per_minute),
            tokens_per_minute: number("MNEMIC_MODEL_TOKENS_PER_MINUTE")?
                .or(file.tokens_per_minute)
                .or(usual.tokens_per_minute),
        },
        timeout,
    })
}

fn provider(word: &str) -> Result<Provider> {
    Ok(match word {
        "openai" => Provider::Openai,
        "anthropic" => Provider::Anthropic,
        "ollama" => Provider::Ollama,
        other => {
            bail!("MNEMIC_MODEL_PROVIDER: `{other}` is not one of openai, anthropic, ollama, off")
        }
    })
}

/// An address from what Ollama takes: a host, a host and a port, or a whole address. Where it
/// listens on all addresses, it is reached on this machine.
fn ollama_url(host: &str) -> Result<String> {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    if !matches!(scheme, "http" | "https") || rest.contains('@') {
        bail!("OLLAMA_HOST: must be a host with or without a port, or an http address");
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (name, Some(port)),
        _ => (authority, None),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    let port = match (port, host.contains("://")) {
        (Some(port), _) => format!(":{port}"),
        (None, true) => String::new(),
        (None, false) => format!(":{OLLAMA_PORT}"),
    };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    Ok(format!("{scheme}://{name}{port}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_is_found_where_its_own_variable_says() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434"),
            ("box", "http://box:11434"),
            ("box:1234", "http://box:1234"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:99", "http://127.0.0.1:99"),
            ("http://box:1234/", "http://box:1234"),
            ("https://box/ollama/", "https://box/ollama"),
            ("[::1]:1234", "http://[::1]:1234"),
        ] {
            assert_eq!(ollama_url(host).unwrap(), url, "{host}");
        }
        ollama_url("ftp://box").unwrap_err();
        assert!(!ollama_url("http://me:word@box").unwrap_err().to_string().contains("word"));
    }
}
