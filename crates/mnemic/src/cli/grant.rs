//! What the commands about grants take.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// Show all
    List,
    /// Set one, whether or not it is there
    Set {
        /// A role that a token has, or `*` for every role
        role: String,
        /// A domain, or `*` for every domain
        domain: String,
        permission: PermissionArg,
    },
    /// Remove one
    Remove { role: String, domain: String },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PermissionArg {
    /// As if the domain were empty
    None,
    /// Search and retrieve
    Read,
    /// Create and change as well
    Write,
}
