//! What the commands about memories take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Args)]
pub struct RememberArgs {
    /// What to remember; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    pub content: String,
    /// Make it a fact at once
    #[arg(long)]
    pub fact: bool,
    #[arg(long)]
    pub channel: Option<String>,
    #[arg(long)]
    pub domain: Option<String>,
    #[arg(long)]
    pub topic: Option<String>,
    /// 0 to 1
    #[arg(long)]
    pub confidence: Option<f64>,
    /// The name of somebody or something that it is about; may be repeated
    #[arg(long = "entity", value_name = "NAME")]
    pub entities: Vec<String>,
    /// The id of the memory that this replaces
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<Uuid>,
    /// Store it even if the same was erased before
    #[arg(long)]
    pub revive: bool,
}

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Show one
    Get { id: Uuid },
    /// Show many, newest first
    List {
        /// Only those with these words, best first
        #[arg(long, short)]
        query: Option<String>,
        #[arg(long)]
        channel: Option<String>,
        /// `memory` or `fact`
        #[arg(long)]
        kind: Option<String>,
        #[arg(long)]
        pinned: bool,
        /// Only those that were forgotten
        #[arg(long)]
        deleted: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Bring a forgotten one back
    Restore { id: Uuid },
    /// Replace its words, keeping the old ones for the record
    Supersede { id: Uuid, content: String },
    /// Move its weight
    #[command(allow_negative_numbers = true)]
    Weight { id: Uuid, delta: f64 },
    /// Pin it
    Pin { id: Uuid },
    /// Unpin it
    Unpin { id: Uuid },
    /// Often cited and not pinned
    RecommendedPins,
    /// Not cited within the retention window
    Stale {
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
    },
    /// Erase what is stale
    Purge {
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        #[arg(long)]
        dry_run: bool,
    },
}
