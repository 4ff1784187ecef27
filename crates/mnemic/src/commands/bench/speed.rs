//! Recall over HTTP, of memories and turns together: by one reader against the embedding of the same
//! query, and by many at once while somebody writes.
//!
//! Everything is measured by turns in one run. Parts of a recall, asked for alone, tell where its time
//! goes; they overlap, so they do not add up to the whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};
use mnemic_core::embed::Embedder;
use mnemic_core::principal::Principal;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::line::StillLine;
use super::probe::{self, WARM_UP};
use super::report::{Report, Target, median, quantile};
use super::stage::{Api, Opened, Served, Stage};
use super::{SpeedArgs, load, talk};
use crate::config::{CommonArgs, Provider};

/// How many embeddings a recall takes among 100,000 items and among 1,000,000; between the two, the
/// promise is a line.
const TIMES_SMALL: (f64, f64) = (100_000.0, 1.5);
const TIMES_LARGE: (f64, f64) = (1_000_000.0, 3.0);
/// How many times the usual time the slowest in a hundred take, when many ask at once.
const SPREAD_MAX: f64 = 4.0;

pub async fn run(common: &CommonArgs, args: &SpeedArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    let (who, token) = prepare(&stage, args).await?;
    let measured = match (&args.store, token) {
        (Some(url), Some(token)) => match stage.serve_for(&token, Some(url)).await {
            Ok(served) => measure(served, args).await,
            Err(e) => Err(e),
        },
        _ => measure(stage.serve().await?, args).await,
    };
    if let Some(url) = &args.store {
        let opened = stage.open_database(url).await?;
        opened.store.erase_workspace(who.workspace_id).await?;
        opened.mnemic.close().await;
    }
    let Measured { alone, together } = measured?;
    let engine = if args.store.is_some() { "PostgreSQL" } else { "embedded" };
    let mut report = Report::new("speed", format!("{} items, {engine}", args.items));
    alone.tell(args.items, &mut report);
    together.tell(args.readers, &mut report);
    Ok(report)
}

/// Fills the store. On a database a workspace of its own is made, which has a token of its own.
async fn prepare(stage: &Stage, args: &SpeedArgs) -> Result<(Principal, Option<String>)> {
    let model = stage.model().await?;
    let opened = match &args.store {
        Some(url) => stage.open_database(url).await?,
        None => stage.open().await?,
    };
    let filled = fill(&opened, &*model, args).await;
    opened.mnemic.close().await;
    filled
}

async fn fill(
    opened: &Opened,
    model: &dyn Embedder,
    args: &SpeedArgs,
) -> Result<(Principal, Option<String>)> {
    let (who, token) = if args.store.is_some() {
        let (who, token) = opened.new_workspace().await?;
        (who, Some(token))
    } else {
        (opened.principal.clone(), None)
    };
    let (store, scope, turns) = (&*opened.store, who.scope(), args.items / 2);
    let memories = args.items - turns;
    // What the writer of an earlier run left stays, and slows recall down a little: docs/retrieval.md.
    if usize::try_from(store.count_memories(scope).await?).is_ok_and(|there| there < memories) {
        load::fill_workspace(store, scope, model.stamp(), memories).await?;
    }
    talk::fill(store, scope, model.stamp(), turns).await?;
    Ok((who, token))
}

struct Measured {
    alone: Alone,
    together: Together,
}

async fn measure(served: Served, args: &SpeedArgs) -> Result<Measured> {
    let measured = async {
        let embedder = served.ready().await?;
        let alone = by_one(&served.api, &*embedder, args.queries).await?;
        let together = by_many(&served.api, args.readers.max(1), args.each.max(1)).await?;
        anyhow::Ok(Measured { alone, together })
    };
    let measured = measured.await;
    served.instance.stop().await;
    measured
}

/// What is asked for; the first is everything.
const PARTS: [&str; 5] = ["everything", "memories", "turns", "words alone", "turns by words alone"];

fn body(part: usize, query: &str) -> Value {
    match part {
        1 => json!({ "query": query, "include": ["memories"] }),
        2 => json!({ "query": query, "include": ["turns"] }),
        3 => json!({ "query": query, "techniques": ["words"] }),
        4 => json!({ "query": query, "include": ["turns"], "techniques": ["words"] }),
        _ => json!({ "query": query }),
    }
}

/// Milliseconds of one reader.
#[derive(Default)]
struct Alone {
    embeddings: Vec<f64>,
    parts: [Vec<f64>; PARTS.len()],
}

impl Alone {
    fn tell(&self, items: usize, report: &mut Report) {
        let embedding = median(&self.embeddings);
        report.add("embedding alone, p50, ms", embedding);
        report.add("embedding alone, p99, ms", quantile(&self.embeddings, 0.99));
        let all = &self.parts[0];
        report.add("recall over HTTP, p50, ms", median(all));
        report.add("recall over HTTP, p99, ms", quantile(all, 0.99));
        let target = Target::AtMost(times_promised(items));
        report.promise("recall / embedding, p50", median(all) / embedding, target);
        for (name, times) in PARTS.iter().zip(&self.parts).skip(1) {
            report.add(format!("{name}, p50 / embedding"), median(times) / embedding);
        }
    }
}

