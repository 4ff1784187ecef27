//! Requests of the commands. A request that meets a dying owner is sent again to the next one
//! with the same key, so that it is carried out once.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::attach::Attachment;

const PAUSE: Duration = Duration::from_millis(25);
const TIMEOUT: Duration = Duration::from_mins(10);

/// A refusal by the server, in its own words.
#[derive(Debug)]
pub struct Refused {
    /// The stable word for what was wrong.
    pub code: Option<String>,
    pub detail: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Refused {}

#[derive(Clone)]
pub struct Client {
    attachment: Attachment,
}

impl Client {
    pub fn new(attachment: Attachment) -> Self {
        Self { attachment }
    }

    pub fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.call(Method::GET, path, None).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Sends a request that is carried out once, however often it is sent with this key.
    pub async fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Result<T> {
        self.call_with(key, Method::POST, path, Some(body)).await
    }

    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub async fn patch<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.call(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Result<Value> {
        self.call(Method::DELETE, path, None).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T> {
        self.call_with(&Uuid::new_v4().to_string(), method, path, body).await
    }

    async fn call_with<T: DeserializeOwned>(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T> {
        let (started, patience) = (Instant::now(), self.attachment.patience());
        loop {
            let endpoint = self.attachment.endpoint().await?;
            let mut request = self
                .attachment
                .http()
                .request(method.clone(), format!("{}{path}", endpoint.url))
                .bearer_auth(&endpoint.token)
                .header("idempotency-key", key)
                .timeout(TIMEOUT);
            if let Some(body) = body {
                request = request.json(body);
            }
            match request.send().await {
                Ok(response) => match read(response).await {
                    Err(e) if is_broken(&e) && started.elapsed() < patience => {}
                    done => return done,
                },
                Err(e) if e.is_timeout() || started.elapsed() >= patience => {
                    return Err(e).with_context(|| format!("{} does not answer", endpoint.url));
                }
                Err(_) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Whether the answer broke off on its way.
fn is_broken(error: &anyhow::Error) -> bool {
    error.downcast_ref::<reqwest::Error>().is_some_and(|e| e.is_body() || e.is_request())
}

async fn read<T: DeserializeOwned>(response: reqwest::Response) -> Result<T> {
    let status = response.status();
    let bytes = response.bytes().await?;
    if !status.is_success() {
        bail!(refusal(status, &bytes));
    }
    let bytes: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
    serde_json::from_slice(bytes).context("the server's answer is not what was expected")
}

fn refusal(status: StatusCode, body: &[u8]) -> Refused {
    let problem: Option<Value> = serde_json::from_slice(body).ok();
    let field = |name: &str| problem.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let detail = field("detail").unwrap_or_else(|| format!("the server answered {status}"));
    Refused { code: field("code"), detail }
}
