//! The embedding model comes up beside the server: words serve until it is there.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use mnemic_core::Mnemic;
use mnemic_core::embed::{Embedder, EmbedderSlot, EmbedderState, ModelStamp};
use mnemic_models::{
    MiniLm, ModelFiles, OnProgress, OpenAiEmbedder, OpenAiOptions, Progress, WeightsSource,
};

use tokio::sync::watch;

use crate::config::{Embedding, Provider};

const OPENAI_URL: &str = "https://api.openai.com/v1";
const OPENAI_MODEL: &str = "text-embedding-3-small";
const RETRY_FIRST: Duration = Duration::from_secs(5);
const RETRY_LONGEST: Duration = Duration::from_mins(5);

/// Whether this process may spend time on fetching the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// A server: fetches, retries, shows a bar.
    Allowed,
    /// A command that is gone in a moment: takes what is cached or does without.
    CachedOnly,
}

/// What the slot says before anything was tried.
pub fn first_state(embedding: &Embedding) -> EmbedderState {
    match embedding.provider {
        Provider::Off => EmbedderState::Off,
        Provider::Local | Provider::Openai => EmbedderState::Loading("starting".to_owned()),
    }
}

/// The stamp of the model to come, where it is certain before it is there.
pub fn known_stamp(embedding: &Embedding) -> Option<ModelStamp> {
    match embedding.provider {
        Provider::Local => Some(MiniLm::known_stamp()),
        Provider::Openai | Provider::Off => None,
    }
}

/// Loads the model, trying again while that makes sense, and gives every text its vector.
/// `settled` is told when there is nothing more to wait for.
pub async fn bring_up(
    embedding: Embedding,
    slot: EmbedderSlot,
    mnemic: Arc<Mnemic>,
    fetch: Fetch,
    settled: watch::Sender<bool>,
) {
    if adopt(&embedding, &slot, &mnemic, fetch).await {
        while let Err(e) = mnemic.embed_all().await {
            tracing::warn!(error = %e, "vectors could not be filled in; trying again");
            tokio::time::sleep(RETRY_FIRST).await;
        }
    }
    let _ = settled.send(true);
}

/// Whether there is a model in the end.
async fn adopt(embedding: &Embedding, slot: &EmbedderSlot, mnemic: &Mnemic, fetch: Fetch) -> bool {
    let mut pause = RETRY_FIRST;
    loop {
        let adopted = match load(embedding, slot, fetch).await {
            Ok(None) => return false,
            Ok(Some(embedder)) => {
                tracing::info!(model = embedder.stamp().key(), "embedding model loaded");
                mnemic.adopt_model(embedder).await.map_err(Into::into)
            }
            Err(e) => Err(e),
        };
        let Err(e) = adopted else { return true };
        tracing::warn!(error = format!("{e:#}"), "no embedding model: words alone serve");
        slot.set(EmbedderState::Failed(format!("{e:#}")));
        if fetch == Fetch::CachedOnly {
            return false;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_LONGEST);
    }
}

pub async fn load(
    embedding: &Embedding,
    slot: &EmbedderSlot,
    fetch: Fetch,
) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    match embedding.provider {
        Provider::Off => Ok(None),
        Provider::Local => load_local(embedding, slot, fetch).await.map(Some),
        Provider::Openai => connect(embedding).await.map(Some),
    }
}

async fn load_local(
    embedding: &Embedding,
    slot: &EmbedderSlot,
    fetch: Fetch,
) -> anyhow::Result<Arc<dyn Embedder>> {
    let files = weights(embedding, slot, fetch).await?;
    let (threads, precision) = (embedding.threads, embedding.precision);
    let model = tokio::task::spawn_blocking(move || MiniLm::load(&files, threads, precision))
        .await
        .context("loading the model broke off")??;
    tracing::debug!(int8 = model.int8().unwrap_or("none"), "the model's numbers");
    Ok(Arc::new(model))
}

/// The files of the model that runs inside this process.
pub async fn weights(
    embedding: &Embedding,
    slot: &EmbedderSlot,
    fetch: Fetch,
) -> anyhow::Result<ModelFiles> {
    let source = WeightsSource {
        path: embedding.path.clone(),
        cache: mnemic_models::default_cache(),
        offline: fetch == Fetch::CachedOnly,
    };
    Ok(mnemic_models::obtain(&source, report_to(slot.clone(), fetch)).await?)
}

async fn connect(embedding: &Embedding) -> anyhow::Result<Arc<dyn Embedder>> {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let options = OpenAiOptions {
        base_url: embedding
            .base_url
            .clone()
            .or_else(|| env("OPENAI_BASE_URL"))
            .unwrap_or_else(|| OPENAI_URL.to_owned()),
        model: embedding.model.clone().unwrap_or_else(|| OPENAI_MODEL.to_owned()),
        key: env("OPENAI_API_KEY"),
        dimensions: embedding.dimensions,
        allow_private: embedding.allow_private,
        timeout: embedding.timeout,
    };
    Ok(Arc::new(OpenAiEmbedder::connect(options).await?))
}

/// Tells the slot how far the fetching is, and the terminal, if a person is watching.
fn report_to(slot: EmbedderSlot, fetch: Fetch) -> OnProgress {
    let bar = (fetch == Fetch::Allowed).then(|| {
        let style = "{msg} {wide_bar} {bytes}/{total_bytes}";
        let bar = ProgressBar::hidden();
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        bar
    });
    Arc::new(move |progress: Progress| {
        slot.set(EmbedderState::Loading(describe(&progress)));
        let Some(bar) = &bar else { return };
        bar.set_message(progress.step);
        match progress.bytes_total {
            Some(total) if progress.bytes_done < total => {
                bar.set_length(total);
                bar.set_position(progress.bytes_done);
            }
            Some(_) => bar.finish_and_clear(),
            None => bar.tick(),
        }
    })
}

fn describe(progress: &Progress) -> String {
    const MEGABYTE: u64 = 1_000_000;
    let done = progress.bytes_done / MEGABYTE;
    match progress.bytes_total {
        Some(total) => format!("{}, {done} of {} MB", progress.step, total / MEGABYTE),
        None => progress.step.clone(),
    }
}
