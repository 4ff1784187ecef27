//! What the commands about user profiles take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show one
    Get { user: String },
    /// Merge into one, which is made if need be
    Update {
        user: String,
        /// Such as '{"preferences": {"units": "metric", "theme": null}}'; `-` reads it from
        /// standard input
        patch: String,
    },
}
