//! Patterns, and what was shown of them.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::PatternId;
use mnemic_core::page::Position;
use mnemic_core::pattern::{
    Aftermath, Effect, Pair, Pattern, PatternFilter, PatternKey, PatternWish, Showing,
};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::{Change, PatternStore};
use uuid::Uuid;

use super::{EngineStore, behind, own};
use crate::statements::{pattern, showing};
use crate::{Batch, Fields, SearchEngine, Statement, Value, values};

/// Patterns that are looked at for one wish.
const ROWS_MAX: i64 = 200;

#[async_trait]
impl<E: SearchEngine> PatternStore for EngineStore<E> {
    async fn lookup_patterns(&self, scope: Workspaced, ids: &[PatternId]) -> Result<Vec<Pattern>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &pattern::LOOKUP, params, pattern::from_row).await
    }

    async fn list_patterns(
        &self,
        scope: Workspaced,
        filter: &PatternFilter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Pattern>> {
        let params = pattern::list(filter, behind(after), limit);
        self.all(own(scope), &pattern::LIST, params, pattern::from_row).await
    }

    async fn find_patterns(&self, scope: Workspaced, pair: &Pair) -> Result<Vec<Pattern>> {
        let params = pattern::of_pair(pair);
        self.all(own(scope), &pattern::FIND, params, pattern::from_row).await
    }

    async fn find_live_patterns(
        &self,
        scope: Workspaced,
        wishes: &[PatternWish],
    ) -> Result<Vec<Pattern>> {
        let mut found = Vec::new();
        for statement in
            [&pattern::LIVE_OF_PAIR, &pattern::LIVE_OF_ACTION, &pattern::LIVE_OF_NODE_TYPE]
        {
            let asked = wishes.iter().map(wish).filter(|(by, _)| *by == statement);
            let params: Vec<_> = asked.map(|(_, params)| params).collect();
            if params.is_empty() {
                continue;
            }
            let rows = self.engine.read_each(own(scope), statement, params).await?;
            for row in rows.iter().flatten() {
                found.push(pattern::from_row(row)?);
            }
        }
        Ok(found)
    }

    async fn list_superseded(&self, scope: Workspaced, by: PatternId) -> Result<Vec<Pattern>> {
        self.all(own(scope), &pattern::SUPERSEDED, values![by.0], pattern::from_row).await
    }

    async fn list_fading_patterns(
        &self,
        scope: Workspaced,
        unseen_since: Timestamp,
        after: Option<PatternId>,
        limit: usize,
    ) -> Result<Vec<Pattern>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params = values![after.map(|id| id.0), unseen_since, limit];
        self.all(own(scope), &pattern::FADING, params, pattern::from_row).await
    }

    async fn mining_window(&self, scope: Workspaced) -> Result<Option<i64>> {
        self.first(own(scope), &pattern::WINDOW, vec![], |row| row.int("since_day")).await
    }

    async fn list_waiting_showings(
        &self,
        scope: Workspaced,
        session: &str,
    ) -> Result<Vec<PatternKey>> {
        self.all(own(scope), &showing::WAITING, values![session], pattern::key_from).await
    }

    async fn list_unsettled(
        &self,
        scope: Workspaced,
        before: Timestamp,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Showing>> {
        let params = showing::unsettled(before, after, limit);
        self.all(own(scope), &showing::UNSETTLED, params, showing::from_row).await
    }

    async fn find_aftermath(
        &self,
        scope: Workspaced,
        of: &Showing,
        until: Timestamp,
    ) -> Result<Option<Aftermath>> {
        let params = showing::aftermath(of, until);
        self.first(own(scope), &showing::AFTERMATH, params, showing::aftermath_from).await
    }

    async fn tally_effect(&self, scope: Workspaced, key: &PatternKey) -> Result<Effect> {
        let rows = self.engine.read(own(scope), &showing::EFFECT, showing::of_key(key)).await?;
        showing::effect_from(&rows)
    }

    async fn tally_showings(
        &self,
        scope: Workspaced,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<(u64, u64)> {
        let params = values![since, until];
        let found = self.first(own(scope), &showing::TALLY, params, showing::count_from).await?;
        Ok(found.map_or((0, 0), |count| (count.of, count.hits)))
    }
}

/// By which statement a wish is found, and with what.
fn wish(wish: &PatternWish) -> (&'static Statement, Vec<Value>) {
    match wish {
        PatternWish::NodeType(kind) => (&pattern::LIVE_OF_NODE_TYPE, values![kind, ROWS_MAX]),
        PatternWish::Action(action) => (&pattern::LIVE_OF_ACTION, values![action, ROWS_MAX]),
        PatternWish::Pair(pair) => {
            let mut params = pattern::of_pair(pair);
            params.extend(values![ROWS_MAX]);
            (&pattern::LIVE_OF_PAIR, params)
        }
    }
}

/// Any other change is not one of these, and adds nothing.
pub(super) fn add_pattern<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::AddPattern(new) => batch.push(pattern::add(new)),
        Change::UpdatePattern(changed) => batch.push(pattern::update(changed)),
        Change::MoveMiningWindow { since_day } => batch.push(pattern::move_window(*since_day)),
        Change::AddShowing(new) => batch.push(showing::add(new)),
        Change::SettleShowing { id, outcome, at } => {
            batch.push(showing::settle(*id, *outcome, *at))
        }
        _ => batch,
    }
}
