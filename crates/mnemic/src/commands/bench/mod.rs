//! `mnemic bench`: the figures that this project promises, measured by anyone on any machine.
//!
//! Machines differ and are busy, so what is promised is a ratio wherever possible, both sides
//! measured by turns in one run. Each bench says what was promised and whether it was kept.

mod audit;
mod beir;
mod capture;
mod context;
mod embed;
mod fit;
mod interval;
mod lab;
mod line;
mod listwise;
mod load;
mod locomo;
mod longmemeval;
mod migrate;
mod probe;
mod ranking;
mod report;
mod score;
mod source;
mod speed;
mod stage;
mod start;
mod talk;
mod telemetry;
mod traverse;
mod writes;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use mnemic_core::recall::Feature;

use crate::cli::TechniqueArg;
use crate::config::CommonArgs;

/// The search index is measured beside its code, and so is the embedding model against another
/// library: `cargo bench -p mnemic-recall` and `cargo bench -p mnemic-models`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    bench: Bench,
    /// Fail if a target is missed
    #[arg(long, global = true)]
    check: bool,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Recall over HTTP against the embedding of the same query alone, and by many at once
    Speed(SpeedArgs),
    /// From the start of a process to its first answer
    Start(StartArgs),
    /// Durable creates: many callers against one
    Writes(WritesArgs),
    /// The same requests with and without the audit
    Audit(AuditBenchArgs),
    /// A two-hop walk through a large graph against one lookup by key
    Traverse(TraverseArgs),
    /// A store moved into a database and back against a plain COPY of the same rows
    Migrate(MigrateArgs),
    /// How much of the evidence of LoCoMo's questions recall finds
    Locomo(LocomoArgs),
    /// How well recall ranks a collection of documents, against words alone and plain fusion
    Beir(BeirArgs),
    /// How much of the evidence of LongMemEval's questions recall finds
    Longmemeval(LongmemevalArgs),
    /// Fit the weights of turns anew, and measure them on talks that they were not fitted to
    Fit(FitArgs),
    /// The assembled context against the embedding of its query alone
    Context(RecallArgs),
    /// Calls that are captured as actions against the same that are not
    Capture(RecallArgs),
    /// Mining what is new against mining all, and a capture against a bare insert
    Telemetry(TelemetryArgs),
    /// Embedding in floating point and in small integers against the matrix products alone
    Embed(EmbedArgs),
}

