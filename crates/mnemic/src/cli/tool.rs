//! What the commands about tools take.

use clap::{Args, Subcommand};
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// Report a call and print its id
    Record(InvocationArgs),
    /// Show how often each was called, how often that worked and how long it took
    List {
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct InvocationArgs {
    /// The tool's name
    pub tool: String,
    /// It did not work
    #[arg(long)]
    pub failed: bool,
    /// How long it took
    #[arg(long, value_name = "MILLISECONDS")]
    pub latency: Option<i64>,
    /// What went wrong
    #[arg(long, value_name = "TEXT")]
    pub error: Option<String>,
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// Your own id of the call, so that it counts once however often it is reported
    #[arg(long)]
    pub id: Option<Uuid>,
}
