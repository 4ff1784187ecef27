//! Past runs like the one that is about to begin.

use super::{Intent, READ, Sequence};
use crate::Mnemic;
use crate::action::Outcome;
use crate::error::Result;
use crate::page::check_limit;
use crate::principal::Principal;
use crate::text::{QUERY_BYTES_MAX, check_content};

const LIMIT_DEFAULT: usize = 5;
const LIMIT_MAX: usize = 50;
/// Sequences of one intent that are looked at, and those of them that are shown.
const LOOKED_AT: usize = 50;
const SHOWN: usize = 3;

/// What was done in past runs, and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct PastRun {
    pub intent: Intent,
    /// How much it is like what was asked for; greater is better.
    pub score: f64,
    /// Of the latest runs, at most fifty.
    pub runs: usize,
    pub succeeded: usize,
    /// The latest of them.
    pub sequences: Vec<Sequence>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PastRuns {
    /// Best first.
    pub items: Vec<PastRun>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
}

impl Mnemic {
    /// What runs like this one did, found by words and by meaning over what they were about.
    pub async fn past_runs(
        &self,
        principal: &Principal,
        query: &str,
        limit: Option<usize>,
    ) -> Result<PastRuns> {
        self.authorize(principal, &READ)?;
        check_content("query", query, QUERY_BYTES_MAX)?;
        let limit = check_limit(limit, LIMIT_DEFAULT, LIMIT_MAX)?;
        let found = self.find_intents(principal, query, limit).await?;
        let mut items = Vec::new();
        for hit in found.items {
            let id = hit.intent.id;
            let mut sequences =
                self.store.list_sequences_of(principal.scope(), id, LOOKED_AT).await?;
            let succeeded = sequences.iter().filter(|it| it.outcome == Outcome::Success).count();
            let runs = sequences.len();
            sequences.truncate(SHOWN);
            // Its last run may have been joined to another since.
            if runs > 0 {
                let (intent, score) = (hit.intent, hit.score);
                items.push(PastRun { intent, score, runs, succeeded, sequences });
            }
        }
        Ok(PastRuns { items, degraded: found.degraded })
    }
}
