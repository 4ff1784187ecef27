//! What the command about the timeline takes.

use clap::Args;

#[derive(Debug, Args)]
pub struct TimelineArgs {
    #[arg(long)]
    pub channel: Option<String>,
    /// learned, promoted, superseded, forgotten, restored; or memory, fact, strategy
    #[arg(long = "type", value_name = "TYPE")]
    pub word: Option<String>,
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
