//! What the commands about slots take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum SlotCommand {
    /// Write one, whether or not it is there
    Set {
        conversation: String,
        slot: String,
        /// JSON such as '{"step": 2}' or '"a text"'; `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// How long it lives after it was last written or read [default: an hour]
        #[arg(long, value_name = "SECONDS")]
        ttl: Option<u32>,
    },
    /// Show one
    Get { conversation: String, slot: String },
    /// Show all of a conversation
    List {
        conversation: String,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Delete one
    Delete { conversation: String, slot: String },
    /// Delete all of a conversation
    Clear { conversation: String },
}
