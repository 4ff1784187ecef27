//! When to ask again: few times, after growing pauses with jitter, so that many callers who
//! failed together do not come back together.

use std::time::Duration;

use mnemic_core::embed::Purpose;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Somebody waits for a query, nobody for a document.
const QUERY_RETRIES_MAX: u32 = 1;
const DOCUMENT_RETRIES_MAX: u32 = 4;
const COMPLETION_RETRIES_MAX: u32 = 2;
const PAUSE_FIRST: Duration = Duration::from_millis(250);
/// The longest pause that an endpoint may ask for; beyond it the caller is told at once.
const QUERY_PAUSE_MAX: Duration = Duration::from_secs(2);
const DOCUMENT_PAUSE_MAX: Duration = Duration::from_secs(30);
const COMPLETION_PAUSE_MAX: Duration = Duration::from_secs(20);

pub(crate) struct Retries {
    left: u32,
    pause: Duration,
    pause_max: Duration,
}

impl Retries {
    /// For embedding.
    pub(crate) fn of(purpose: Purpose) -> Self {
        let (left, pause_max) = match purpose {
            Purpose::Query => (QUERY_RETRIES_MAX, QUERY_PAUSE_MAX),
            Purpose::Document => (DOCUMENT_RETRIES_MAX, DOCUMENT_PAUSE_MAX),
        };
        Self { left, pause: PAUSE_FIRST, pause_max }
    }

    /// For answers of language models: few, since each may take long.
    pub(crate) fn of_completion() -> Self {
        Self { left: COMPLETION_RETRIES_MAX, pause: PAUSE_FIRST, pause_max: COMPLETION_PAUSE_MAX }
    }

    /// The pause before the next attempt, or none if there should be none.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let asked = asked.unwrap_or_default();
        if self.left == 0 || asked > self.pause_max {
            return None;
        }
        self.left -= 1;
        let pause = self.pause.mul_f64(0.5 + jitter()).max(asked);
        self.pause = (self.pause * 2).min(self.pause_max);
        Some(pause)
    }
}

pub(crate) fn is_temporary(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// The header in its form of seconds; the other form, a date, is left to our own pauses.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// From 0 to 1; without a source of randomness, the middle.
fn jitter() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let mut retries = Retries::of(Purpose::Document);
        let pauses: Vec<_> = std::iter::from_fn(|| retries.next(None)).collect();
        assert_eq!(pauses.len(), 4);
        assert!(pauses[0] >= PAUSE_FIRST / 2 && pauses[0] <= PAUSE_FIRST * 3 / 2);
        assert!(pauses[3] >= PAUSE_FIRST * 4);
    }

    #[test]
    fn an_asked_pause_is_kept_within_its_bound() {
        let mut retries = Retries::of(Purpose::Query);
        assert!(retries.next(Some(Duration::from_hours(1))).is_none());
        assert_eq!(retries.next(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
        assert!(retries.next(None).is_none());
    }

    #[test]
    fn the_header_counts_in_seconds() {
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert(RETRY_AFTER, "7".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(7)));
        headers.insert(RETRY_AFTER, "soon".parse().unwrap());
        assert_eq!(retry_after(&headers), None);
    }
}
