//! What the commands about sessions take.

use clap::Subcommand;
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Show what it has at hand: recent turns, context values, thoughts, the goal pursued
    Show {
        conversation: String,
        /// How many of the newest turns [default: 10]
        #[arg(long)]
        turns: Option<usize>,
    },
    /// Keep a context value
    Put {
        conversation: String,
        key: String,
        /// JSON such as '{"step": 2}' or '"a text"'; `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// How long it lives after it was last written or read [default: an hour]
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<u32>,
    },
    /// Add a thought behind the others
    Think { conversation: String, text: String },
    /// Say which goal is pursued; without one, none is any more
    Goal { conversation: String, goal: Option<Uuid> },
}
