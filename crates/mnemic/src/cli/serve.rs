//! What the commands about serving take.

use clap::Args;

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
