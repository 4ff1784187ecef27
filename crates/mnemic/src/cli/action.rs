//! What the commands about actions and sequences take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum ActionCommand {
    /// Report what an agent did and print its id
    Add(ActionArgs),
    /// Show what agents did, the latest first
    List(ActionListArgs),
}

#[derive(Debug, Args)]
pub struct ActionArgs {
    /// Its type, such as the name of a tool; `-` reads actions as JSON, one a line, from standard
    /// input
    pub action_type: String,
    /// The session that it is part of; needed unless actions are read from standard input
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The type of what it was about
    #[arg(long, value_name = "TYPE")]
    pub node_type: Option<String>,
    /// A record that it was about; may be given several times
    #[arg(long = "node", value_name = "ID")]
    pub nodes: Vec<Uuid>,
    /// It failed, and how; only the class of the error is kept
    #[arg(long, value_name = "ERROR", num_args = 0..=1, default_missing_value = "")]
    pub failed: Option<String>,
    #[arg(long, value_name = "MILLISECONDS")]
    pub latency: Option<i64>,
    /// When it happened (RFC 3339); now, if absent
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Your own id of it, so that it counts once however often it is reported
    #[arg(long)]
    pub id: Option<Uuid>,
}

#[derive(Debug, Args)]
pub struct ActionListArgs {
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[arg(long = "type", value_name = "TYPE")]
    pub action_type: Option<String>,
    #[arg(long, value_name = "TYPE")]
    pub node_type: Option<String>,
    /// Only what was about this record
    #[arg(long, value_name = "ID")]
    pub node: Option<Uuid>,
    #[arg(long)]
    pub outcome: Option<OutcomeArg>,
    #[arg(long, value_name = "CODE")]
    pub error: Option<String>,
    #[arg(long, value_name = "ID")]
    pub sequence: Option<Uuid>,
    /// Not before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum SequenceCommand {
    /// Show what agents did in one go, the latest first
    List(SequenceListArgs),
    /// Find past runs like one that is about to begin, and how they ended, best first
    Search {
        /// What is about to be done, in words or as names of actions
        query: String,
        #[arg(long)]
        limit: Option<usize>,
    },
}

#[derive(Debug, Args)]
pub struct SequenceListArgs {
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// With an action of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub action_type: Option<String>,
    #[arg(long, value_name = "TYPE")]
    pub node_type: Option<String>,
    #[arg(long, value_name = "CODE")]
    pub error: Option<String>,
    #[arg(long)]
    pub outcome: Option<OutcomeArg>,
    /// Last action not before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Last action before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[arg(long)]
    pub limit: Option<usize>,
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OutcomeArg {
    Success,
    Failure,
}

impl OutcomeArg {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}
