//! How much a workspace may ask of its model in a minute, so that background work on many
//! conversations cannot run up a bill or eat a quota that people need.
//!
//! Tokens are known only afterwards: they are reserved by an estimate and set right when the
//! answer is there.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Prompt;
use crate::error::{Code, Error, Result};

const WINDOW: Duration = Duration::from_mins(1);
/// A token of English has about four bytes.
const BYTES_PER_TOKEN: u64 = 4;

/// In any minute; absent means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u32>,
}

impl Default for Quota {
    fn default() -> Self {
        Self { requests_per_minute: Some(60), tokens_per_minute: Some(200_000) }
    }
}

/// What a workspace has used in the present minute.
#[derive(Debug, Default)]
pub struct Budget {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Inner {
    since: Option<Timestamp>,
    requests: u64,
    tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetState {
    /// Absent where there is no limit.
    pub requests_left: Option<u64>,
    pub tokens_left: Option<u64>,
}

impl Budget {
    /// Takes what a prompt is likely to need, and says how much that was.
    pub fn reserve(&self, quota: Quota, prompt: &Prompt, now: Timestamp) -> Result<u64> {
        let tokens = estimate(prompt.system.len() + prompt.user.len());
        let tokens = tokens.saturating_add(u64::from(prompt.tokens_max));
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.turn(now);
        let is_over = |used: u64, more: u64, limit: Option<u32>| {
            // A prompt that is larger than the whole budget goes alone, or it never would.
            limit.is_some_and(|limit| used > 0 && used.saturating_add(more) > u64::from(limit))
        };
        let none = quota.requests_per_minute == Some(0) || quota.tokens_per_minute == Some(0);
        if none
            || is_over(inner.requests, 1, quota.requests_per_minute)
            || is_over(inner.tokens, tokens, quota.tokens_per_minute)
        {
            let seconds = inner.left(now).as_secs().max(1);
            let detail = format!(
                "the workspace's budget for its model is used up for this minute; it begins anew \
                 in {seconds} seconds"
            );
            return Err(Error::new(Code::ModelUnavailable, detail));
        }
        inner.requests += 1;
        inner.tokens = inner.tokens.saturating_add(tokens);
        Ok(tokens)
    }

    /// Puts what was used in the place of what was reserved.
    pub fn settle(&self, reserved: u64, used: u64) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.tokens = inner.tokens.saturating_sub(reserved).saturating_add(used);
    }

    pub fn state(&self, quota: Quota, now: Timestamp) -> BudgetState {
        let mut inner = *self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.turn(now);
        let left = |limit: Option<u32>, used: u64| {
            limit.map(|limit| u64::from(limit).saturating_sub(used))
        };
        BudgetState {
            requests_left: left(quota.requests_per_minute, inner.requests),
            tokens_left: left(quota.tokens_per_minute, inner.tokens),
        }
    }
}

impl Inner {
    /// Begins a new minute when the last is over.
    fn turn(&mut self, now: Timestamp) {
        if self.left(now).is_zero() {
            *self = Self { since: Some(now), ..Self::default() };
        }
    }

    fn left(&self, now: Timestamp) -> Duration {
        let Some(since) = self.since else { return Duration::ZERO };
        let gone = now.duration_since(since).max(SignedDuration::ZERO);
        WINDOW.saturating_sub(gone.unsigned_abs())
    }
}

/// The tokens of so many bytes, where nobody counts them for us.
pub(super) fn estimate(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn quota(requests: u32, tokens: u32) -> Quota {
        Quota { requests_per_minute: Some(requests), tokens_per_minute: Some(tokens) }
    }

    fn prompt(bytes: usize, tokens_max: u32) -> Prompt {
        Prompt { user: "x".repeat(bytes), tokens_max, ..Prompt::default() }
    }

    #[test]
    fn requests_are_counted_by_the_minute() {
        let (budget, quota) = (Budget::default(), quota(2, 1_000));
        for second in [0, 30] {
            budget.reserve(quota, &prompt(4, 1), at(second)).unwrap();
        }
        let refused = budget.reserve(quota, &prompt(4, 1), at(40)).unwrap_err();
        assert!(refused.to_string().contains("20 seconds"), "{refused}");
        assert_eq!(budget.state(quota, at(40)).requests_left, Some(0));
        budget.reserve(quota, &prompt(4, 1), at(60)).unwrap();
        assert_eq!(budget.state(quota, at(60)).requests_left, Some(1));
    }

    #[test]
    fn tokens_are_reserved_and_set_right() {
        let (budget, quota) = (Budget::default(), quota(100, 100));
        let reserved = budget.reserve(quota, &prompt(200, 40), at(0)).unwrap();
        assert_eq!(reserved, 90);
        budget.reserve(quota, &prompt(200, 40), at(1)).unwrap_err();
        budget.settle(reserved, 10);
        assert_eq!(budget.state(quota, at(1)).tokens_left, Some(90));
        budget.reserve(quota, &prompt(200, 40), at(2)).unwrap();
    }

    #[test]
    fn one_prompt_may_be_larger_than_the_budget_and_nothing_passes_a_budget_of_none() {
        let budget = Budget::default();
        budget.reserve(quota(9, 10), &prompt(4_000, 1), at(0)).unwrap();
        budget.reserve(quota(9, 10), &prompt(4, 1), at(1)).unwrap_err();
        Budget::default().reserve(quota(0, 10), &prompt(4, 1), at(0)).unwrap_err();
        let unlimited = Quota { requests_per_minute: None, tokens_per_minute: None };
        for _ in 0..1_000 {
            budget.reserve(unlimited, &prompt(40_000, 1), at(2)).unwrap();
        }
    }
}
