//! Brings one message to the owner and its answer back, over as many owners as it takes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, redirect};
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::events::Events;
use super::message::{INTERNAL_ERROR, Message, failed};
use super::{Connect, Endpoint};

/// How often a server that says it is busy is asked again.
const BUSY_TRIES_MAX: u32 = 5;
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest silence; the server itself gives up on a request long before.
const SILENCE_MAX: Duration = Duration::from_mins(3);

pub(super) struct Courier<C> {
    connect: Arc<C>,
    http: Client,
    /// How long a call is tried again after its first failure.
    patience: Duration,
    /// The version that `initialize` agreed on.
    agreed: Mutex<Option<String>>,
    lines: mpsc::Sender<Vec<u8>>,
    /// This process, as the session that its calls are part of.
    session: String,
}

/// Why an attempt did not bring an answer.
enum Setback {
    /// No owner could be found, although that took all the time there is.
    Nobody(anyhow::Error),
    /// The owner is not there, or died on the way.
    Gone(anyhow::Error),
    /// The owner is there but cannot take it now.
    Busy(String),
    /// Nothing would change by trying again.
    Final(String),
}

impl<C: Connect> Courier<C> {
    pub(super) fn new(
        connect: C,
        lines: mpsc::Sender<Vec<u8>>,
        patience: Duration,
    ) -> Result<Self> {
        // The owner is on this machine or where the user said, never where a proxy or an
        // answer would lead.
        let http = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(SILENCE_MAX)
            .build()
            .context("the HTTP client could not be made")?;
        let session = Uuid::new_v4().to_string();
        Ok(Self {
            connect: Arc::new(connect),
            http,
            patience,
            agreed: Mutex::default(),
            lines,
            session,
        })
    }

    /// Every request is answered, with an error if nothing else.
    pub(super) async fn deliver(&self, message: &Message) {
        let key = Uuid::new_v4().to_string();
        let mut trouble: Option<Instant> = None;
        let mut busy_tries = 0;
        let mut pause = PAUSE_FIRST;
        let why = loop {
            match self.attempt(message, &key).await {
                Ok(()) => return,
                Err(Setback::Final(why)) => break why,
                Err(Setback::Nobody(why)) => {
                    break format!("the memory server cannot be reached: {why:#}");
                }
                Err(Setback::Busy(why)) => {
                    busy_tries += 1;
                    if busy_tries >= BUSY_TRIES_MAX {
                        break why;
                    }
                }
                Err(Setback::Gone(why)) => {
                    tracing::debug!(method = message.method, error = ?why, "the owner is gone");
                    if trouble.get_or_insert_with(Instant::now).elapsed() > self.patience {
                        break format!("the memory server cannot be reached: {why:#}");
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        };
        if message.id.is_some() {
            self.write(failed(message.id.as_ref(), INTERNAL_ERROR, &why)).await;
        } else {
            tracing::warn!(method = message.method, why, "a notification was lost");
        }
    }

    async fn attempt(&self, message: &Message, key: &str) -> Result<(), Setback> {
        let endpoint = self.endpoint().await.map_err(Setback::Nobody)?;
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let response = self
            .http
            .post(address(&endpoint.url))
            .bearer_auth(&endpoint.token)
            .headers(message.headers(agreed.as_deref()))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("idempotency-key", key)
            .header(mnemic_server::capture::SESSION, &self.session)
            .body(message.body.clone())
            .send()
            .await
            .map_err(lost)?;
        match response.status() {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Err(Setback::Busy(refusal(response).await)),
            _ if message.id.is_none() => Ok(()),
            _ if is(response.headers(), "text/event-stream") => {
                self.take_events(message, response).await
            }
            status => {
                let body = response.bytes().await.map_err(lost)?;
                self.take_answer(message, status, &body).await
            }
        }
    }

    async fn endpoint(&self) -> Result<Endpoint> {
        // Becoming the owner must not stop half-way because one request was cancelled.
        let connect = Arc::clone(&self.connect);
        tokio::spawn(async move { connect.endpoint().await }).await?
    }

    async fn take_answer(
        &self,
        message: &Message,
        status: StatusCode,
        body: &[u8],
    ) -> Result<(), Setback> {
        let Ok(mut answer) = serde_json::from_slice::<Value>(body) else {
            return Err(Setback::Final(format!("the memory server answered {status}")));
        };
        if answer.get("result").is_none() && answer.get("error").is_none_or(|e| !e.is_object()) {
            return Err(Setback::Final(said(status, &answer)));
        }
        self.note_version(message, &answer);
        // What was refused before its id was read carries none.
        let id = message.id.clone().unwrap_or_default();
        if answer.get("id") == Some(&id) {
            self.write(body.to_vec()).await;
        } else {
            answer["id"] = id;
            self.write(answer.to_string().into_bytes()).await;
        }
        Ok(())
    }

    /// Notifications on the way are passed on; the answer ends it.
    async fn take_events(&self, message: &Message, mut response: Response) -> Result<(), Setback> {
        let mut events = Events::default();
        while let Some(bytes) = response.chunk().await.map_err(lost)? {
            for data in events.push(&bytes) {
                let Ok(value) = serde_json::from_slice::<Value>(&data) else {
                    return Err(Setback::Final("the memory server sent no JSON".to_owned()));
                };
                let is_answer =
                    value.get("method").is_none() && value.get("id") == message.id.as_ref();
                if is_answer {
                    self.note_version(message, &value);
                }
                self.write(data).await;
                if is_answer {
                    return Ok(());
                }
            }
        }
        let why = anyhow::anyhow!("the answer ended before its time");
        Err(Setback::Gone(why))
    }

    fn note_version(&self, message: &Message, answer: &Value) {
        if message.method == "initialize"
            && let Some(version) = answer["result"]["protocolVersion"].as_str()
        {
            let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
            *agreed = Some(version.to_owned());
        }
    }

    async fn write(&self, line: Vec<u8>) {
        if self.lines.send(line).await.is_err() {
            tracing::debug!("an answer came after the output was closed");
        }
    }
}

fn lost(error: reqwest::Error) -> Setback {
    Setback::Gone(error.into())
}

/// The surface's address, whether the server's was given or already that of the surface.
fn address(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.ends_with("/mcp") || url.contains("/mcp?") {
        url.to_owned()
    } else {
        format!("{url}/mcp")
    }
}

fn is(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.starts_with(media_type))
}

async fn refusal(response: Response) -> String {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    said(status, &body)
}

/// The reason in a body, be it a problem document or a JSON-RPC error.
fn said(status: StatusCode, body: &Value) -> String {
    let detail = body["detail"].as_str().or_else(|| body["error"]["message"].as_str());
    match detail {
        Some(detail) => format!("the memory server answered {status}: {detail}"),
        None => format!("the memory server answered {status}"),
    }
}
