//! What the commands about erasure take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum EraseCommand {
    /// Erase its slots, where memories were seen in it, and its words in the audit
    Conversation { id: String },
    /// Erase what the user's tokens made, name and words in the audit; revoke the tokens
    User { name: String },
}
