//! Limits on what a client sends after its headers: how much, and how slowly.
//!
//! A request that is refused before its body was read is read to its end, within bounds, and
//! thrown away: a client that is still sending would otherwise see a broken connection instead
//! of the answer that tells it what is wrong.

use std::fmt;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::EXPECT;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use mnemic_core::Code;
use tokio::time::{Instant, Sleep};

use super::problem::{Problem, Result};

/// How much more than the limit is read from a client that must be refused.
const DRAIN_FACTOR: usize = 8;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub struct BodyOptions {
    pub bytes_max: usize,
    /// For the whole body, from the first read on.
    pub read_timeout: Duration,
}

impl Default for BodyOptions {
    fn default() -> Self {
        Self { bytes_max: 2 * 1024 * 1024, read_timeout: Duration::from_secs(30) }
    }
}

/// Why a body could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    TooLarge { bytes_max: usize },
    TooSlow { seconds_max: u64 },
}

impl fmt::Display for BodyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes_max } => {
                write!(f, "the body is larger than the limit of {bytes_max} bytes")
            }
            Self::TooSlow { seconds_max } => {
                write!(f, "the body did not arrive within {seconds_max} seconds")
            }
        }
    }
}

impl std::error::Error for BodyFault {}

/// Puts the limits on a request's body.
pub async fn guard(State(options): State<BodyOptions>, request: Request, next: Next) -> Response {
    // Whoever asked first whether to send at all has not sent anything that needs draining.
    let drains = !request.headers().contains_key(EXPECT);
    let (sender, unread) = channel();
    let request = request.map(|body| Body::new(Guarded::new(body, options, sender)));
    let response = next.run(request).await;
    if let Some(body) = unread.try_recv().ok().filter(|_| drains) {
        drain(body, options).await;
    }
    response
}

/// Reads a body whole.
pub async fn read(body: Body) -> Result<Bytes> {
    match body.collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) => {
            let code = match fault(&error) {
                Some(BodyFault::TooLarge { .. }) => Code::TooLarge,
                Some(BodyFault::TooSlow { .. }) => Code::Timeout,
                None => Code::InvalidBody,
            };
            let detail = match fault(&error) {
                Some(fault) => fault.to_string(),
                None => "the body broke off".to_owned(),
            };
            Err(Problem::new(code, detail))
        }
    }
}

fn fault(error: &axum::Error) -> Option<BodyFault> {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |error| error.source())
        .find_map(|error| error.downcast_ref().copied())
}

async fn drain(mut body: Body, options: BodyOptions) {
    let drained = async {
        let mut bytes_left = options.bytes_max.saturating_mul(DRAIN_FACTOR);
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match bytes_left.checked_sub(length) {
                Some(left) => bytes_left = left,
                None => break,
            }
        }
    };
    let _ = tokio::time::timeout(DRAIN_TIME_MAX.min(options.read_timeout), drained).await;
}

/// A body with limits, which gives itself back if it is dropped unread.
struct Guarded {
    inner: Option<Body>,
    bytes_left: usize,
    options: BodyOptions,
    deadline: Option<Pin<Box<Sleep>>>,
    unread: Sender<Body>,
}

impl Guarded {
    fn new(inner: Body, options: BodyOptions, unread: Sender<Body>) -> Self {
        Self { inner: Some(inner), bytes_left: options.bytes_max, options, deadline: None, unread }
    }

    fn too_large(&self) -> axum::Error {
        axum::Error::new(BodyFault::TooLarge { bytes_max: self.options.bytes_max })
    }

    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        let timeout = self.options.read_timeout;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + timeout)));
        deadline.as_mut().poll(cx).is_ready()
    }
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        // A length that was announced is refused before the first byte is taken.
        if inner.size_hint().lower() > this.bytes_left as u64 {
            return Poll::Ready(Some(Err(this.too_large())));
        }
        match Pin::new(inner).poll_frame(cx) {
            Poll::Pending if this.is_late(cx) => {
                // Given up for good: this client is not waited for again.
                this.inner = None;
                let seconds_max = this.options.read_timeout.as_secs();
                Poll::Ready(Some(Err(axum::Error::new(BodyFault::TooSlow { seconds_max }))))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                match this.bytes_left.checked_sub(length) {
                    Some(left) => {
                        this.bytes_left = left;
                        Poll::Ready(Some(Ok(frame)))
                    }
                    None => Poll::Ready(Some(Err(this.too_large()))),
                }
            }
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take().filter(|inner| !inner.is_end_stream()) {
            // Nobody waits for it any more once the answer is on its way.
            let _ = self.unread.send(inner);
        }
    }
}
