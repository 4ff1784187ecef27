//! The command line: one file per noun says what its commands take; this one, which there are.

mod action;
mod archive;
mod audit;
mod backup;
mod context;
mod conversation;
mod db;
mod domain;
mod erase;
mod goal;
mod grant;
mod job;
mod memory;
mod migrate;
mod model;
mod ontology;
mod pattern;
mod policy;
mod profile;
mod recall;
mod review;
mod run;
mod scratchpad;
mod serve;
mod slot;
mod strategy;
mod timeline;
mod token;
mod tool;
mod workspace;

use clap::{Parser, Subcommand};
use uuid::Uuid;

pub use action::{ActionArgs, ActionCommand, ActionListArgs, SequenceCommand, SequenceListArgs};
pub use archive::{ExportArgs, ImportArgs};
pub use audit::AuditArgs;
pub use backup::BackupArgs;
pub use context::{AskArgs, ContextArgs};
pub use conversation::ConversationCommand;
pub use db::DbCommand;
pub use domain::DomainCommand;
pub use erase::EraseCommand;
pub use goal::{GoalArgs, GoalCommand};
pub use grant::{GrantCommand, PermissionArg};
pub use job::JobsCommand;
pub use memory::{MemoryCommand, RememberArgs};
pub use migrate::MigrateArgs;
pub use model::ModelCommand;
pub use ontology::{DirectionArg, NodeArgs, OntologyCommand, SplitArgs, TraverseArgs};
pub use pattern::{InjectArgs, PatternCommand, PatternListArgs};
pub use policy::{PolicyCommand, PolicyListArgs};
pub use profile::ProfileCommand;
pub use recall::{RecallArgs, TechniqueArg};
pub use review::{DecisionArg, ReviewCommand};
pub use run::RunArgs;
pub use scratchpad::ScratchpadCommand;
pub use serve::ServeArgs;
pub use slot::SlotCommand;
pub use strategy::StrategyCommand;
pub use timeline::TimelineArgs;
pub use token::TokenCommand;
pub use tool::ToolCommand;
pub use workspace::WorkspaceCommand;

use crate::commands::BenchArgs;
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
    /// Answer a question from memory, with citations
    Ask(AskArgs),
    /// Assemble what an agent should read before it answers
    Context(ContextArgs),
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
    /// Add, read and finish goals
    #[command(subcommand)]
    Goal(GoalCommand),
    /// Learn, find and reinforce ways of doing something
    #[command(subcommand)]
    Strategy(StrategyCommand),
    /// Report calls of tools and show their figures
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Show what tends to happen when agents act, and annotate or suppress it
    #[command(subcommand)]
    Pattern(PatternCommand),
    /// Print what to know before an action
    Inject(InjectArgs),
    /// Report and show what agents did
    #[command(subcommand)]
    Action(ActionCommand),
    /// Show what agents did in one go
    #[command(subcommand)]
    Sequence(SequenceCommand),
    /// Read and change the profiles of users
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Read and write what an agent keeps for itself
    #[command(subcommand)]
    Scratchpad(ScratchpadCommand),
    /// Show what was learned, promoted, replaced and forgotten
    Timeline(TimelineArgs),
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
    /// Show the language model of the workspace, and set the key to it
    #[command(subcommand)]
    Model(ModelCommand),
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
    /// Read an export of mnemic, or what mem0, Graphiti, server-memory, ChatGPT or
    /// Claude exported
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
