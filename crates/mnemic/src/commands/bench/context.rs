//! The assembled context over HTTP, with many turns in the workspace, against the embedding of the
//! same query alone.

use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::json;

use super::probe::{self, Times};
use super::report::{Report, Target, median, quantile};
use super::stage::{Api, Stage};
use super::{RecallArgs, load, talk};
use crate::config::{CommonArgs, Provider};

pub async fn run(common: &CommonArgs, args: &RecallArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.store.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    let model = stage.model().await?;
    let opened = stage.open().await?;
    let scope = opened.principal.scope();
    let filled = talk::fill(&*opened.store, scope, model.stamp(), args.store.items).await;
    opened.mnemic.close().await;
    // It holds the directory, which the server is to have.
    drop(opened);
    filled?;
    let served = stage.serve().await?;
    let embedder = served.ready().await?;
    // The index is built by the first search, which may take longer than a layer of a context may.
    served.api.post("recall", &json!({ "query": "what was said" })).await?;
    let queries = load::queries(probe::WARM_UP + args.queries);
    let measured =
        probe::measure(&*embedder, &queries, async |query| context_ms(&served.api, query).await)
            .await;
    served.instance.stop().await;
    let Times { calls, embeddings } = measured?;
    let mut report = Report::new("context", format!("{} turns", args.store.items));
    report.add("context over HTTP, p50, ms", median(&calls));
    report.add("context over HTTP, p95, ms", quantile(&calls, 0.95));
    report.add("embedding alone, p50, ms", median(&embeddings));
    let ratio = median(&calls) / median(&embeddings);
    report.promise("context / embedding, p50", ratio, Target::AtMost(3.0));
    Ok(report)
}

async fn context_ms(api: &Api, query: &str) -> Result<f64> {
    let started = Instant::now();
    let answer = api.post("context", &json!({ "query": query })).await?;
    let took = started.elapsed();
    // Lines that do not fit are skipped; a layer that failed must not count as fast.
    let failed = answer["skipped"].as_array().is_none_or(|skipped| {
        skipped.iter().any(|it| !it["reason"].as_str().unwrap_or_default().contains("did not fit"))
    });
    if failed || answer["text"].as_str().is_none_or(str::is_empty) {
        bail!("a context is not what it should be: {answer}");
    }
    Ok(took.as_secs_f64() * 1e3)
}
