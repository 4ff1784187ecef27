//! Settings: flags over `MNEMIC_*` variables over `mnemic.toml`. Clap merges the first two;
//! this lays them over the file and fills in the defaults.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use mnemic_core::audit::RETENTION_DAYS_DEFAULT;
use mnemic_core::job::LEASE_DEFAULT;
use mnemic_core::language::ServerModels;
use mnemic_models::minilm::Precision;
use mnemic_server::ProxyOptions;
use mnemic_server::mcp::Profile;
use serde::Deserialize;

use crate::language::{self, ModelFile};

pub const LISTEN_DEFAULT: &str = "127.0.0.1:7077";
const FILE_NAME: &str = "mnemic.toml";

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct CommonArgs {
    /// Where the store lives [default: the user's data directory, `mnemic`]
    #[arg(long, global = true, env = "MNEMIC_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The settings file [default: mnemic.toml in the data directory]
    #[arg(long, global = true, env = "MNEMIC_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A server to use instead of the data directory
    #[arg(long, global = true, env = "MNEMIC_URL", value_name = "URL")]
    pub url: Option<String>,
    /// The token to use [default: the one in the data directory]
    #[arg(long, global = true, env = "MNEMIC_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Print JSON for machines
    #[arg(long, global = true)]
    pub json: bool,
}

