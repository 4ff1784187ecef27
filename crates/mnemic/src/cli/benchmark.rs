//! What the commands about benchmarks take. A metric is named by its id or by its name.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum BenchmarkCommand {
    /// Show what a metric came to from day to day, the latest first
    List {
        metric: String,
        /// Not before this day, such as 2026-11-01
        #[arg(long, value_name = "DAY")]
        since: Option<String>,
        /// Not behind this day
        #[arg(long, value_name = "DAY")]
        until: Option<String>,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Measure two metrics side by side, or one over two windows
    Compare {
        /// One with two windows, or two
        #[arg(num_args = 1..=2, required = true)]
        metric: Vec<String>,
        /// Two times (RFC 3339) with a slash between them; twice for one metric, at most once for
        /// two
        #[arg(long = "window", value_name = "SINCE/UNTIL", value_parser = window)]
        windows: Vec<(String, String)>,
    },
}

fn window(text: &str) -> Result<(String, String), String> {
    let (since, until) =
        text.split_once('/').ok_or("must be two times with a slash between them")?;
    Ok((since.to_owned(), until.to_owned()))
}
