//! Moves an answer from the upstream to the client, chunk by chunk, and lets a listener hear it.
//! When either end goes, so does the other.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body as HttpBody, Frame};
use mnemic_core::language::Chunks;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::bytes;
use super::listen::{Heard, Listener};

/// How many chunks wait for a slow client before the upstream is slowed down.
const WAITING_MAX: usize = 16;

type Chunk = Result<Bytes, BrokeOff>;

/// Tells the connection to end without an end, so that the client knows that something is missing.
#[derive(Debug, thiserror::Error)]
#[error("the upstream's answer broke off")]
pub(super) struct BrokeOff;

pub(super) fn channel() -> (Sender<Chunk>, Passage) {
    let (client, chunks) = mpsc::channel(WAITING_MAX);
    (client, Passage(chunks))
}

pub(super) struct Pump {
    pub(super) chunks: Box<dyn Chunks>,
    pub(super) client: Sender<Chunk>,
    pub(super) idle_timeout: Duration,
}

impl Pump {
    /// Runs to the end of the answer, or until an end goes. What was said by then is returned.
    pub(super) async fn run(mut self, mut listener: Option<Listener>) -> Option<Heard> {
        let is_whole = loop {
            let chunk = tokio::select! {
                biased;
                () = self.client.closed() => break false,
                chunk = tokio::time::timeout(self.idle_timeout, self.chunks.next()) => chunk,
            };
            match chunk {
                Ok(Ok(Some(chunk))) => {
                    if let Some(listener) = &mut listener {
                        listener.hear(&chunk);
                    }
                    let sent = self.client.send(Ok(bytes(chunk)));
                    match tokio::time::timeout(self.idle_timeout, sent).await {
                        Ok(Ok(())) => {}
                        // The client has gone, or has stopped to read.
                        Ok(Err(_)) | Err(_) => break false,
                    }
                }
                Ok(Ok(None)) => break true,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "an answer broke off");
                    break break_off(&self.client, self.idle_timeout).await;
                }
                Err(_) => {
                    tracing::warn!("an answer fell silent and is broken off");
                    break break_off(&self.client, self.idle_timeout).await;
                }
            }
        };
        listener.map(|listener| listener.finish(is_whole))
    }
}

async fn break_off(client: &Sender<Chunk>, patience: Duration) -> bool {
    let _ = tokio::time::timeout(patience, client.send(Err(BrokeOff))).await;
    false
}

/// The client's end, as the body of a response.
pub(super) struct Passage(Receiver<Chunk>);

impl HttpBody for Passage {
    type Data = Bytes;
    type Error = BrokeOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokeOff>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
