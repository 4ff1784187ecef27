//! What the commands about tokens take.

use clap::Subcommand;
use mnemic_core::principal::Profile;
use uuid::Uuid;

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