/// The settings file. Unknown names are errors: a misspelt setting must not look set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    data_dir: Option<PathBuf>,
    listen: Option<String>,
    embedding: EmbeddingFile,
    index: IndexFile,
    mcp: McpFile,
    jobs: JobsFile,
    audit: AuditFile,
    limits: LimitsFile,
    slots: SlotsFile,
    model: ModelFile,
    chat: ChatFile,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EmbeddingFile {
    provider: Option<Provider>,
    path: Option<PathBuf>,
    base_url: Option<String>,
    model: Option<String>,
    dimensions: Option<usize>,
    allow_private: Option<bool>,
    timeout_seconds: Option<u64>,
    threads: Option<usize>,
    precision: Option<Precision>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct IndexFile {
    bytes_max: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct McpFile {
    dotted_names: Option<bool>,
    profile: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct JobsFile {
    lease_seconds: Option<NonZeroU32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AuditFile {
    retention_days: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitsFile {
    body_bytes_max: Option<usize>,
    concurrent_requests_max: Option<usize>,
    reads_per_second: Option<NonZeroU32>,
    writes_per_second: Option<NonZeroU32>,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SlotsFile {
    redis: Option<String>,
    ttl_seconds: Option<u32>,
    bytes_max: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ChatFile {
    memory_deadline_ms: Option<u64>,
    body_bytes_max: Option<usize>,
    header_timeout_seconds: Option<u64>,
    idle_timeout_seconds: Option<u64>,
}

/// Which model makes the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// all-MiniLM-L6-v2 inside this process
    Local,
    /// An OpenAI-compatible endpoint
    Openai,
    /// None: words alone serve
    Off,
}

/// Everything settled.
#[derive(Debug, Clone)]
pub struct Config {
    pub data_dir: PathBuf,
    pub listen: String,
    pub embedding: Embedding,
    pub index_bytes_max: usize,
    pub mcp_dotted_names: bool,
    pub mcp_profile: Profile,
    pub job_lease: Duration,
    pub audit_retention_days: u32,
    pub limits: Limits,
    pub slots: SlotConfig,
    pub models: ServerModels,
    pub chat: ProxyOptions,
}

#[derive(Debug, Clone)]
pub struct Embedding {
    pub provider: Provider,
    pub path: Option<PathBuf>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    pub dimensions: Option<usize>,
    pub allow_private: bool,
    pub timeout: Duration,
    pub threads: usize,
    pub precision: Precision,
}

#[derive(Debug, Clone)]
pub struct SlotConfig {
    /// May hold a password.
    pub redis: Option<String>,
    pub ttl_seconds: u32,
    /// What slots in this process may take.
    pub bytes_max: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Limits {
    pub body_bytes_max: Option<usize>,
    pub concurrent_requests_max: Option<usize>,
    pub reads_per_second: Option<NonZeroU32>,
    pub writes_per_second: Option<NonZeroU32>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
}

impl Config {
    pub fn load(args: &CommonArgs) -> Result<Self> {
        let file = match find(args) {
            Some(path) => read(&path)?,
            None => File::default(),
        };
        let data_dir = match args.data_dir.clone().or(file.data_dir) {
            Some(dir) => dir,
            None => default_data_dir()?,
        };
        let embedding = embedding(file.embedding)?;
        let profile = match (variable("MNEMIC_MCP_PROFILE"), file.mcp.profile) {
            (Some(word), _) => profile("MNEMIC_MCP_PROFILE", &word)?,
            (None, Some(word)) => profile("mcp.profile", &word)?,
            (None, None) => Profile::Agent,
        };
        let slots = slots(file.slots)?;
        let limits = file.limits;
        Ok(Self {
            data_dir,
            listen: file.listen.unwrap_or_else(|| LISTEN_DEFAULT.to_owned()),
            embedding,
            index_bytes_max: number("MNEMIC_INDEX_BYTES_MAX")?
                .or(file.index.bytes_max)
                .unwrap_or(mnemic_store::sqlite::INDEX_BYTES_MAX_DEFAULT),
            mcp_dotted_names: switch("MNEMIC_MCP_DOTTED_NAMES")?
                .or(file.mcp.dotted_names)
                .unwrap_or(false),
            mcp_profile: profile,
            job_lease: number::<NonZeroU32>("MNEMIC_JOB_LEASE_SECONDS")?
                .or(file.jobs.lease_seconds)
                .map_or(LEASE_DEFAULT, |seconds| Duration::from_secs(seconds.get().into())),
            audit_retention_days: number("MNEMIC_AUDIT_RETENTION_DAYS")?
                .or(file.audit.retention_days)
                .unwrap_or(RETENTION_DAYS_DEFAULT),
            slots,
            models: language::models(file.model)?,
            chat: chat(&file.chat)?,
            limits: Limits {
                body_bytes_max: number("MNEMIC_BODY_BYTES_MAX")?.or(limits.body_bytes_max),
                concurrent_requests_max: number("MNEMIC_CONCURRENT_REQUESTS_MAX")?
                    .or(limits.concurrent_requests_max),
                reads_per_second: number("MNEMIC_READS_PER_SECOND")?.or(limits.reads_per_second),
                writes_per_second: number("MNEMIC_WRITES_PER_SECOND")?.or(limits.writes_per_second),
                allowed_hosts: list("MNEMIC_ALLOWED_HOSTS").unwrap_or(limits.allowed_hosts),
                allowed_origins: list("MNEMIC_ALLOWED_ORIGINS").unwrap_or(limits.allowed_origins),
            },
        })
    }
}

fn embedding(file: EmbeddingFile) -> Result<Embedding> {
    let provider = match variable("MNEMIC_EMBEDDING_PROVIDER") {
        None => file.provider.unwrap_or(Provider::Local),
        Some(word) => match word.as_str() {
            "local" => Provider::Local,
            "openai" => Provider::Openai,
            "off" => Provider::Off,
            other => {
                bail!("MNEMIC_EMBEDDING_PROVIDER: `{other}` is not one of local, openai, off")
            }
        },
    };
    let seconds = number("MNEMIC_EMBEDDING_TIMEOUT_SECONDS")?.or(file.timeout_seconds);
    Ok(Embedding {
        provider,
        path: variable("MNEMIC_EMBEDDING_PATH").map(PathBuf::from).or(file.path),
        base_url: variable("MNEMIC_EMBEDDING_BASE_URL").or(file.base_url),
        model: variable("MNEMIC_EMBEDDING_MODEL").or(file.model),
        dimensions: number("MNEMIC_EMBEDDING_DIMENSIONS")?.or(file.dimensions),
        allow_private: switch("MNEMIC_EMBEDDING_ALLOW_PRIVATE")?
            .or(file.allow_private)
            .unwrap_or(false),
        timeout: Duration::from_secs(seconds.unwrap_or(30)),
        threads: number("MNEMIC_EMBEDDING_THREADS")?.or(file.threads).unwrap_or_else(cores),
        precision: precision()?.or(file.precision).unwrap_or_default(),
    })
}

fn precision() -> Result<Option<Precision>> {
    match variable("MNEMIC_EMBEDDING_PRECISION").as_deref() {
        None => Ok(None),
        Some("auto") => Ok(Some(Precision::Auto)),
        Some("f32") => Ok(Some(Precision::F32)),
        Some(other) => bail!("MNEMIC_EMBEDDING_PRECISION: `{other}` is not one of auto, f32"),
    }
}

fn slots(file: SlotsFile) -> Result<SlotConfig> {
    Ok(SlotConfig {
        redis: variable("MNEMIC_REDIS").or(file.redis),
        ttl_seconds: number("MNEMIC_SLOTS_TTL_SECONDS")?
            .or(file.ttl_seconds)
            .unwrap_or(mnemic_core::slot::TTL_SECONDS_DEFAULT),
        bytes_max: number("MNEMIC_SLOTS_BYTES_MAX")?
            .or(file.bytes_max)
            .unwrap_or(mnemic_store::slots::BYTES_MAX_DEFAULT),
    })
}

fn chat(file: &ChatFile) -> Result<ProxyOptions> {
    let usual = ProxyOptions::default();
    let seconds = |name: &str, file: Option<u64>, usual: Duration| -> Result<Duration> {
        Ok(number(name)?.or(file).map_or(usual, Duration::from_secs))
    };
    Ok(ProxyOptions {
        memory_deadline: number("MNEMIC_CHAT_MEMORY_DEADLINE_MS")?
            .or(file.memory_deadline_ms)
            .map_or(usual.memory_deadline, Duration::from_millis),
        body_bytes_max: number("MNEMIC_CHAT_BODY_BYTES_MAX")?
            .or(file.body_bytes_max)
            .unwrap_or(usual.body_bytes_max),
        header_timeout: seconds(
            "MNEMIC_CHAT_HEADER_TIMEOUT_SECONDS",
            file.header_timeout_seconds,
            usual.header_timeout,
        )?,
        idle_timeout: seconds(
            "MNEMIC_CHAT_IDLE_TIMEOUT_SECONDS",
            file.idle_timeout_seconds,
            usual.idle_timeout,
        )?,
        kept_bytes_max: usual.kept_bytes_max,
    })
}

fn profile(name: &str, word: &str) -> Result<Profile> {
    word.parse().with_context(|| format!("{name}: `{word}` is not known"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The file that was named, or the one in the data directory. Never one in the working
/// directory: whoever wrote the repository that an agent works in must not be able to send its
/// memories to an endpoint of theirs.
fn find(args: &CommonArgs) -> Option<PathBuf> {
    if args.config.is_some() {
        return args.config.clone();
    }
    let dir = args.data_dir.clone().or_else(|| default_data_dir().ok())?;
    Some(dir.join(FILE_NAME)).filter(|path| path.is_file())
}

fn read(path: &Path) -> Result<File> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings file {} cannot be read", path.display()))?;
    toml::from_str(&text).map_err(|e| {
        let place = e.span().map(|span| place(&text, span.start)).unwrap_or_default();
        anyhow!("the settings file {} is wrong{place}: {}", path.display(), e.message())
    })
}

/// The line and the setting at a byte of a settings file. The value is left out: it may be an
/// address with a password.
fn place(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let number = before.matches('\n').count();
    let line = text.lines().nth(number).unwrap_or_default();
    let name = line.split_once('=').map_or("", |(name, _)| name.trim());
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    format!(" in line {}{name}", number + 1)
}

fn default_data_dir() -> Result<PathBuf> {
    if let Some(dir) = variable("XDG_DATA_HOME") {
        return Ok(Path::new(&dir).join("mnemic"));
    }
    let home = variable("HOME").context("there is no HOME: say where with --data-dir DIR")?;
    Ok(Path::new(&home).join(".local").join("share").join("mnemic"))
}

pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub fn number<T: std::str::FromStr>(name: &str) -> Result<Option<T>> {
    let Some(text) = variable(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => bail!("{name}: `{text}` is not a number that fits"),
    }
}

pub fn switch(name: &str) -> Result<Option<bool>> {
    match variable(name).as_deref() {
        None => Ok(None),
        Some("true" | "1" | "on") => Ok(Some(true)),
        Some("false" | "0" | "off") => Ok(Some(false)),
        Some(other) => bail!("{name}: `{other}` is neither true nor false"),
    }
}

fn list(name: &str) -> Option<Vec<String>> {
    let items = variable(name)?;
    Some(items.split(',').map(|item| item.trim().to_owned()).filter(|i| !i.is_empty()).collect())
}
