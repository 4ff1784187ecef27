//! What the commands about metrics take. A metric is named by its id or by its name.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum MetricCommand {
    /// Show them by name, the built-in ones among them
    List {
        /// Only those that are measured every night (true), or only those that are not (false)
        #[arg(long, value_name = "BOOL")]
        active: Option<bool>,
        #[arg(long)]
        limit: Option<usize>,
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Make one and print its id
    Create {
        name: String,
        #[command(flatten)]
        definition: DefinitionArgs,
    },
    /// Say what one would come to now, without making it
    Preview {
        #[command(flatten)]
        definition: DefinitionArgs,
    },
    /// Change what is given; of a built-in one, `--active` and `--window-days` alone
    Update(MetricUpdateArgs),
    /// Delete one with its benchmarks; a built-in one is switched off instead
    Delete { metric: String },
}

#[derive(Debug, Args)]
pub struct DefinitionArgs {
    /// What a sequence has to be like, such as "outcome == 'success' and action_count < 12"
    #[arg(long = "condition", value_name = "CONDITION")]
    pub success_condition: String,
    #[arg(long, value_enum, default_value = "rate")]
    pub aggregation: AggregationArg,
    #[command(flatten)]
    pub filter: FilterArgs,
    /// How many days back it looks; 7 if absent
    #[arg(long, value_name = "DAYS")]
    pub window_days: Option<u32>,
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
}

#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Only sequences with an action of this type; may be given many times
    #[arg(long = "action-type", value_name = "TYPE")]
    pub action_types: Vec<String>,
    /// Only sequences with an action on a node of this type; may be given many times
    #[arg(long = "node-type", value_name = "TYPE")]
    pub node_types: Vec<String>,
}

#[derive(Debug, Args)]
pub struct MetricUpdateArgs {
    pub metric: String,
    #[arg(long)]
    pub name: Option<String>,
    #[arg(long = "condition", value_name = "CONDITION")]
    pub success_condition: Option<String>,
    #[arg(long, value_enum)]
    pub aggregation: Option<AggregationArg>,
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Look at all sequences again
    #[arg(long, conflicts_with_all = ["action_types", "node_types"])]
    pub no_filter: bool,
    #[arg(long, value_name = "DAYS")]
    pub window_days: Option<u32>,
    #[arg(long, value_name = "TEXT", conflicts_with = "no_description")]
    pub description: Option<String>,
    #[arg(long)]
    pub no_description: bool,
    /// Switch it on or off
    #[arg(long, value_name = "BOOL")]
    pub active: Option<bool>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum AggregationArg {
    /// The share of sequences that meet the condition
    Rate,
    /// The mean number of actions of those
    Average,
    /// The number of actions that 95 of 100 of those do not exceed
    P95,
}
