//! One question to an endpoint: within a time, tried again where that may help, and read only up
//! to a size.

use std::fmt;
use std::time::Duration;

use mnemic_core::error::{Code, Error, Result};
use mnemic_core::language::Endpoint;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::unusable;
use crate::endpoint::{Failed, below, unavailable};
use crate::http::{Client, read_limited};
use crate::retry::Retries;

/// Far more than the longest answer that is asked for.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const WHO: &str = "the model's endpoint";

pub(super) struct Call {
    client: Client,
    url: Url,
    headers: Vec<(HeaderName, HeaderValue)>,
    key: Option<String>,
    timeout: Duration,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl Call {
    pub(super) fn new(client: Client, endpoint: &Endpoint, path: &str) -> Result<Self> {
        let url = below(&endpoint.base_url, path)?;
        client.check(&url)?;
        let key = endpoint.key.as_ref().map(|key| key.reveal().to_owned());
        Ok(Self { client, url, headers: vec![], key, timeout: endpoint.timeout })
    }

    /// Adds a header to every request.
    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Asks, and reads the answer. A refusal that the caller may be able to do something about
    /// comes back as `Failed::Refused`.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        body: &impl Serialize,
    ) -> Result<T, Failed> {
        let body = serde_json::to_vec(body)
            .map_err(|e| Error::internal("the prompt cannot be written").caused_by(e))?;
        let asked = tokio::time::timeout(self.timeout, self.persist(&body)).await;
        let answer = asked.unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs_f64();
            Err(unavailable(format!("{WHO} did not answer within {seconds} seconds")).into())
        })?;
        if answer.trim_ascii().is_empty() {
            return Err(unusable("it is empty").into());
        }
        Ok(serde_json::from_slice(&answer)
            .map_err(|e| unusable("it has not the form of an answer").caused_by(e))?)
    }

    async fn persist(&self, body: &[u8]) -> Result<Vec<u8>, Failed> {
        let mut retries = Retries::of_completion();
        loop {
            let (error, asked) = match self.attempt(body).await {
                Err(Failed::ForNow(error, asked)) => (error, asked),
                done => return done,
            };
            let Some(pause) = retries.next(asked) else { return Err(error.into()) };
            tracing::debug!(?pause, %error, "the model's endpoint is asked again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: &[u8]) -> Result<Vec<u8>, Failed> {
        let mut request = self
            .client
            .post(&self.url)?
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .timeout(self.timeout)
            .body(body.to_vec());
        for (name, value) in &self.headers {
            request = request.header(name, value.clone());
        }
        let response = request.send().await.map_err(|e| Failed::to_send(WHO, &e))?;
        if !response.status().is_success() {
            return Err(Failed::of(WHO, response, self.key.as_deref()).await);
        }
        let read = read_limited(response, ANSWER_BYTES_MAX).await;
        read.map_err(|e| Failed::Finally(Error::new(Code::ModelUnavailable, format!("{WHO}: {e}"))))
    }
}
