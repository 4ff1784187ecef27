//! What the commands about workspaces take.

use clap::Subcommand;

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
