//! What the commands about scratchpads take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ScratchpadCommand {
    /// Show what an agent has written down; needs that agent's token
    Read { agent: String },
    /// Replace what an agent has written down; needs that agent's token
    Write {
        agent: String,
        /// `-` reads it from standard input; an empty one clears it
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// Only if this is the present revision
        #[arg(long)]
        revision: Option<i64>,
    },
}
