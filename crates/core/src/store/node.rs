//! The port for nodes.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::grant::Readable;
use crate::ids::NodeId;
use crate::node::{Node, NodeFilter, NodeHit, Slice};
use crate::principal::Scope;

/// A live node that has a name, as its own or as an alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    pub node_id: NodeId,
    pub channel: String,
    pub node_type: String,
    pub domain: Option<String>,
}

#[async_trait]
pub trait NodeStore {
    async fn lookup_node(&self, scope: Scope, id: NodeId) -> Result<Option<Node>>;
    /// Those that exist, in the order asked for.
    async fn lookup_nodes(&self, scope: Scope, ids: &[NodeId]) -> Result<Vec<Node>>;
    /// Who has each of these folded names among the nodes of one channel and type: at most one in
    /// each domain, and one without.
    async fn find_names(
        &self,
        scope: Scope,
        channel: &str,
        node_type: &str,
        keys: &[String],
    ) -> Result<Vec<Vec<Bearer>>>;
    /// Who has each of these folded names in a channel or in the global one, whatever the type.
    async fn find_bearers(
        &self,
        scope: Scope,
        channel: &str,
        keys: &[String],
    ) -> Result<Vec<Vec<Bearer>>>;
    /// By name, by how names begin, and by words; best first.
    async fn search_nodes(
        &self,
        scope: Scope,
        query: &str,
        filter: &NodeFilter,
        readable: &Readable,
        limit: usize,
    ) -> Result<Vec<NodeHit>>;
    /// How much came from a connection, deleted or not.
    async fn measure_connection(&self, scope: Scope, connection_id: &str) -> Result<Slice>;
    /// The domains of what came from a connection, each once; none is one of them.
    async fn domains_of_connection(
        &self,
        scope: Scope,
        connection_id: &str,
    ) -> Result<Vec<Option<String>>>;
    /// Adds one access each.
    async fn touch_nodes(&self, scope: Scope, ids: &[NodeId], at: Timestamp) -> Result<()>;
}
