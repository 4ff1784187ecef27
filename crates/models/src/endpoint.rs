//! What all endpoints share, whatever is asked of them: how their address is made, how a key is
//! carried, and what is said when they refuse.

use std::time::Duration;

use mnemic_core::error::{Code, Error, Result};
use reqwest::header::HeaderValue;
use reqwest::{Response, StatusCode, Url};
use serde::Deserialize;

use crate::http::{REFUSED, describe, read_limited};
use crate::retry::{is_temporary, retry_after};

const REFUSAL_BYTES_MAX: usize = 64 * 1024;
const REASON_CHARS_MAX: usize = 200;

/// A request that came to nothing.
pub(crate) enum Failed {
    Finally(Error),
    /// Worth another try, perhaps after a time that the endpoint asked for.
    ForNow(Error, Option<Duration>),
    /// The endpoint understood and refused: the status and what it said.
    Refused(StatusCode, Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Finally(error)
    }
}

impl Failed {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Finally(error) | Self::ForNow(error, _) | Self::Refused(_, error) => error,
        }
    }

    /// Of a request that was not answered.
    pub(crate) fn to_send(who: &str, e: &reqwest::Error) -> Self {
        let error = unavailable(format!("{who}: {}", describe(e)));
        if is_broken(e) && !is_refusal(e) {
            Self::ForNow(error, None)
        } else {
            Self::Finally(error)
        }
    }

    /// Of an answer that is no success.
    pub(crate) async fn of(who: &str, response: Response, key: Option<&str>) -> Self {
        let (status, asked) = (response.status(), retry_after(response.headers()));
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                unavailable(format!("{who} does not accept the key"))
            }
            _ if status.is_redirection() => {
                unavailable(format!("{who} redirects, which is not followed"))
            }
            _ => {
                let body = read_limited(response, REFUSAL_BYTES_MAX).await.unwrap_or_default();
                let reason = spoken(&body, key);
                let code = status.as_u16();
                unavailable(format!("{who} answered with status {code}{reason}"))
            }
        };
        if is_temporary(status) { Self::ForNow(error, asked) } else { Self::Refused(status, error) }
    }
}

/// An address below the endpoint's.
pub(crate) fn below(base: &str, path: &str) -> Result<Url> {
    let url: Url = format!("{}/{path}", base.trim_end_matches('/'))
        .parse()
        .map_err(|e| Error::invalid("base_url", "it is not an address").caused_by(e))?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !is_plain {
        return Err(Error::invalid("base_url", "it must not carry credentials or a query"));
    }
    Ok(url)
}

pub(crate) fn bearer(key: &str) -> Result<HeaderValue> {
    secret(&format!("Bearer {key}"))
}

pub(crate) fn secret(value: &str) -> Result<HeaderValue> {
    // The cause would be harmless, but nothing that has seen the key goes into an error.
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| Error::invalid("key", "it has characters that no key has"))?;
    value.set_sensitive(true);
    Ok(value)
}

pub(crate) fn unavailable(detail: String) -> Error {
    Error::new(Code::ModelUnavailable, detail)
}

/// What the endpoint says is wrong, short, on one line and without the key.
fn spoken(body: &[u8], key: Option<&str>) -> String {
    let Some(mut reason) = reason(body) else { return String::new() };
    if let Some(key) = key.filter(|key| !key.is_empty()) {
        reason = reason.replace(key, "…");
    }
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let short: String = reason.chars().map(clean).take(REASON_CHARS_MAX).collect();
    format!(": {short}")
}

#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

/// OpenAI and Anthropic wrap the message, others give it as it is.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reason {
    Wrapped { message: String },
    Plain(String),
}

fn reason(body: &[u8]) -> Option<String> {
    match serde_json::from_slice::<Refusal>(body).ok()?.error {
        Reason::Wrapped { message } | Reason::Plain(message) => Some(message),
    }
}

/// Whether the connection failed or broke before there was an answer. A time that ran out is not
/// begun again.
fn is_broken(error: &reqwest::Error) -> bool {
    !error.is_timeout() && (error.is_connect() || error.is_request())
}

/// A refused address stays refused.
fn is_refusal(error: &reqwest::Error) -> bool {
    describe(error).contains(REFUSED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_reason_in_either_form() {
        assert_eq!(reason(br#"{"error":{"message":"no such model"}}"#).unwrap(), "no such model");
        assert_eq!(reason(br#"{"error":"no such model"}"#).unwrap(), "no such model");
        assert!(reason(b"<html>").is_none());
    }

    #[test]
    fn addresses_are_plain() {
        assert_eq!(below("https://a/v1/", "x").unwrap().as_str(), "https://a/v1/x");
        for wrong in ["nowhere", "https://user:word@a", "https://a?k=1"] {
            assert!(!below(wrong, "x").unwrap_err().to_string().contains("word"));
        }
    }
}
