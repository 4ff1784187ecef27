//! What the commands about conversations take.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ConversationCommand {
    /// Make one and print its id
    Create {
        /// A name of letters, digits, `.`, `_` and `-` [default: a UUID]
        id: Option<String>,
        #[arg(long)]
        channel: Option<String>,
        #[arg(long)]
        title: Option<String>,
        /// Make it although it was erased
        #[arg(long)]
        revive: bool,
    },
    /// Show many, newest first
    List {
        #[arg(long)]
        channel: Option<String>,
        /// Show those that are archived, too
        #[arg(long)]
        archived: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Keep something that was said, and print its index
    Say {
        conversation: String,
        /// `-` reads it from standard input
        #[arg(allow_hyphen_values = true)]
        content: String,
        /// user, assistant, system, tool or any other name
        #[arg(long, default_value = "user")]
        role: String,
        #[arg(long)]
        speaker: Option<String>,
        /// Its place, so that it is kept once however often it is sent
        #[arg(long)]
        index: Option<i64>,
        /// When it was said [default: now]
        #[arg(long, value_name = "TIME")]
        at: Option<jiff::Timestamp>,
        /// Keep it although it, or its conversation, was erased
        #[arg(long)]
        revive: bool,
    },
    /// Roll old turns up into a summary, and delete them
    Summarize {
        conversation: String,
        /// So many of the newest stay in any case [default: 20]
        #[arg(long, value_name = "COUNT")]
        retain_last: Option<usize>,
        /// Only what is older than this goes [default: 30]
        #[arg(long, value_name = "DAYS")]
        max_age_days: Option<u32>,
    },
    /// Show the summaries of what was said earlier, newest first
    Episodes {
        conversation: String,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show what was said, in order
    Turns {
        conversation: String,
        /// The newest ones
        #[arg(long)]
        last: bool,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
}
