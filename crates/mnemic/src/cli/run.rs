//! What the commands about runs take.

use clap::Args;

#[derive(Debug, Args)]
pub struct RunArgs {
    pub run_id: String,
    /// What the run ended with; `-` reads it from standard input
    pub text: String,
    #[arg(long)]
    pub outcome: Option<String>,
}
