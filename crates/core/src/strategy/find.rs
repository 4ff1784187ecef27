//! Finding strategies for a task: by words and by meaning, and then by how often they worked.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::Strategy;
use crate::Mnemic;
use crate::audit::Reading;
use crate::error::Result;
use crate::ids::StrategyId;
use crate::memory::GLOBAL_CHANNEL;
use crate::page::check_limit;
use crate::principal::{Action, Operation, Principal};
use crate::recall::{Hit, ItemKind, QueryVector, SearchFilter, Technique, fuse};
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

const LIMIT_DEFAULT: usize = 5;
const LIMIT_MAX: usize = 100;
/// How many of each technique are weighed.
const FOUND_MAX: usize = 100;
/// What is left of the score of a strategy that never works; all of it, if it always does.
const RATE_FLOOR: f64 = 0.25;

static FIND: Operation = Operation::new("strategy.find", Action::ReadProcedure);

#[derive(Debug, Clone, Default)]
pub struct StrategySearch {
    pub task: String,
    /// This channel and the global one.
    pub channel: Option<String>,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StrategyHit {
    pub strategy: Strategy,
    /// Relevance and success rate together, 0 to 1.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundStrategies {
    /// Best first.
    pub items: Vec<StrategyHit>,
    /// What could not serve, and why.
    pub degraded: Vec<String>,
}

impl Mnemic {
    pub async fn find_strategies(
        &self,
        principal: &Principal,
        search: &StrategySearch,
    ) -> Result<FoundStrategies> {
        self.authorize(principal, &FIND)?;
        check_content("task", &search.task, QUERY_BYTES_MAX)?;
        check_optional_name("channel", search.channel.as_deref())?;
        let limit = check_limit(search.limit, LIMIT_DEFAULT, LIMIT_MAX)?;
        let started = self.clock.now();
        let query = self.embed_text(principal.scope(), &search.task);
        let found = self.search_strategies(principal, search, limit, query).await?;
        let hits = found.items.iter();
        let reading = Reading {
            channel: search.channel.as_deref(),
            query: Some(&search.task),
            found: hits.map(|hit| (hit.strategy.id.0, hit.strategy.channel.as_str())).collect(),
            ..Reading::default()
        };
        self.note_read(principal, &FIND, &reading, started);
        Ok(found)
    }

    /// The same for whoever embeds the task meanwhile, and tells the audit of it.
    pub(crate) async fn search_strategies(
        &self,
        principal: &Principal,
        search: &StrategySearch,
        limit: usize,
        query: impl Future<Output = Result<impl Borrow<QueryVector>>>,
    ) -> Result<FoundStrategies> {
        let channels = search.channel.as_ref();
        let filter = SearchFilter {
            channels: channels.map(|channel| vec![channel.clone(), GLOBAL_CHANNEL.to_owned()]),
            readable: principal.access.readable(),
            ..SearchFilter::default()
        };
        let scope = principal.scope();
        let words = self.store.search_strategy_words(scope, &search.task, &filter, FOUND_MAX);
        let near = async {
            let query = query.await.map_err(|e| e.to_string())?;
            let query: &QueryVector = query.borrow();
            let (kind, stamp) = (ItemKind::Strategy, query.embedder.stamp());
            let near =
                self.store.search_vectors(scope, kind, stamp, &query.vector, &filter, FOUND_MAX);
            near.await.map_err(|e| e.to_string())
        };
        let (near, words) = tokio::join!(near, words);
        let mut degraded = Vec::new();
        let near = near.unwrap_or_else(|e| {
            degraded.push(format!("vectors: {e}"));
            vec![]
        });
        let items = self.weigh_strategies(principal, &words?, &near, limit).await?;
        Ok(FoundStrategies { items, degraded })
    }

    async fn weigh_strategies(
        &self,
        principal: &Principal,
        words: &[Hit],
        near: &[Hit],
        limit: usize,
    ) -> Result<Vec<StrategyHit>> {
        let fused = fuse::fuse(&[(Technique::Words, words), (Technique::Vectors, near)]);
        let ids: Vec<_> = fused.iter().map(|it| StrategyId(it.id)).collect();
        let found = self.store.lookup_strategies(principal.scope(), &ids).await?;
        let mut strategies: HashMap<_, _> =
            found.into_iter().map(|strategy| (strategy.id.0, strategy)).collect();
        let mut hits: Vec<_> = fused
            .iter()
            .filter_map(|it| {
                let strategy = strategies.remove(&it.id)?;
                let score = it.score * (RATE_FLOOR + (1.0 - RATE_FLOOR) * strategy.success_rate());
                Some(StrategyHit { strategy, score })
            })
            .collect();
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| b.strategy.id.cmp(&a.strategy.id))
        });
        hits.truncate(limit);
        Ok(hits)
    }
}
