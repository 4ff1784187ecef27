//! Recall over HTTP against the embedding of the same query alone.
//!
//! Embedding the query is the part that cannot be avoided; the rest is ours. The two are
//! measured by turns, so that a busy machine slows both alike.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mnemic_core::embed::{Embedder, Purpose};
use serde_json::json;

use super::report::{Report, Target, median, quantile};
use super::stage::{Api, Served, Stage};
use super::{RecallArgs, StoreArgs, load};
use crate::config::{CommonArgs, Provider};
use crate::instance::until;

const WARM_UP: usize = 20;
/// How long the model and the index may take to be ready.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

pub async fn run(common: &CommonArgs, args: &RecallArgs) -> Result<Report> {
    let (_stage, served) = filled(common, &args.store).await?;
    let embedder = served.instance.embedder().require()?;
    let measured =
        measure(&*embedder, args.queries, async |query| recall_ms(&served.api, query).await).await;
    served.instance.stop().await;
    let Times { calls: recalls, embeddings } = measured?;
    let mut report = Report::new("recall", format!("{} memories", args.store.items));
    report.add("recall over HTTP, p50, ms", median(&recalls));
    report.add("recall over HTTP, p95, ms", quantile(&recalls, 0.95));
    report.add("embedding alone, p50, ms", median(&embeddings));
    report.add("embedding alone, p95, ms", quantile(&embeddings, 0.95));
    let ratio = median(&recalls) / median(&embeddings);
    report.promise("recall / embedding, p50", ratio, Target::AtMost(2.0));
    let ratio = quantile(&recalls, 0.95) / quantile(&embeddings, 0.95);
    report.add("recall / embedding, p95", ratio);
    Ok(report)
}

/// A server with so many memories, and its model ready.
pub(super) async fn filled(common: &CommonArgs, store: &StoreArgs) -> Result<(Stage, Served)> {
    let mut stage = Stage::new(common, store.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    load::fill(&stage, stage.model().await?.stamp(), store.items).await?;
    let served = stage.serve().await?;
    tokio::time::timeout(PATIENCE, until(served.instance.settled()))
        .await
        .context("the model is not ready after five minutes")?;
    Ok((stage, served))
}

/// What each took, in milliseconds.
pub(super) struct Times {
    pub calls: Vec<f64>,
    pub embeddings: Vec<f64>,
}

/// Calls something with many queries, each by turns with the embedding of the same.
pub(super) async fn measure(
    embedder: &dyn Embedder,
    count: usize,
    call_ms: impl AsyncFn(&str) -> Result<f64>,
) -> Result<Times> {
    let queries = load::queries(count + WARM_UP);
    let mut times = Times { calls: vec![], embeddings: vec![] };
    for (n, query) in queries.iter().enumerate() {
        // Who comes first changes, so that neither profits from the other's warm caches.
        let (call, embedding) = if n % 2 == 0 {
            let call = call_ms(query).await?;
            (call, embed_ms(embedder, query).await?)
        } else {
            let embedding = embed_ms(embedder, query).await?;
            (call_ms(query).await?, embedding)
        };
        if n >= WARM_UP {
            times.calls.push(call);
            times.embeddings.push(embedding);
        }
    }
    Ok(times)
}

async fn recall_ms(api: &Api, query: &str) -> Result<f64> {
    let started = Instant::now();
    let answer = api.post("recall", &json!({ "query": query })).await?;
    let took = started.elapsed();
    let complete = answer["degraded"].as_array().is_some_and(Vec::is_empty);
    if !complete || answer["items"].as_array().is_none_or(Vec::is_empty) {
        bail!("an answer is not what it should be: {answer}");
    }
    Ok(took.as_secs_f64() * 1e3)
}

async fn embed_ms(embedder: &dyn Embedder, query: &str) -> Result<f64> {
    let started = Instant::now();
    embedder.embed(vec![query.to_owned()], Purpose::Query).await?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}
