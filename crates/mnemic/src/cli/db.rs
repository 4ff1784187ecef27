//! What the commands about databases take.

use clap::Subcommand;

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
