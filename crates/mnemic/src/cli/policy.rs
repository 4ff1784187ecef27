//! What the commands about policies take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Show those of the domains that may be read, newest first
    List(PolicyListArgs),
    /// Make one and print its id
    Create {
        /// What is to be obeyed; `-` reads it from standard input
        rule: String,
        #[arg(long)]
        domain: String,
        /// The id of a fact it derives from; may be given many times
        #[arg(long, value_name = "ID")]
        source: Vec<Uuid>,
        /// Reserve writing to the domain for this role
        #[arg(long, value_name = "ROLE")]
        required_role: Option<String>,
        /// Do not let it hold yet
        #[arg(long)]
        inactive: bool,
    },
    /// Change what is given
    Update {
        id: Uuid,
        /// `-` reads it from standard input
        #[arg(long)]
        rule: Option<String>,
        /// Instead of the facts it derived from; may be given many times
        #[arg(long, value_name = "ID")]
        source: Vec<Uuid>,
        #[arg(long, value_name = "ROLE", conflicts_with = "no_required_role")]
        required_role: Option<String>,
        /// Let every role write again
        #[arg(long)]
        no_required_role: bool,
        /// Switch it on or off
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
    },
}

#[derive(Debug, Args)]
pub struct PolicyListArgs {
    #[arg(long)]
    pub domain: Option<String>,
    /// Only those that hold (true), or only those that do not (false)
    #[arg(long, value_name = "BOOL")]
    pub active: Option<bool>,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}
