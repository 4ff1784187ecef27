//! What the commands about the audit take.

use clap::Args;

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
