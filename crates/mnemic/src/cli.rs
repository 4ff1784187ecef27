//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mnemic_core::principal::Profile;
use uuid::Uuid;

use crate::commands::{BenchArgs, Format};
use crate::config::CommonArgs;

/// Memory for AI agents: remember, recall, and know why.
#[derive(Debug, Parser)]
#[command(name = "mnemic", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve REST and MCP from the data directory
    Serve(ServeArgs),
    /// Speak MCP on standard input and output
    Mcp,
    /// Remember something
    Remember(RememberArgs),
    /// Find what was remembered
    Recall(RecallArgs),
    /// Make a memory a fact
    Promote { id: Uuid },
    /// Forget a memory
    Forget {
        id: Uuid,
        /// Erase it for good; without this it can be restored
        #[arg(long)]
        hard: bool,
    },
    /// Erase all that belongs to a conversation or a user
    #[command(subcommand)]
    Erase(EraseCommand),
    /// Look after single memories and all of them
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Make, find and relate what memories are about
    #[command(subcommand)]
    Ontology(OntologyCommand),
    /// Count the citations of a finished run
    Run(RunArgs),
    /// Keep, read and clear the slots of a conversation, which live for a short time
    #[command(subcommand)]
    Slot(SlotCommand),
    /// Make and list conversations, and keep what was said in them
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// Make, list and delete workspaces, and change their settings
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Make and list domains, the knowledge areas of a workspace
    #[command(subcommand)]
    Domain(DomainCommand),
    /// Say which role may read or write which domain
    #[command(subcommand)]
    Grant(GrantCommand),
    /// Make, list and change the rules of domains
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// List contradictions that were found, and decide them
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Run background work by hand
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// Show what was done, by whom, and how it went
    Audit(AuditArgs),
    /// Look after a PostgreSQL database
    #[command(subcommand)]
    Db(DbCommand),
    /// Move the whole store into a PostgreSQL database, or back into a directory
    Migrate(MigrateArgs),
    /// Write everything to a file of JSON Lines, also while it is served
    Export(ExportArgs),
    /// Read an export of mnemic, or what mem0, Graphiti or server-memory exported
    Import(ImportArgs),
    /// Copy the data directory's store into a file, also while it is served
    Backup(BackupArgs),
    /// Put a backup in the place of the data directory's store
    Restore(BackupArgs),
    /// Give every memory a vector of the present model
    Reembed,
    /// Measure what this project promises
    Bench(BenchArgs),
    /// Check store, index, embedder and clock
    Doctor {
        /// Read all of the store
        #[arg(long)]
        thorough: bool,
        /// A PostgreSQL database to check, the way `serve --store` would use it
        #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
        store: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen; port 0 picks one [default: 127.0.0.1:7077]
    #[arg(long, env = "MNEMIC_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// A PostgreSQL database to serve instead of the data directory, as prepared by `db setup`
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// A Redis to keep slots in, as redis:// or rediss://; without one they are kept in process
    #[arg(long, env = "MNEMIC_REDIS", hide_env_values = true, value_name = "URL")]
    pub redis: Option<String>,
}

#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// Where to: the database's address as printed by `db setup`, or a directory
    #[arg(long, env = "MNEMIC_MIGRATE_TO", hide_env_values = true, value_name = "URL|DIR")]
    pub to: String,
    /// Move this PostgreSQL database instead of the data directory
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Also undo what was changed at the target since it was copied
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Where to; `-` writes to standard output
    pub file: PathBuf,
    /// Export this PostgreSQL database instead of the data directory
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Where from; `-` reads standard input
    pub file: PathBuf,
    /// What it is [default: found out]
    #[arg(long)]
    pub format: Option<Format>,
    /// Import into this PostgreSQL database instead of the data directory
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Also undo what differs from the file in its workspaces
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The backup
    pub file: PathBuf,
    /// A database, which is not backed up this way: the answer says how
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    pub store: Option<String>,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct RememberArgs {
    /// What to remember; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub content: String,
    /// Make it a fact at once
    #[arg(long)]
    pub fact: bool,
    #[arg(long)]
    pub channel: Option<String>,
    #[arg(long)]
    pub domain: Option<String>,
    #[arg(long)]
    pub topic: Option<String>,
    /// 0 to 1
    #[arg(long)]
    pub confidence: Option<f64>,
    /// The name of somebody or something that it is about; may be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub entities: Vec<String>,
    /// The id of the memory that this replaces
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<Uuid>,
    /// Store it even if the same was erased before
    #[arg(long)]
    pub revive: bool,
}

