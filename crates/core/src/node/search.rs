//! Finding nodes: by name first, then by how names begin, then by words.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Node;
use crate::Mnemic;
use crate::audit::Reading;
use crate::error::Result;
use crate::ids::NodeId;
use crate::page::check_limit;
use crate::principal::{Action, Operation, Principal};
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

const LIMIT_DEFAULT: usize = 20;
const LIMIT_MAX: usize = 200;

#[derive(Debug, Clone, Default)]
pub struct NodeSearch {
    pub query: String,
    pub filter: NodeFilter,
    pub limit: Option<usize>,
}

/// Which nodes a search is about. An empty list of types means all.
#[derive(Debug, Clone, Default)]
pub struct NodeFilter {
    pub types: Vec<String>,
    /// This channel and the global one.
    pub channel: Option<String>,
}

/// What made a node a hit, from the best to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The query is its name or an alias.
    Name,
    /// One of its names begins like the query.
    Prefix,
    /// It has words of the query.
    Words,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NodeHit {
    pub node: Node,
    pub matched: Match,
    /// From 3 for a name down to 0.
    pub score: f64,
}

static SEARCH: Operation = Operation::new("node.search", Action::ReadGraph);

impl Mnemic {
    /// Best first.
    pub async fn search_nodes(
        &self,
        principal: &Principal,
        search: &NodeSearch,
    ) -> Result<Vec<NodeHit>> {
        self.authorize(principal, &SEARCH)?;
        check_content("query", &search.query, QUERY_BYTES_MAX)?;
        check_optional_name("channel", search.filter.channel.as_deref())?;
        super::traverse::check_types(&search.filter.types)?;
        let limit = check_limit(search.limit, LIMIT_DEFAULT, LIMIT_MAX)?;
        let started = self.clock.now();
        let scope = principal.scope();
        let hits = self
            .store
            .search_nodes(scope, &search.query, &search.filter, &principal.access.readable(), limit)
            .await?;
        let ids: Vec<NodeId> = hits.iter().map(|hit| hit.node.id).collect();
        self.reinforce.note_nodes(scope, ids.into_iter());
        let found: Vec<(Uuid, &str)> = hits.iter().map(|hit| hit.node.found()).collect();
        let reading = Reading {
            channel: search.filter.channel.as_deref(),
            query: Some(&search.query),
            found,
            ..Reading::default()
        };
        self.note_read(principal, &SEARCH, &reading, started);
        Ok(hits)
    }
}
