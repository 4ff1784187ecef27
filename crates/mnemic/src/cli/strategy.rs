//! What the commands about strategies take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum StrategyCommand {
    /// Write one down, or count the one that is there, and print its id
    Learn(StrategyArgs),
    /// Find those for a task, best first
    Find {
        /// The task, in words
        task: String,
        #[arg(long)]
        channel: Option<String>,
        #[arg(long, short = 'n')]
        limit: Option<usize>,
    },
    /// Say whether it worked
    Reinforce {
        id: Uuid,
        /// It did not
        #[arg(long)]
        failed: bool,
    },
    /// Hide one that is wrong
    Forget { id: Uuid },
}

#[derive(Debug, Args)]
pub struct StrategyArgs {
    /// What to do; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub description: String,
    /// When it is to be used, in words
    #[arg(long, value_name = "TEXT")]
    pub context: Option<String>,
    /// A tool that it takes; may be repeated, in order
    #[arg(long = "tool", value_name = "NAME")]
    pub tools: Vec<String>,
    /// It did not work this time
    #[arg(long)]
    pub failed: bool,
    #[arg(long)]
    pub channel: Option<String>,
    #[arg(long)]
    pub domain: Option<String>,
}
