//! Limits on how much goes on at once and how long it may take.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mnemic_core::Code;
use tokio::sync::Semaphore;

use super::problem::Problem;

/// The places for requests that are being worked on.
#[derive(Debug, Clone)]
pub struct Places(Arc<Semaphore>);

impl Places {
    pub fn new(requests_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(requests_max.min(Semaphore::MAX_PERMITS))))
    }
}

/// Refuses at once what cannot be worked on now: a queue would only make everybody late.
pub async fn shed(State(places): State<Places>, request: Request, next: Next) -> Response {
    let Ok(_place) = places.0.try_acquire() else {
        let detail = "too many requests are being worked on; try again in a moment";
        return Problem::new(Code::Overloaded, detail).into_response();
    };
    next.run(request).await
}

/// Gives up on what takes too long. What was committed by then stays committed; an
/// `Idempotency-Key` makes trying again safe.
pub async fn hurry(State(time_max): State<Duration>, request: Request, next: Next) -> Response {
    let answer = tokio::time::timeout(time_max, next.run(request)).await;
    answer.unwrap_or_else(|_| {
        let detail = format!("no answer within {} seconds", time_max.as_secs_f64());
        Problem::new(Code::Timeout, detail).into_response()
    })
}