#[derive(Debug, Args)]
pub struct RecallArgs {
    /// A question or a few words
    pub query: String,
    #[arg(long, short = 'n')]
    pub limit: Option<usize>,
    /// Search this channel and `_global` only
    #[arg(long)]
    pub channel: Option<String>,
    /// What was true at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Search by these only: words, vectors, entities
    #[arg(long = "technique", value_name = "TECHNIQUE", value_enum)]
    pub techniques: Vec<TechniqueArg>,
    /// Say why each item is there
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum TechniqueArg {
    Words,
    Vectors,
    Entities,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    pub run_id: String,
    /// What the run ended with; `-` reads it from standard input
    pub text: String,
    #[arg(long)]
    pub outcome: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Show one
    Get { id: Uuid },
    /// Show many, newest first
    List {
        /// Only those with these words, best first
        #[arg(long, short)]
        query: Option<String>,
        #[arg(long)]
        channel: Option<String>,
        /// `memory` or `fact`
        #[arg(long)]
        kind: Option<String>,
        #[arg(long)]
        pinned: bool,
        /// Only those that were forgotten
        #[arg(long)]
        deleted: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Bring a forgotten one back
    Restore { id: Uuid },
    /// Replace its words, keeping the old ones for the record
    Supersede { id: Uuid, content: String },
    /// Move its weight
    #[command(allow_negative_numbers = true)]
    Weight { id: Uuid, delta: f64 },
    /// Pin it
    Pin { id: Uuid },
    /// Unpin it
    Unpin { id: Uuid },
    /// Often cited and not pinned
    RecommendedPins,
    /// Not cited within the retention window
    Stale {
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
    },
    /// Erase what is stale
    Purge {
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum EraseCommand {
    /// Erase its slots, where memories were seen in it, and its words in the audit
    Conversation { id: String },
    /// Erase what the user's tokens made, name and words in the audit; revoke the tokens
    User { name: String },
}

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

#[derive(Debug, Subcommand)]
pub enum ConversationCommand {
    /// Make one and print its id
    Create {
        /// A name of letters, digits, `.`, `_` and `-` [default: a UUID]
        id: Option<String>,
        #[arg(long)]
        channel: Option<String>,
        #[arg(long)]
        title: Option<String>,
    },
    /// Show many, newest first
    List {
        #[arg(long)]
        channel: Option<String>,
        /// Show those that are archived, too
        #[arg(long)]
        archived: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Keep something that was said, and print its index
    Say {
        conversation: String,
        /// `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        content: String,
        /// user, assistant, system, tool or any other name
        #[arg(long, default_value = "user")]
        role: String,
        #[arg(long)]
        speaker: Option<String>,
        /// Its place, so that it is kept once however often it is sent
        #[arg(long)]
        index: Option<i64>,
        /// When it was said [default: now]
        #[arg(long, value_name = "TIME")]
        at: Option<jiff::Timestamp>,
    },
    /// Roll old turns up into a summary, and delete them
    Summarize {
        conversation: String,
        /// So many of the newest stay in any case [default: 20]
        #[arg(long, value_name = "COUNT")]
        retain_last: Option<usize>,
        /// Only what is older than this goes [default: 30]
        #[arg(long, value_name = "DAYS")]
        max_age_days: Option<u32>,
    },
    /// Show the summaries of what was said earlier, newest first
    Episodes {
        conversation: String,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show what was said, in order
    Turns {
        conversation: String,
        /// The newest ones
        #[arg(long)]
        last: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum SlotCommand {
    /// Write one, whether or not it is there
    Set {
        conversation: String,
        slot: String,
        /// JSON such as '{"step": 2}' or '"a text"'; `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// How long it lives after it was last written or read [default: an hour]
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<u32>,
    },
    /// Show one
    Get { conversation: String, slot: String },
    /// Show all of a conversation
    List {
        conversation: String,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Delete one
    Delete { conversation: String, slot: String },
    /// Delete all of a conversation
    Clear { conversation: String },
}

#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Make one
    Create { name: String },
    /// Show all
    List,
    /// Delete one: hidden at once, or with --hard removed for good
    Delete {
        /// Its name, or its id
        name: String,
        #[arg(long)]
        hard: bool,
    },
    /// Show the settings, or change those given as JSON
    Settings {
        /// Such as '{"memory":{"retention_days":30}}'
        patch: Option<String>,
    },
    /// Switch memory on
    EnableMemory,
    /// Switch memory off
    DisableMemory,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make one and print it, this once
    Create {
        #[arg(long, value_name = "NAME")]
        workspace: Option<String>,
        /// `admin`, `member`, `agent` or any other name
        #[arg(long)]
        role: String,
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Which MCP tools it is shown: `agent` or `full`
        #[arg(long)]
        profile: Option<Profile>,
    },
    /// Show all
    List,
    /// Refuse one from now on
    Revoke { id: Uuid },
}

#[derive(Debug, Subcommand)]
pub enum DomainCommand {
    /// Show those that may be read, and what may be done in each
    List,
    /// Make one
    Create {
        name: String,
        /// What belongs into it
        #[arg(long)]
        description: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// Show all
    List,
    /// Set one, whether or not it is there
    Set {
        /// A role that a token has, or `*` for every role
        role: String,
        /// A domain, or `*` for every domain
        domain: String,
        permission: PermissionArg,
    },
    /// Remove one
    Remove { role: String, domain: String },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PermissionArg {
    /// As if the domain were empty
    None,
    /// Search and retrieve
    Read,
    /// Create and change as well
    Write,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Show those of the domains that may be read, newest first
    List(PolicyListArgs),
    /// Make one and print its id
    Create {
        /// What is to be obeyed; `-` reads it from standard input
        rule: String,
        #[arg(long)]
        domain: String,
        /// The id of a fact it derives from; may be given many times
        #[arg(long, value_name = "ID")]
        source: Vec<Uuid>,
        /// Reserve writing to the domain for this role
        #[arg(long, value_name = "ROLE")]
        required_role: Option<String>,
        /// Do not let it hold yet
        #[arg(long)]
        inactive: bool,
    },
    /// Change what is given
    Update {
        id: Uuid,
        /// `-` reads it from standard input
        #[arg(long)]
        rule: Option<String>,
        /// Instead of the facts it derived from; may be given many times
        #[arg(long, value_name = "ID")]
        source: Vec<Uuid>,
        #[arg(long, value_name = "ROLE", conflicts_with = "no_required_role")]
        required_role: Option<String>,
        /// Let every role write again
        #[arg(long)]
        no_required_role: bool,
        /// Switch it on or off
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
    },
}

#[derive(Debug, Args)]
pub struct PolicyListArgs {
    #[arg(long)]
    pub domain: Option<String>,
    /// Only those that hold (true), or only those that do not (false)
    #[arg(long, value_name = "BOOL")]
    pub active: Option<bool>,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Show those that are open, newest first
    List {
        /// Show those that are decided instead
        #[arg(long)]
        decided: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Decide one
    Resolve { id: Uuid, decision: DecisionArg },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "they are spelled as on the wire")]
pub enum DecisionArg {
    /// The new memory replaces the old one
    KeepNew,
    /// The old memory replaces the new one
    KeepOld,
    /// Both hold
    KeepBoth,
}

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// Show the jobs and how their last runs went
    List,
    /// Run one now
    Run {
        name: String,
        /// Change nothing, and say how much would have been changed
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// One operation, such as memory.create, or a noun for all that is done with it
    #[arg(long)]
    pub operation: Option<String>,
    #[arg(long)]
    pub role: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    #[arg(long)]
    pub channel: Option<String>,
    /// Only what was refused or failed
    #[arg(long)]
    pub failed: bool,
    /// Not before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Prepare a database for servers of this version; may be repeated
    Setup {
        /// Its address as its owner, who may create roles
        #[arg(long, env = "MNEMIC_OWNER_STORE", hide_env_values = true, value_name = "URL")]
        store: String,
        /// Give the servers' user another password
        #[arg(long)]
        new_password: bool,
    },
}
