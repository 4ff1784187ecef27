//! What the commands about moving a store take.

use clap::Args;

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
