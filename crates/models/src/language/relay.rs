//! Chats that are passed on: the body goes out as it came, with our key in the place of the
//! caller's, and what comes back is handed over as it arrives.

use async_trait::async_trait;
use mnemic_core::error::{Code, Error, Result};
use mnemic_core::language::{Chunks, Endpoint, Provider, Relay, Relayed, Route};
use reqwest::Response;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};

use crate::endpoint::{Failed, bearer, below, unavailable};
use crate::http::{Client, describe};

const WHO: &str = "the model's endpoint";

pub(super) async fn relay(client: &Client, endpoint: &Endpoint, request: Relay) -> Result<Relayed> {
    let path = match request.route {
        Route::ChatCompletions => "chat/completions",
        Route::Models => "models",
    };
    let path = match endpoint.provider {
        Provider::Openai => path.to_owned(),
        Provider::Ollama => format!("v1/{path}"),
        Provider::Anthropic => {
            let detail = "the workspace's model is Anthropic's, which does not take chats in \
                          OpenAI's form: set model.provider to openai or ollama to pass chats on";
            return Err(Error::new(Code::NoModel, detail));
        }
    };
    let url = below(&endpoint.base_url, &path)?;
    let mut outgoing = match request.body {
        Some(body) => client.post(&url)?.header(CONTENT_TYPE, "application/json").body(body),
        None => client.get(&url)?,
    };
    // Compressed answers could not be read on their way.
    outgoing = outgoing.header(ACCEPT, "application/json, text/event-stream");
    if let Some(key) = &endpoint.key {
        outgoing = outgoing.header(AUTHORIZATION, bearer(key.reveal())?);
    }
    let response = outgoing.send().await.map_err(|e| Failed::to_send(WHO, &e).into_error())?;
    let status = response.status();
    if status.is_redirection() {
        return Err(unavailable(format!("{WHO} redirects, which is not followed")));
    }
    let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        (name.as_str().to_owned(), value.as_bytes().to_vec())
    };
    let headers = response.headers().iter().map(header).collect();
    Ok(Relayed { status: status.as_u16(), headers, chunks: Box::new(Incoming(response)) })
}

struct Incoming(Response);

#[async_trait]
impl Chunks for Incoming {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let chunk = self.0.chunk().await;
        let chunk = chunk.map_err(|e| unavailable(format!("{WHO}: {}", describe(&e))))?;
        Ok(chunk.map(Vec::from))
    }
}