fn times_promised(items: usize) -> f64 {
    let share = (items as f64 - TIMES_SMALL.0) / (TIMES_LARGE.0 - TIMES_SMALL.0);
    (TIMES_SMALL.1 + share * (TIMES_LARGE.1 - TIMES_SMALL.1)).clamp(TIMES_SMALL.1, TIMES_LARGE.1)
}

async fn by_one(api: &Api, embedder: &dyn Embedder, count: usize) -> Result<Alone> {
    // The indexes are built by the first search.
    api.post("recall", &body(0, "what was said")).await?;
    let (mut alone, mut line) = (Alone::default(), api.line("recall").await?.still()?);
    for (n, query) in talk::queries(WARM_UP + count.max(1)).iter().enumerate() {
        // Who comes first changes, so that none profits from another's warm caches.
        for place in 0..=PARTS.len() {
            let which = (n + place) % (PARTS.len() + 1);
            let took = match which.checked_sub(1) {
                None => probe::embed_ms(embedder, query).await?,
                Some(part) => recall_ms(&mut line, part, query)?,
            };
            if n >= WARM_UP {
                let times = which.checked_sub(1).map(|part| &mut alone.parts[part]);
                times.unwrap_or(&mut alone.embeddings).push(took);
            }
        }
    }
    Ok(alone)
}

fn recall_ms(line: &mut StillLine, part: usize, query: &str) -> Result<f64> {
    let body = body(part, query).to_string();
    let started = Instant::now();
    let answer = tokio::task::block_in_place(|| line.post(&body))?;
    let took = started.elapsed();
    let answer: Value = serde_json::from_slice(answer)?;
    let complete = answer["degraded"].as_array().is_some_and(Vec::is_empty);
    let has = |name: &str| answer[name].as_array().is_some_and(|found| !found.is_empty());
    if !complete || !(has("items") || has("turns")) {
        bail!("an answer is not what it should be: {answer}");
    }
    Ok(took.as_secs_f64() * 1e3)
}

/// Milliseconds of many readers, and how much was done in the meantime.
struct Together {
    recalls: Vec<f64>,
    seconds: f64,
    written: usize,
}

impl Together {
    fn tell(&self, readers: usize, report: &mut Report) {
        let (usual, slow) = (median(&self.recalls), quantile(&self.recalls, 0.99));
        report.add(format!("{readers} readers and a writer, p50, ms"), usual);
        report.add(format!("{readers} readers and a writer, p99, ms"), slow);
        report.promise("p99 / p50", slow / usual, Target::AtMost(SPREAD_MAX));
        report.add("recalls a second", self.recalls.len() as f64 / self.seconds);
        report.add("writes a second", self.written as f64 / self.seconds);
    }
}

async fn by_many(api: &Api, readers: usize, each: usize) -> Result<Together> {
    let done = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(write(api.clone(), done.clone()));
    let queries = Arc::new(talk::queries(readers * each));
    let mut reading = JoinSet::new();
    let started = Instant::now();
    for reader in 0..readers {
        let (api, queries) = (api.clone(), queries.clone());
        reading.spawn(async move { read(&api, &queries[reader * each..][..each]).await });
    }
    let mut recalls = Vec::new();
    let mut failure = None;
    while let Some(times) = reading.join_next().await {
        match times? {
            Ok(times) => recalls.extend(times),
            Err(e) => failure = Some(e),
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    done.store(true, Ordering::Relaxed);
    let written = writing.await??;
    match failure {
        Some(e) => Err(e),
        None => Ok(Together { recalls, seconds, written }),
    }
}

async fn read(api: &Api, queries: &[String]) -> Result<Vec<f64>> {
    let mut line = api.line("recall").await?;
    let mut times = Vec::new();
    for query in queries {
        let body = body(0, query).to_string();
        let started = Instant::now();
        line.post(&body).await?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// Stores memories and turns by turns, one after the other, until all have read.
async fn write(api: Api, done: Arc<AtomicBool>) -> Result<usize> {
    let mut said = talk::Said::default();
    let (mut memories, mut turns) =
        (api.line("memories").await?, api.line("conversations/going-on/turns").await?);
    let mut written = 0;
    while !done.load(Ordering::Relaxed) {
        let (speaker, content) = said.next();
        memories.post(&json!({ "content": content }).to_string()).await?;
        let (_, content) = said.next();
        let turn = json!({ "role": "user", "speaker": speaker, "content": content });
        turns.post(&turn.to_string()).await?;
        written += 2;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_grows_with_the_store() {
        for (items, times) in [(1, 1.5), (100_000, 1.5), (550_000, 2.25), (2_000_000, 3.0)] {
            assert!((times_promised(items) - times).abs() < 1e-9, "{items}");
        }
    }
}
