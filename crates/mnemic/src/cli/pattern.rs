//! What the commands about patterns take.

use clap::{Args, Subcommand, ValueEnum};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum PatternCommand {
    /// Show many
    List(PatternListArgs),
    /// Show one with what telling it does
    Show { id: Uuid },
    /// Write a note that is told with it, however unsure it is
    Annotate {
        id: Uuid,
        /// Told behind the recommendation; `-` reads it from standard input
        #[arg(allow_hyphen_values = true, required_unless_present_any = ["recommendation", "clear"])]
        annotation: Option<String>,
        /// Told instead of what the figures say
        #[arg(long, value_name = "TEXT")]
        recommendation: Option<String>,
        /// Take all notes away
        #[arg(long, conflicts_with_all = ["annotation", "recommendation"])]
        clear: bool,
    },
    /// Keep it, and tell it to nobody
    Suppress {
        id: Uuid,
        /// Tell it again
        #[arg(long)]
        undo: bool,
    },
}

#[derive(Debug, Args)]
pub struct PatternListArgs {
    #[arg(long, value_name = "TYPE")]
    pub action: Option<String>,
    #[arg(long, value_name = "TYPE")]
    pub node_type: Option<String>,
    /// Patterns of failures alone
    #[arg(long, conflicts_with = "successes")]
    pub failures: bool,
    /// Patterns of successes alone
    #[arg(long)]
    pub successes: bool,
    /// Those that were superseded or have faded away, too
    #[arg(long)]
    pub past: bool,
    /// What comes first
    #[arg(long, value_enum, default_value = "newest")]
    pub sort: PatternSortArg,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PatternSortArg {
    Newest,
    Confidence,
    Samples,
    LastSeen,
}

impl PatternSortArg {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Confidence => "confidence",
            Self::Samples => "samples",
            Self::LastSeen => "last_seen",
        }
    }
}

#[derive(Debug, Args)]
pub struct InjectArgs {
    /// The action that is about to be taken
    #[arg(long, value_name = "TYPE")]
    pub action: Option<String>,
    /// A node that it will be about; may be repeated
    #[arg(long, value_name = "ID")]
    pub node: Vec<Uuid>,
    /// A type of such nodes; may be repeated
    #[arg(long, value_name = "TYPE")]
    pub node_type: Vec<String>,
    /// The run that asks, as its actions will name it
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}
