//! What the commands about language models take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Show which model serves, whether it has a key, and how it is
    Show,
    /// Keep the key to the workspace's own model, encrypted; it is read from standard input
    SetKey,
    /// Forget the key
    DeleteKey,
}
