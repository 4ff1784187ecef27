//! How much of the evidence of LoCoMo's questions recall finds.
//!
//! The data is read from where it lies and never kept: its licence forbids that. Every turn
//! becomes a memory in a channel of its conversation; each question is asked within it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use mnemic_core::memory::NewMemory;
use mnemic_core::principal::Caller;
use mnemic_core::recall::{RecallRequest, Recalled, Technique};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::LocomoArgs;
use super::report::{Report, Target};
use super::score::{CATEGORIES, CUTS, MEASURES, Scores};
use super::stage::{Opened, Stage};
use crate::config::{CommonArgs, Provider};
use crate::output;

const BATCH: usize = 500;
/// What words alone reach on this data with BM25, in percent of the evidence in the first ten.
const WORDS_ALONE: f64 = 60.2;
/// How far the engines may lie apart.
const POINTS_MAX: f64 = 2.0;

#[derive(Debug, Deserialize)]
struct Turn {
    conv: String,
    id: String,
    text: String,
    caption: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Question {
    conv: String,
    qid: String,
    category: u8,
    #[serde(rename = "question")]
    text: String,
    gold_audited: Vec<String>,
}

pub async fn run(common: &CommonArgs, args: &LocomoArgs) -> Result<Report> {
    let turns: Vec<Turn> = read(&args.data.join("turns.jsonl"))?;
    let questions: Vec<Question> = read(&args.data.join("questions.jsonl"))?;
    let mut stage = Stage::new(common, args.dir.as_deref())?;
    stage.config.embedding.provider = Provider::Local;
    let opened = stage.open().await?;
    let measured = measure(&stage, &opened, args, args.dump.as_deref(), &turns, &questions).await;
    opened.mnemic.close().await;
    let embedded = measured?;
    let subject = format!("{} turns, {} questions, in percent", turns.len(), embedded.count("all"));
    let mut report = Report::new("locomo", subject);
    tell(&embedded, "", args, &mut report);
    if let Some(url) = &args.store {
        let opened = stage.open_database(url).await?;
        let measured = measure(&stage, &opened, args, None, &turns, &questions).await;
        opened.mnemic.close().await;
        let shared = measured?;
        tell(&shared, "PostgreSQL, ", args, &mut report);
        let points = |scores: &Scores| 100.0 * scores.share("all", "frac", 10);
        let difference = (points(&embedded) - points(&shared)).abs();
        report.promise("difference, all, frac@10", difference, Target::AtMost(POINTS_MAX));
    }
    Ok(report)
}

fn tell(scores: &Scores, engine: &str, args: &LocomoArgs, report: &mut Report) {
    for (_, category) in CATEGORIES.iter().chain([&(0, "all")]) {
        for measure in MEASURES {
            for cut in CUTS {
                let name = format!("{engine}{category}, {measure}@{cut}");
                let share = 100.0 * scores.share(category, measure, cut);
                if (*category, measure, cut) == ("all", "frac", 10) && args.techniques.is_empty() {
                    report.promise(name, share, Target::AtLeast(WORDS_ALONE));
                } else {
                    report.add(name, share);
                }
            }
        }
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let parse = |line| serde_json::from_str(line);
    let parsed: serde_json::Result<_> = text.lines().map(parse).collect();
    parsed.with_context(|| format!("{} is not what was expected", path.display()))
}

async fn measure(
    stage: &Stage,
    opened: &Opened,
    args: &LocomoArgs,
    dump: Option<&Path>,
    turns: &[Turn],
    questions: &[Question],
) -> Result<Scores> {
    let mnemic = &opened.mnemic;
    remember(opened, turns).await?;
    // Without a model the queue of fresh texts is emptied at once; all are embedded below.
    let _ = tokio::time::timeout(Duration::ZERO, mnemic.fill_vectors()).await;
    mnemic.adopt_model(stage.model().await?).await?;
    output::note("Embedding what has no vector yet");
    mnemic.embed_all().await?;
    let mut dump = dump.map(std::fs::File::create).transpose()?;
    let mut scores = Scores::default();
    for question in questions {
        let items = ask(opened, args, question).await?;
        let ranked: Vec<_> =
            items.iter().flat_map(|item| item.memory.source_ids.iter().cloned()).collect();
        if let Some(file) = &mut dump {
            let found: Vec<_> = items.iter().map(found).collect();
            let line = json!({ "qid": question.qid, "ranked": ranked, "found": found });
            writeln!(file, "{line}")?;
        }
        scores.add(question.category, &question.gold_audited, &ranked);
    }
    Ok(scores)
}

async fn remember(opened: &Opened, turns: &[Turn]) -> Result<()> {
    let there = opened.store.count_memories(opened.principal.scope()).await?;
    if there == turns.len() as u64 {
        return Ok(());
    }
    if there > 0 {
        bail!("the store already holds {there} other memories: choose another --dir or --store");
    }
    let caller = Caller::new(opened.principal.clone());
    for batch in turns.chunks(BATCH) {
        let news = batch.iter().map(|turn| NewMemory {
            content: turn.content(),
            channel: Some(turn.conv.clone()),
            source_ids: vec![turn.id.clone()],
            ..NewMemory::default()
        });
        opened.mnemic.create_memories(&caller, news.collect()).await?;
    }
    Ok(())
}

impl Turn {
    fn content(&self) -> String {
        match &self.caption {
            Some(caption) => format!("{} {caption}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The turns in the order of recall.
async fn ask(opened: &Opened, args: &LocomoArgs, question: &Question) -> Result<Vec<Recalled>> {
    let request = RecallRequest {
        query: question.text.clone(),
        limit: Some(args.limit),
        channel: Some(question.conv.clone()),
        techniques: techniques(&args.techniques)?,
        explain: args.dump.is_some(),
        ..RecallRequest::default()
    };
    let bundle = opened.mnemic.recall(&opened.principal, &request).await?;
    if !bundle.degraded.is_empty() {
        bail!("an answer is not complete: {}", bundle.degraded.join(", "));
    }
    Ok(bundle.items)
}

/// At which rank and score each technique found an item, for whoever wants to fuse otherwise.
fn found(item: &Recalled) -> Value {
    let found_by = item.why.iter().flat_map(|why| &why.found_by);
    found_by.map(|f| json!([f.technique.as_str(), f.rank, f.score])).collect()
}

fn techniques(names: &[String]) -> Result<Option<Vec<Technique>>> {
    let known: BTreeMap<_, _> = Technique::ALL.iter().map(|t| (t.as_str(), *t)).collect();
    let found: Option<Vec<_>> =
        names.iter().map(|name| known.get(name.as_str()).copied()).collect();
    let found = found.context("--techniques: not one of words, vectors")?;
    Ok(Some(found).filter(|found| !found.is_empty()))
}
