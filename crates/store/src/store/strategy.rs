//! Strategies, found by their key or by words.

use std::collections::HashMap;

use async_trait::async_trait;
use mnemic_core::Result;
use mnemic_core::ids::StrategyId;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::recall::{Hit, SearchFilter};
use mnemic_core::store::StrategyStore;
use mnemic_core::strategy::Strategy;

use super::{EngineStore, own};
use crate::statements::strategy;
use crate::{Fields, SearchEngine, values};

/// Strategies that are looked at for one word.
const WORD_ROWS_MAX: usize = 1_000;

#[async_trait]
impl<E: SearchEngine> StrategyStore for EngineStore<E> {
    async fn lookup_strategies(
        &self,
        scope: Workspaced,
        ids: &[StrategyId],
    ) -> Result<Vec<Strategy>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &strategy::LOOKUP, params, strategy::from_row).await
    }

    async fn find_strategy(&self, scope: Workspaced, key: &str) -> Result<Option<Strategy>> {
        self.first(own(scope), &strategy::FIND, values![key], strategy::from_row).await
    }

    async fn list_strategies_by_tools(
        &self,
        scope: Workspaced,
        channel: &str,
        tools: &[String],
        limit: usize,
    ) -> Result<Vec<Strategy>> {
        let params = strategy::by_tools(channel, tools, limit);
        self.all(own(scope), &strategy::BY_TOOLS, params, strategy::from_row).await
    }

    /// A word that fewer have counts for more.
    async fn search_strategy_words(
        &self,
        scope: Workspaced,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let terms = mnemic_recall::query_terms(query);
        let terms = terms.iter().take(mnemic_recall::TERMS_MAX);
        let params =
            terms.map(|term| strategy::by_word(filter, term, WORD_ROWS_MAX)).collect::<Vec<_>>();
        if params.is_empty() {
            return Ok(vec![]);
        }
        let found = self.engine.read_each(own(scope), &strategy::BY_WORD, params).await?;
        let mut sums = HashMap::new();
        for rows in &found {
            let rarity = 1.0 / (1.0 + (1.0 + rows.len() as f64).ln());
            for row in rows {
                let sum: &mut f64 = sums.entry(row.uuid("strategy_id")?).or_default();
                *sum += rarity * row.float("weight")?;
            }
        }
        let mut hits: Vec<_> = sums.into_iter().map(|(id, sum)| (id, sum / (1.0 + sum))).collect();
        // Ties go to the newer, so that every engine gives the same answer.
        hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(b.cmp(a)));
        hits.truncate(limit);
        #[expect(clippy::cast_possible_truncation, reason = "a score needs no more than that")]
        let hit = |(id, score)| Hit { id, score: score as f32 };
        Ok(hits.into_iter().map(hit).collect())
    }
}
