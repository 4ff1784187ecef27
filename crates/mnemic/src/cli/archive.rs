//! What the commands about exports and imports take.

use std::path::PathBuf;

use clap::Args;

use crate::commands::Format;

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
