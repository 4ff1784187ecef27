//! What the commands about goals take.

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum GoalCommand {
    /// Add one and print its id
    Add(GoalArgs),
    /// Show one with its parent, its parts and what waits for it
    Get { id: Uuid },
    /// Show many, newest first
    List {
        #[arg(long)]
        status: Option<GoalStatusArg>,
        #[arg(long)]
        channel: Option<String>,
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Change an open one by a JSON object of the fields to change
    Update {
        id: Uuid,
        /// Such as '{"priority": 5, "parent_id": null}'
        patch: String,
    },
    /// Say that it is done; what waited for it alone goes on
    Complete {
        id: Uuid,
        /// What came of it; `-` reads it from standard input
        #[arg(long)]
        result: Option<String>,
        /// It is given up instead
        #[arg(long)]
        abandoned: bool,
    },
}

#[derive(Debug, Args)]
pub struct GoalArgs {
    /// What is to be achieved; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub description: String,
    /// From -1000 to 1000, the greater the more urgent
    #[arg(long, allow_negative_numbers = true)]
    pub priority: Option<i64>,
    /// RFC 3339
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<jiff::Timestamp>,
    /// The goal that it is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<Uuid>,
    /// A goal that it waits for; may be repeated
    #[arg(long, value_name = "ID")]
    pub blocked_by: Vec<Uuid>,
    #[arg(long)]
    pub channel: Option<String>,
    /// The conversation that it is set in
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum GoalStatusArg {
    Active,
    Blocked,
    Completed,
    Abandoned,
}

impl GoalStatusArg {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
        }
    }
}
