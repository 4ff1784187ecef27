//! What the commands about backups take.

use std::path::PathBuf;

use clap::Args;

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
