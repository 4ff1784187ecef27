//! What the commands about contradictions take.

use clap::{Subcommand, ValueEnum};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Show those that are open, newest first
    List {
        /// Show those that are decided instead
        #[arg(long)]
        decided: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Decide one
    Resolve { id: Uuid, decision: DecisionArg },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "these are the words of the command line")]
pub enum DecisionArg {
    /// The new memory replaces the old one
    KeepNew,
    /// The old memory replaces the new one
    KeepOld,
    /// Both hold
    KeepBoth,
}
