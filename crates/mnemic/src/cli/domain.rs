//! What the commands about domains take.

use clap::Subcommand;

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
