//! What the commands about contexts and answers take.

use clap::Args;

#[derive(Debug, Args)]
pub struct ContextArgs {
    /// What is about to be answered or done
    pub query: Option<String>,
    /// The conversation that goes on
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// Searched together with `_global` [default: every channel]
    #[arg(long)]
    pub channel: Option<String>,
    /// The most tokens of the text [default: 2000]
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<usize>,
}

#[derive(Debug, Args)]
pub struct AskArgs {
    pub question: String,
    /// Searched together with `_global` [default: every channel]
    #[arg(long)]
    pub channel: Option<String>,
}
