//! What the commands about the graph take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum OntologyCommand {
    /// Make a node, or add to the one that has its name or an alias
    CreateNode(NodeArgs),
    /// Show a node
    GetNode { id: Uuid },
    /// Change a node by a JSON object of the fields to change
    UpdateNode {
        id: Uuid,
        /// Such as '{"description": "our first customer", "properties": {"tier": null}}'
        patch: String,
    },
    /// Hide a node and close its edges
    DeleteNode {
        id: Uuid,
        /// Erase it for good
        #[arg(long)]
        hard: bool,
    },
    /// Relate two nodes or memories
    CreateEdge {
        source: Uuid,
        /// Such as WORKS_FOR
        relation: String,
        target: Uuid,
        /// A JSON object
        #[arg(long, value_name = "JSON")]
        properties: Option<String>,
        /// From when it is true in the world (RFC 3339)
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// Until when it is true in the world (RFC 3339)
        #[arg(long, value_name = "TIME")]
        to: Option<String>,
    },
    /// Say that an edge no longer holds
    DeleteEdge { id: Uuid },
    /// Find nodes by a name, the beginning of one, or words
    Search {
        query: String,
        /// Only nodes of this type; may be repeated
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        #[arg(long)]
        channel: Option<String>,
        #[arg(long)]
        limit: Option<usize>,
    },
    /// Walk from nodes or memories outwards
    Traverse(TraverseArgs),
    /// Make two nodes one
    Merge {
        id: Uuid,
        /// The one that stays
        into: Uuid,
    },
    /// Make one node two
    Split(SplitArgs),
    /// Erase all nodes that came from a connection
    DeleteConnection { id: String },
}

#[derive(Debug, Args)]
pub struct NodeArgs {
    /// What it is, such as person
    #[arg(value_name = "TYPE")]
    pub node_type: String,
    pub name: String,
    /// Another name of it; may be repeated
    #[arg(long = "alias", value_name = "NAME")]
    pub aliases: Vec<String>,
    #[arg(long)]
    pub description: Option<String>,
    /// A JSON object
    #[arg(long, value_name = "JSON")]
    pub properties: Option<String>,
    #[arg(long)]
    pub channel: Option<String>,
    #[arg(long)]
    pub domain: Option<String>,
    /// The source that it comes from
    #[arg(long, value_name = "ID")]
    pub connection: Option<String>,
    /// Make it even if the same was erased before
    #[arg(long)]
    pub revive: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum DirectionArg {
    Out,
    In,
    Both,
}

#[derive(Debug, Args)]
pub struct TraverseArgs {
    #[arg(required = true)]
    pub ids: Vec<Uuid>,
    /// How many steps, 1 to 3
    #[arg(long, default_value_t = 1)]
    pub depth: u32,
    /// Only over this relation; may be repeated
    #[arg(long = "relation", value_name = "NAME")]
    pub relations: Vec<String>,
    /// Only to nodes of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
    /// Along the edges (out), against them (in), or both
    #[arg(long, value_enum)]
    pub direction: Option<DirectionArg>,
    #[arg(long)]
    pub limit: Option<usize>,
    /// As it was in the world at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// As far as we knew at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub known_at: Option<String>,
}

#[derive(Debug, Args)]
pub struct SplitArgs {
    pub id: Uuid,
    /// What the new node is called
    pub name: String,
    #[arg(long = "type", value_name = "TYPE")]
    pub node_type: Option<String>,
    /// An alias that goes to the new node; may be repeated
    #[arg(long = "alias", value_name = "NAME")]
    pub aliases: Vec<String>,
    /// An edge that goes to the new node; may be repeated
    #[arg(long = "edge", value_name = "ID")]
    pub edges: Vec<Uuid>,
}
