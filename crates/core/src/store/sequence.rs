//! The port for sequences, what they were about, and the counts that patterns are mined of.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::action::Outcome;
use crate::error::Result;
use crate::ids::{IntentId, SequenceId};
use crate::page::Dated;
use crate::principal::Scope;
use crate::recall::Hit;
use crate::sequence::{Intent, Key, KeyTally, Sequence, SequenceFilter, TallyFilter, Unmined};

#[async_trait]
pub trait SequenceStore {
    /// Those that exist, in the order asked for.
    async fn lookup_sequences(&self, scope: Scope, ids: &[SequenceId]) -> Result<Vec<Sequence>>;
    /// The latest first, behind `after`.
    async fn list_sequences(
        &self,
        scope: Scope,
        filter: &SequenceFilter,
        after: Option<Dated>,
        limit: usize,
    ) -> Result<Vec<Sequence>>;
    /// For each of these sessions and spans of time, the sequences that overlap or meet it.
    async fn find_touching(
        &self,
        scope: Scope,
        spans: &[(&str, Timestamp, Timestamp)],
    ) -> Result<Vec<Vec<Sequence>>>;
    /// Open ones whose last action was before a moment, the oldest first.
    async fn list_open(
        &self,
        scope: Scope,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<Sequence>>;
    async fn count_open(&self, scope: Scope, before: Timestamp) -> Result<u64>;
    /// The keys of each of these, in the order asked for.
    async fn lookup_keys(&self, scope: Scope, ids: &[SequenceId]) -> Result<Vec<Vec<Key>>>;
    /// The keys of the first actions of each of these, in the order of the actions.
    async fn list_heads(
        &self,
        scope: Scope,
        ids: &[SequenceId],
        limit: usize,
    ) -> Result<Vec<Vec<Key>>>;

    async fn lookup_intents(&self, scope: Scope, ids: &[IntentId]) -> Result<Vec<Intent>>;
    /// Those with these digests.
    async fn find_intents(&self, scope: Scope, keys: &[String]) -> Result<Vec<Intent>>;
    /// By words, best first.
    async fn search_intent_words(
        &self,
        scope: Scope,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>>;
    /// Closed sequences that were about this, the latest first.
    async fn list_sequences_of(
        &self,
        scope: Scope,
        intent: IntentId,
        limit: usize,
    ) -> Result<Vec<Sequence>>;

    /// Pairs whose counts have changed since they were mined.
    async fn list_unmined(&self, scope: Scope, limit: usize) -> Result<Vec<Unmined>>;
    /// Pairs (action type, node type) with counts of these days, both included.
    async fn list_pairs(
        &self,
        scope: Scope,
        from_day: i64,
        to_day: i64,
    ) -> Result<Vec<(String, String)>>;
    /// How many closed sequences have a pair since a day, and how many have each key of it.
    async fn key_tallies(
        &self,
        scope: Scope,
        action_type: &str,
        node_type: &str,
        since_day: i64,
    ) -> Result<(i64, Vec<KeyTally>)>;
    /// How many closed sequences with the last action within a time had which outcome and how
    /// many actions.
    async fn tally_sequences(
        &self,
        scope: Scope,
        filter: &TallyFilter,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Vec<(Outcome, i64, i64)>>;
    /// The same of the first closed ones, by their first action and id.
    async fn tally_first(
        &self,
        scope: Scope,
        filter: &TallyFilter,
        first: usize,
    ) -> Result<Vec<(Outcome, i64, i64)>>;
}
