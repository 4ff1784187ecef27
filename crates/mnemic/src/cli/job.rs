//! What the commands about jobs take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum JobsCommand {
    /// Show the jobs and how their last runs went
    List,
    /// Run one now
    Run {
        name: String,
        /// Change nothing, and say how much would have been changed
        #[arg(long)]
        dry_run: bool,
    },
}
