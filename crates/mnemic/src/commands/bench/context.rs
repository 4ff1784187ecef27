//! The assembled context over HTTP, with many turns in the workspace, against the embedding of the
//! same query alone.

use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use jiff::SignedDuration;
use mnemic_core::clock::{Clock as _, IdSource, SystemClock};
use mnemic_core::conversation::{Conversation, Turn};
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::node::Properties;
use mnemic_core::recall::ItemKind;
use mnemic_core::store::{Change, Embedded};
use mnemic_recall::synthetic::{Noise, Texts, Vectors};
use serde_json::json;

use super::RecallArgs;
use super::recall::{PATIENCE, Times, measure};
use super::report::{Report, Target, median, quantile};
use super::stage::{Api, Opened, Stage};
use crate::config::{CommonArgs, Provider};
use crate::instance::until;
use crate::output;

/// How many turns a conversation has.
const CONVERSATION: usize = 100;
/// How many conversations go into one transaction.
const BATCH: usize = 50;
/// How many pieces a turn has, about as many as those of people talking.
const PIECES: usize = 14;
const SPEAKERS: [&str; 4] = ["Ana", "Bo", "Cy", "Di"];
const SEED: u64 = 11;

pub async fn run(common: &CommonArgs, args: &RecallArgs) -> Result<Report> {
    let mut stage = Stage::new(common, args.store.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    let opened = stage.open().await?;
    let filled = fill(&opened, stage.model().await?.stamp(), args.store.items).await;
    opened.mnemic.close().await;
    // It holds the directory, which the server is to have.
    drop(opened);
    filled?;
    let served = stage.serve().await?;
    tokio::time::timeout(PATIENCE, until(served.instance.settled()))
        .await
        .context("the model is not ready after five minutes")?;
    let embedder = served.instance.embedder().require()?;
    // The index is built by the first search, which may take longer than a layer of a context may.
    served.api.post("recall", &json!({ "query": "what was said" })).await?;
    let measured =
        measure(&*embedder, args.queries, async |query| context_ms(&served.api, query).await).await;
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

async fn fill(opened: &Opened, stamp: &ModelStamp, turns: usize) -> Result<()> {
    let (store, scope) = (&opened.store, opened.principal.scope());
    let conversations = turns.div_ceil(CONVERSATION);
    let last = name(conversations - 1);
    if store.lookup_conversation(scope, &last).await?.is_some() {
        return Ok(());
    }
    output::note(&format!("Filling a store with {conversations} conversations"));
    let mut maker = Maker::new(stamp.dimensions);
    let numbers: Vec<_> = (0..conversations).collect();
    for batch in numbers.chunks(BATCH) {
        let (mut changes, mut vectors) = (Vec::new(), Vec::new());
        for &number in batch {
            maker.talk(number, &mut changes, &mut vectors);
        }
        store.commit(scope, changes).await?;
        store.put_vectors(scope, stamp, vectors).await?;
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("talk-{number}")
}

struct Maker {
    noise: Noise,
    texts: Texts,
    vectors: Vectors,
    ids: IdSource,
}

impl Maker {
    fn new(dimensions: usize) -> Self {
        let mut noise = Noise(SEED);
        let vectors = Vectors::new(dimensions, true, &mut noise);
        Self { noise, texts: Texts::default(), vectors, ids: IdSource::default() }
    }

    fn talk(&mut self, number: usize, changes: &mut Vec<Change>, vectors: &mut Vec<Embedded>) {
        let now = SystemClock.now();
        let said = now - SignedDuration::from_mins(i64::try_from(number).unwrap_or(0));
        let count = i64::try_from(CONVERSATION).unwrap_or(0);
        changes.push(Change::AddConversation(Conversation {
            id: name(number),
            key: self.ids.next(now),
            channel: "_global".to_owned(),
            title: None,
            metadata: Properties::new(),
            turns: count,
            next_index: count,
            created_by: "bench".to_owned(),
            user: None,
            created_at: now,
            updated_at: now,
            archived_at: None,
            revision: 1,
        }));
        for index in 0..count {
            let words = usize::try_from(10 + self.noise.below(25)).unwrap_or(20);
            let content = self.texts.text(words, &mut self.noise);
            let id = TurnId(self.ids.next(now));
            let speaker = SPEAKERS[usize::try_from(self.noise.below(4)).unwrap_or(0)];
            vectors.push(Embedded {
                kind: ItemKind::Turn,
                id: id.0,
                text: content.clone(),
                vector: self.vectors.next(&mut self.noise),
                pieces: (0..PIECES).flat_map(|_| self.vectors.next(&mut self.noise)).collect(),
            });
            changes.push(Change::AddTurn(Turn {
                id,
                conversation_id: name(number),
                channel: "_global".to_owned(),
                index,
                role: "user".to_owned(),
                speaker: Some(speaker.to_owned()),
                content,
                content_hash: String::new(),
                at: said + SignedDuration::from_secs(index),
                token_count: None,
                model: None,
                metadata: Properties::new(),
                created_by: "bench".to_owned(),
                user: None,
                created_at: now,
            }));
        }
    }
}
