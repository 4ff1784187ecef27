//! What the commands about recall take.

use clap::Args;
use mnemic_core::recall::{Feature, Technique};
use mnemic_server::wire::recall::IncludeWire;

#[derive(Debug, Args)]
pub struct RecallArgs {
    /// A question or a few words
    pub query: String,
    #[arg(long, short = 'n')]
    pub limit: Option<usize>,
    /// Search this channel and `_global` only
    #[arg(long)]
    pub channel: Option<String>,
    /// Of what was said, search this conversation only
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// The user that is served: their profile is told
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// What was true at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<String>,
    /// Only these parts of the answer, separated by commas or repeated
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    pub include: Vec<IncludeArg>,
    /// Search by these only: words, vectors, entities
    #[arg(long = "technique", value_name = "TECHNIQUE", value_enum)]
    pub techniques: Vec<TechniqueArg>,
    /// Weigh turns and memories without these features, such as speaker or pieces
    #[arg(long, value_name = "FEATURE", value_delimiter = ',')]
    pub without: Vec<Feature>,
    /// Ask the workspace's language model first what to look for
    #[arg(long)]
    pub expand: bool,
    /// Say why each item is there
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum IncludeArg {
    Memories,
    Turns,
    Entities,
    Strategies,
    Goals,
    Policies,
    Patterns,
}

impl From<IncludeArg> for IncludeWire {
    fn from(named: IncludeArg) -> Self {
        match named {
            IncludeArg::Memories => Self::Memories,
            IncludeArg::Turns => Self::Turns,
            IncludeArg::Entities => Self::Entities,
            IncludeArg::Strategies => Self::Strategies,
            IncludeArg::Goals => Self::Goals,
            IncludeArg::Policies => Self::Policies,
            IncludeArg::Patterns => Self::Patterns,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TechniqueArg {
    Words,
    Vectors,
    Entities,
}

impl From<TechniqueArg> for Technique {
    fn from(named: TechniqueArg) -> Self {
        match named {
            TechniqueArg::Words => Self::Words,
            TechniqueArg::Vectors => Self::Vectors,
            TechniqueArg::Entities => Self::Entities,
        }
    }
}