#[derive(Debug, Args)]
struct StoreArgs {
    /// How many made-up memories the store holds
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Keep the store here and use it again [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct RecallArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// How many queries are asked
    #[arg(long, default_value_t = 300)]
    queries: usize,
}

#[derive(Debug, Args)]
struct SpeedArgs {
    /// How many items there are, half of them made-up memories and half turns of talks
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// How many queries one reader asks
    #[arg(long, default_value_t = 300)]
    queries: usize,
    /// How many readers ask at once, beside one that writes
    #[arg(long, default_value_t = 16)]
    readers: usize,
    /// How many queries each of them asks
    #[arg(long, default_value_t = 60)]
    each: usize,
    /// Measure in a new workspace of this PostgreSQL database, as prepared by `db setup`
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// Keep the embedded store here and use it again [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct StartArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// How many processes are started, one after the other
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

#[derive(Debug, Args)]
struct WritesArgs {
    /// How many callers write at the same time
    #[arg(long, default_value_t = 64)]
    callers: usize,
    /// How long each round lasts
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// How many rounds each has
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where the store is made [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct AuditBenchArgs {
    /// How many requests of each kind are measured at each level
    #[arg(long, default_value_t = 1_000)]
    rounds: usize,
    /// Measure in a new workspace of this PostgreSQL database, as prepared by `db setup`
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// Where the embedded store is made [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct TraverseArgs {
    /// How many edges the graph has
    #[arg(long, default_value_t = 1_000_000)]
    edges: usize,
    /// How many walks are measured
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Measure in a new workspace of this PostgreSQL database, as prepared by `db setup`
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// Where the embedded store is made [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct TelemetryArgs {
    /// How many actions there are
    #[arg(long, default_value_t = 1_000_000)]
    actions: usize,
    /// How many more come then
    #[arg(long, default_value_t = 1_000)]
    more: usize,
    /// How many captures are measured
    #[arg(long, default_value_t = 500)]
    rounds: usize,
    /// Measure in a new workspace of this PostgreSQL database, as prepared by `db setup`
    #[arg(long, env = "MNEMIC_STORE", hide_env_values = true, value_name = "URL")]
    store: Option<String>,
    /// Where the embedded store is made [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct MigrateArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// A database that `db setup` has prepared and nobody uses; it is left empty
    #[arg(
        long = "store",
        env = "MNEMIC_STORE",
        hide_env_values = true,
        value_name = "URL",
        id = "database"
    )]
    database: String,
    /// Measure a COPY into tables with the same indexes, too
    #[arg(long)]
    indexed: bool,
}

#[derive(Debug, Args)]
struct EmbedArgs {
    /// How often a query is measured; longer texts less often
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// Compare the vectors of these texts, one on each line [default: texts of many kinds]
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
}

/// What the benches of retrieval share.
#[derive(Debug, Args)]
struct RankingArgs {
    /// Write the ranking of each question to this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Score the rankings of this file, in the form of a dump, and recall nothing; further files are
    /// compared with the first
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dump", "techniques", "dir"])]
    rankings: Vec<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
}

/// What is searched, and by what.
#[derive(Debug, Args)]
struct SearchArgs {
    /// Keep the store here and use it again [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Search by these only; words alone need no model
    #[arg(long, value_name = "TECHNIQUE", value_delimiter = ',', value_enum)]
    techniques: Vec<TechniqueArg>,
}

/// What rankings are compared without.
#[derive(Debug, Args)]
struct AblationArgs {
    /// Rank without these features, too, and compare
    #[arg(long, value_name = "FEATURE", value_delimiter = ',')]
    without: Vec<Feature>,
    /// Rank without each feature in turn, and compare
    #[arg(long)]
    ablate: bool,
}

#[derive(Debug, Args)]
struct LocomoArgs {
    /// The folder with turns.jsonl and questions.jsonl
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    ablation: AblationArgs,
    /// Measure a PostgreSQL database, as prepared by `db setup`, too, and compare
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// How many turns are asked for
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

#[derive(Debug, Args)]
struct FitArgs {
    /// The folder with turns.jsonl and questions.jsonl
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Other talks in that form: nothing is fitted to them, and the fitted weights are tried on them
    #[arg(long, value_name = "DIR")]
    also: Vec<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
}

#[derive(Debug, Args)]
struct BeirArgs {
    /// The folder with corpus.jsonl, queries.jsonl and qrels/test.tsv
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    ablation: AblationArgs,
    /// Ask so many queries only
    #[arg(long, value_name = "N")]
    queries: Option<usize>,
    /// Store so many documents only; those that a query was judged by are always among them
    #[arg(long, value_name = "N")]
    documents: Option<usize>,
}

#[derive(Debug, Args)]
struct LongmemevalArgs {
    /// The file of questions with their histories
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    #[command(flatten)]
    ranking: RankingArgs,
    /// Ask so many questions only
    #[arg(long, value_name = "N")]
    questions: Option<usize>,
}

impl SearchArgs {
    fn needs_model(&self) -> bool {
        self.techniques.is_empty() || self.techniques.iter().any(|it| *it != TechniqueArg::Words)
    }
}

pub async fn run(common: &CommonArgs, args: &BenchArgs) -> Result<()> {
    let report = match &args.bench {
        Bench::Speed(args) => speed::run(common, args).await?,
        Bench::Start(args) => start::run(common, args).await?,
        Bench::Writes(args) => writes::run(common, args).await?,
        Bench::Audit(args) => audit::run(common, args).await?,
        Bench::Traverse(args) => traverse::run(common, args).await?,
        Bench::Migrate(args) => migrate::run(common, args).await?,
        Bench::Locomo(args) => locomo::run(common, args).await?,
        Bench::Beir(args) => beir::run(common, args).await?,
        Bench::Longmemeval(args) => longmemeval::run(common, args).await?,
        Bench::Fit(args) => fit::run(common, args).await?,
        Bench::Context(args) => context::run(common, args).await?,
        Bench::Capture(args) => capture::run(common, args).await?,
        Bench::Telemetry(args) => telemetry::run(common, args).await?,
        Bench::Embed(args) => embed::run(common, args).await?,
    };
    report.print(common.json);
    if args.check { report.require() } else { Ok(()) }
}
