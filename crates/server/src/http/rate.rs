//! How often somebody may ask: by token, and by address for those who have none.
//!
//! Reading and writing have quotas of their own, so that an import does not stop recall.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::{Method, Uri};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use mnemic_core::Code;
use mnemic_core::ids::TokenId;

use super::problem::{Problem, Result};

/// How often keys that have not been seen for a while are dropped.
const CLEANING_SECONDS: u64 = 60;

/// Requests per second, each with a burst of twice as many.
#[derive(Debug, Clone, Copy)]
pub struct RateOptions {
    pub reads_per_second: NonZeroU32,
    pub writes_per_second: NonZeroU32,
    /// Failed attempts to authenticate, by address.
    pub strangers_per_second: NonZeroU32,
}

impl Default for RateOptions {
    fn default() -> Self {
        let thousand = NonZeroU32::MIN.saturating_add(999);
        Self {
            reads_per_second: thousand,
            writes_per_second: thousand,
            strangers_per_second: NonZeroU32::MIN.saturating_add(199),
        }
    }
}

#[derive(Debug)]
pub struct RateLimits {
    reads: DefaultKeyedRateLimiter<TokenId>,
    writes: DefaultKeyedRateLimiter<TokenId>,
    strangers: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
    started: Instant,
    cleaned_at_second: AtomicU64,
}

impl RateLimits {
    pub fn new(options: RateOptions) -> Self {
        Self {
            reads: RateLimiter::keyed(quota(options.reads_per_second)),
            writes: RateLimiter::keyed(quota(options.writes_per_second)),
            strangers: RateLimiter::keyed(quota(options.strangers_per_second)),
            clock: DefaultClock::default(),
            started: Instant::now(),
            cleaned_at_second: AtomicU64::new(0),
        }
    }

    pub fn check_token(&self, token: TokenId, method: &Method, uri: &Uri) -> Result<()> {
        self.clean();
        if is_read(method, uri) {
            self.check(&self.reads, &token, "reads")
        } else {
            self.check(&self.writes, &token, "writes")
        }
    }

    /// Counts a request without a valid token.
    pub fn check_stranger(&self, address: Option<IpAddr>) -> Result<()> {
        self.clean();
        let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        self.check(&self.strangers, &network(address), "attempts without a valid token")
    }

    fn check<K: Clone + Eq + std::hash::Hash>(
        &self,
        limiter: &DefaultKeyedRateLimiter<K>,
        key: &K,
        what: &str,
    ) -> Result<()> {
        limiter.check_key(key).map_err(|not_until| {
            let detail = format!("too many {what} in a short time; wait as Retry-After says");
            let wait: Duration = not_until.wait_time_from(self.clock.now());
            Problem::new(Code::RateLimited, detail).retry_after(wait)
        })
    }

    /// Drops the keys that are back at their full quota, so that the tables cannot grow with
    /// everybody who ever asked.
    fn clean(&self) {
        let now = self.started.elapsed().as_secs();
        let last = self.cleaned_at_second.load(Ordering::Relaxed);
        let due = now >= last + CLEANING_SECONDS;
        let mine = || {
            self.cleaned_at_second
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        if due && mine() {
            self.reads.retain_recent();
            self.writes.retain_recent();
            self.strangers.retain_recent();
        }
    }
}

fn quota(per_second: NonZeroU32) -> Quota {
    Quota::per_second(per_second).allow_burst(per_second.saturating_add(per_second.get()))
}

/// How the paths end to which a question is posted: it may be too long for an address.
const QUESTIONS: [&str; 8] = [
    "/ask",
    "/compare",
    "/context",
    "/context-inject",
    "/preview",
    "/recall",
    "/search",
    "/traverse",
];

fn is_read(method: &Method, uri: &Uri) -> bool {
    let asks = || QUESTIONS.iter().any(|end| uri.path().ends_with(end));
    method == Method::GET || method == Method::HEAD || method == Method::POST && asks()
}

/// One household has a whole /64 of IPv6 addresses: they count as one.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn limits() -> RateLimits {
        let one = NonZeroU32::MIN;
        RateLimits::new(RateOptions {
            reads_per_second: one,
            writes_per_second: one,
            strangers_per_second: one,
        })
    }

    #[test]
    fn quotas_are_apart_by_token_and_by_what_is_done() {
        let limits = limits();
        let (a, b) = (TokenId(Uuid::from_u128(1)), TokenId(Uuid::from_u128(2)));
        let uri = Uri::from_static("/v1/workspaces/current/memories");
        for _ in 0..2 {
            limits.check_token(a, &Method::POST, &uri).unwrap();
        }
        let refused = limits.check_token(a, &Method::POST, &uri).unwrap_err();
        assert_eq!(refused.code(), Code::RateLimited);
        limits.check_token(b, &Method::POST, &uri).unwrap();
        let recall = Uri::from_static("/v1/workspaces/current/recall");
        limits.check_token(a, &Method::POST, &recall).unwrap();
        limits.check_token(a, &Method::GET, &uri).unwrap();
    }

    #[test]
    fn questions_are_reads_though_they_are_posted() {
        let is_read = |method: &Method, path: &str| {
            let uri = format!("/v1/workspaces/current/{path}").parse().unwrap();
            is_read(method, &uri)
        };
        for path in ["ask", "context", "ontology/search", "metrics/preview", "benchmarks/compare"] {
            assert!(is_read(&Method::POST, path), "{path}");
        }
        for path in ["memories", "actions", "metrics", "ontology/nodes", "memory/enable"] {
            assert!(!is_read(&Method::POST, path), "{path}");
        }
        assert!(!is_read(&Method::PUT, "conversations/c/slots/context"));
    }

    #[test]
    fn strangers_are_counted_by_network() {
        let limits = limits();
        let at = |text: &str| Some(text.parse().unwrap());
        limits.check_stranger(at("2001:db8::1")).unwrap();
        limits.check_stranger(at("2001:db8::2")).unwrap();
        limits.check_stranger(at("2001:db8::3")).unwrap_err();
        limits.check_stranger(at("2001:db8:0:1::3")).unwrap();
        limits.check_stranger(at("192.0.2.1")).unwrap();
    }
}
