//! The port for patterns, and for what was shown of them.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::error::Result;
use crate::ids::PatternId;
use crate::page::Position;
use crate::pattern::{
    Aftermath, Effect, Pair, Pattern, PatternFilter, PatternKey, PatternWish, Showing,
};
use crate::principal::Scope;

#[async_trait]
pub trait PatternStore {
    /// Those that exist, in the order asked for.
    async fn lookup_patterns(&self, scope: Scope, ids: &[PatternId]) -> Result<Vec<Pattern>>;
    /// Newest first.
    async fn list_patterns(
        &self,
        scope: Scope,
        filter: &PatternFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Pattern>>;
    /// Those of a pair that nothing superseded, deleted or not, the newest first.
    async fn find_patterns(&self, scope: Scope, pair: &Pair) -> Result<Vec<Pattern>>;
    /// Live ones that fit any of these, those of the most sequences first for each.
    async fn find_live_patterns(
        &self,
        scope: Scope,
        wishes: &[PatternWish],
    ) -> Result<Vec<Pattern>>;
    /// Those that a pattern superseded, the newest first.
    async fn list_superseded(&self, scope: Scope, by: PatternId) -> Result<Vec<Pattern>>;
    /// Live ones that may be lost, because they were not seen since a moment or because they occur
    /// too seldom, in the order of their ids.
    async fn list_fading_patterns(
        &self,
        scope: Scope,
        unseen_since: Timestamp,
        after: Option<PatternId>,
        limit: usize,
    ) -> Result<Vec<Pattern>>;
    /// The first day of the window that was mined last.
    async fn mining_window(&self, scope: Scope) -> Result<Option<i64>>;

    /// What a session was shown that is not settled yet.
    async fn list_waiting_showings(&self, scope: Scope, session: &str) -> Result<Vec<PatternKey>>;
    /// Showings before a moment that are not settled, in the order of their ids.
    async fn list_unsettled(
        &self,
        scope: Scope,
        before: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Showing>>;
    /// The first sequence of the session that goes on behind a showing and began at `until` at the
    /// latest.
    async fn find_aftermath(
        &self,
        scope: Scope,
        showing: &Showing,
        until: Timestamp,
    ) -> Result<Option<Aftermath>>;
    /// What telling a key has done, over all patterns that it had.
    async fn tally_effect(&self, scope: Scope, key: &PatternKey) -> Result<Effect>;
    /// Sequences that were warned within a time, and those of them in which nothing happened that
    /// they were warned of.
    async fn tally_showings(
        &self,
        scope: Scope,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<(u64, u64)>;
}
