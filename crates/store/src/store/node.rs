//! Nodes.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::grant::Readable;
use mnemic_core::ids::NodeId;
use mnemic_core::node::{Match, Node, NodeFilter, NodeHit, Slice};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::{Bearer, NodeStore};
use mnemic_core::text::fold_name;

use super::{EngineStore, own};
use crate::statements::{node, node_search};
use crate::{Batch, Fields, Row, SearchEngine, values};

/// Nodes that are looked at for one word.
const WORD_ROWS_MAX: usize = 1_000;

#[async_trait]
impl<E: SearchEngine> NodeStore for EngineStore<E> {
    async fn lookup_node(&self, scope: Workspaced, id: NodeId) -> Result<Option<Node>> {
        self.first(own(scope), &node::LOOKUP, values![id.0], node::from_row).await
    }

    async fn lookup_nodes(&self, scope: Workspaced, ids: &[NodeId]) -> Result<Vec<Node>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &node::LOOKUP, params, node::from_row).await
    }

    async fn find_names(
        &self,
        scope: Workspaced,
        channel: &str,
        node_type: &str,
        keys: &[String],
    ) -> Result<Vec<Vec<Bearer>>> {
        let params = keys.iter().map(|key| values![channel, node_type, key]).collect();
        let found = self.engine.read_each(own(scope), &node::FIND_NAME, params).await?;
        found.iter().map(|rows| rows.iter().map(node::bearer_from_row).collect()).collect()
    }

    async fn find_bearers(
        &self,
        scope: Workspaced,
        channel: &str,
        keys: &[String],
    ) -> Result<Vec<Vec<Bearer>>> {
        let params = keys.iter().map(|key| node::bearers(channel, key)).collect();
        let found = self.engine.read_each(own(scope), &node::FIND_BEARERS, params).await?;
        found.iter().map(|rows| rows.iter().map(node::bearer_from_row).collect()).collect()
    }

    async fn search_nodes(
        &self,
        scope: Workspaced,
        query: &str,
        filter: &NodeFilter,
        readable: &Readable,
        limit: usize,
    ) -> Result<Vec<NodeHit>> {
        let wanted = Wanted { query, filter, readable };
        let mut ranking = Ranking::default();
        self.rank_names(scope, &wanted, limit, &mut ranking).await?;
        if ranking.0.len() < limit {
            self.rank_words(scope, &wanted, &mut ranking).await?;
        }
        let best = ranking.best(limit);
        let ids: Vec<_> = best.iter().map(|(id, _)| *id).collect();
        let nodes = self.lookup_nodes(scope, &ids).await?;
        let nodes = nodes.into_iter().filter(|node| node.deleted_at.is_none());
        let mut places: HashMap<_, _> = best.into_iter().collect();
        let hit = |node: Node| {
            let (matched, score) = places.remove(&node.id)?;
            Some(NodeHit { node, matched, score })
        };
        Ok(nodes.filter_map(hit).collect())
    }

    async fn measure_connection(&self, scope: Workspaced, connection_id: &str) -> Result<Slice> {
        let count =
            async |statement| self.count(own(scope), statement, values![connection_id]).await;
        let nodes = count(&node::COUNT_OF_CONNECTION).await?;
        let from = count(&node::COUNT_EDGES_FROM_CONNECTION).await?;
        let to = count(&node::COUNT_EDGES_TO_CONNECTION).await?;
        Ok(Slice { nodes, edges: from + to })
    }

    async fn domains_of_connection(
        &self,
        scope: Workspaced,
        connection_id: &str,
    ) -> Result<Vec<Option<String>>> {
        let params = values![connection_id];
        self.all(own(scope), &node::DOMAINS_OF_CONNECTION, params, |row| row.opt_string("domain"))
            .await
    }

    async fn touch_nodes(&self, scope: Workspaced, ids: &[NodeId], at: Timestamp) -> Result<()> {
        let mut batch = Batch::new();
        for id in ids {
            batch.run(&node::TOUCH, values![id.0, at]);
        }
        self.engine.write(own(scope), batch).await.map(drop)
    }
}

impl<E: SearchEngine> EngineStore<E> {
    async fn rank_names(
        &self,
        scope: Workspaced,
        wanted: &Wanted<'_>,
        limit: usize,
        ranking: &mut Ranking,
    ) -> Result<()> {
        let Wanted { query, filter, readable } = *wanted;
        let key = fold_name(query);
        let params = node_search::by_key(filter, readable, &key, limit);
        for row in self.engine.read(own(scope), &node_search::BY_NAME, params).await? {
            ranking.add(id_from_row(&row)?, Match::Name, 3.0);
        }
        let params = node_search::by_prefix(filter, readable, &key, limit);
        for row in self.engine.read(own(scope), &node_search::BY_PREFIX, params).await? {
            let share = key.len() as f64 / row.text("alias_key")?.len().max(1) as f64;
            ranking.add(id_from_row(&row)?, Match::Prefix, 1.0 + share);
        }
        Ok(())
    }

    /// A word that fewer nodes have counts for more.
    async fn rank_words(
        &self,
        scope: Workspaced,
        wanted: &Wanted<'_>,
        ranking: &mut Ranking,
    ) -> Result<()> {
        let Wanted { query, filter, readable } = *wanted;
        let terms = mnemic_recall::query_terms(query);
        let terms = terms.iter().take(mnemic_recall::TERMS_MAX);
        let params =
            terms.map(|term| node_search::by_key(filter, readable, term, WORD_ROWS_MAX)).collect();
        let found = self.engine.read_each(own(scope), &node_search::BY_WORD, params).await?;
        let mut sums = HashMap::<NodeId, f64>::new();
        for rows in &found {
            let rarity = 1.0 / (1.0 + (1.0 + rows.len() as f64).ln());
            for row in rows {
                *sums.entry(id_from_row(row)?).or_default() += rarity * row.float("weight")?;
            }
        }
        for (id, sum) in sums {
            ranking.add(id, Match::Words, sum / (1.0 + sum));
        }
        Ok(())
    }
}

/// What a search looks for.
struct Wanted<'w> {
    query: &'w str,
    filter: &'w NodeFilter,
    readable: &'w Readable,
}

/// What each node was found by, at its best.
#[derive(Default)]
struct Ranking(HashMap<NodeId, (Match, f64)>);

impl Ranking {
    fn add(&mut self, id: NodeId, matched: Match, score: f64) {
        let best = self.0.entry(id).or_insert((matched, score));
        if score > best.1 {
            *best = (matched, score);
        }
    }

    /// Ties go to the older, so that every engine gives the same answer.
    fn best(self, limit: usize) -> Vec<(NodeId, (Match, f64))> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|(a, (_, x)), (b, (_, y))| y.total_cmp(x).then(a.cmp(b)));
        all.truncate(limit);
        all
    }
}

fn id_from_row(row: &Row) -> Result<NodeId> {
    row.uuid("node_id").map(NodeId)
}
