//! How much of the evidence of LoCoMo's questions recall finds.
//!
//! The data is read from where it lies and never kept: its licence forbids that. Every conversation
//! becomes one of the store, in a channel of its own; each question is asked within it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mnemic_core::conversation::{NewConversation, NewTurn};
use mnemic_core::node::Properties;
use mnemic_core::principal::Caller;
use mnemic_core::recall::{Part, RecallRequest, RecalledTurn, Technique};
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
/// Where a turn keeps the id that the questions know it by.
const ID: &str = "id";
/// The share of the evidence that must be among the first ten, in percent, and with words alone.
const FRACTION_MIN: f64 = 78.0;
const FRACTION_MIN_WORDS: f64 = 74.0;
/// The share of questions with some evidence among the first ten.
const ANY_MIN: f64 = 85.0;
/// How far the engines may lie apart.
const POINTS_MAX: f64 = 2.0;

#[derive(Debug, Deserialize)]
struct Turn {
    conv: String,
    id: String,
    date: String,
    speaker: String,
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
                match promised(category, measure, cut, &args.techniques) {
                    Some(least) => report.promise(name, share, Target::AtLeast(least)),
                    None => report.add(name, share),
                }
            }
        }
    }
}

/// What is promised of all questions, with all techniques and with words alone.
fn promised(category: &str, measure: &str, cut: usize, techniques: &[String]) -> Option<f64> {
    let words_alone = techniques == ["words"];
    match (category, measure, cut) {
        ("all", "frac", 10) if techniques.is_empty() => Some(FRACTION_MIN),
        ("all", "frac", 10) if words_alone => Some(FRACTION_MIN_WORDS),
        ("all", "any", 10) if techniques.is_empty() => Some(ANY_MIN),
        _ => None,
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
    tell_all(opened, turns).await?;
    // Without a model the queue of fresh texts is emptied at once; all are embedded below.
    let _ = tokio::time::timeout(Duration::ZERO, mnemic.fill_vectors()).await;
    mnemic.adopt_model(stage.model().await?).await?;
    output::note("Embedding what has no vector yet");
    mnemic.embed_all().await?;
    let mut dump = dump.map(std::fs::File::create).transpose()?;
    let mut scores = Scores::default();
    for question in questions {
        let found = ask(opened, args, question).await?;
        let ids = found.iter().filter_map(|found| found.turn.metadata.get(ID)?.as_str());
        let ranked: Vec<_> = ids.map(str::to_owned).collect();
        if let Some(file) = &mut dump {
            let why: Vec<_> = found.iter().map(shares).collect();
            let line = json!({ "qid": question.qid, "ranked": ranked, "shares": why });
            writeln!(file, "{line}")?;
        }
        scores.add(question.category, &question.gold_audited, &ranked);
    }
    Ok(scores)
}

/// Stores each conversation; doing it again stores nothing twice.
async fn tell_all(opened: &Opened, turns: &[Turn]) -> Result<()> {
    let caller = Caller::new(opened.principal.clone());
    for conversation in turns.chunk_by(|a, b| a.conv == b.conv) {
        let id = &conversation[0].conv;
        if opened.mnemic.get_conversation(&opened.principal, id).await.is_err() {
            let new = NewConversation {
                id: Some(id.clone()),
                channel: Some(id.clone()),
                ..NewConversation::default()
            };
            opened.mnemic.create_conversation(&caller, &new).await?;
        }
        let news = conversation.iter().zip(0..).map(|(turn, index)| turn.to_new(index));
        let news: Vec<_> = news.collect::<Result<_>>()?;
        for batch in news.chunks(BATCH) {
            opened.mnemic.add_turns(&caller, id, batch).await?;
        }
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

    /// The turns of a session have one time, and follow each other by a second here.
    fn to_new(&self, index: i64) -> Result<NewTurn> {
        let date = DateTime::strptime("%I:%M %p on %d %B, %Y", &self.date)
            .with_context(|| format!("`{}` is not a date as expected", self.date))?;
        let said = date.to_zoned(TimeZone::UTC)?.timestamp();
        let place = self.id.rsplit(':').next().and_then(|place| place.parse().ok()).unwrap_or(0);
        let mut metadata = Properties::new();
        metadata.insert(ID.to_owned(), self.id.clone().into());
        Ok(NewTurn {
            role: "user".to_owned(),
            content: self.content(),
            index: Some(index),
            at: Some(said + SignedDuration::from_secs(place)),
            speaker: Some(self.speaker.clone()),
            metadata,
            ..NewTurn::default()
        })
    }
}

/// The turns in the order of recall.
async fn ask(opened: &Opened, args: &LocomoArgs, question: &Question) -> Result<Vec<RecalledTurn>> {
    let request = RecallRequest {
        query: question.text.clone(),
        limit: Some(args.limit),
        channel: Some(question.conv.clone()),
        include: Some(vec![Part::Turns]),
        techniques: techniques(&args.techniques)?,
        explain: args.dump.is_some(),
        ..RecallRequest::default()
    };
    let bundle = opened.mnemic.recall(&opened.principal, &request).await?;
    if !bundle.degraded.is_empty() {
        bail!("an answer is not complete: {}", bundle.degraded.join(", "));
    }
    Ok(bundle.turns)
}

/// What each feature did for a turn, for whoever wants to weigh them otherwise.
fn shares(found: &RecalledTurn) -> Value {
    let shares = found.why.iter().flat_map(|why| &why.shares);
    shares.map(|(feature, share)| (feature.as_str().to_owned(), json!(share))).collect()
}

fn techniques(names: &[String]) -> Result<Option<Vec<Technique>>> {
    let known: BTreeMap<_, _> = Technique::ALL.iter().map(|t| (t.as_str(), *t)).collect();
    let found: Option<Vec<_>> =
        names.iter().map(|name| known.get(name.as_str()).copied()).collect();
    let found = found.context("--techniques: not one of words, vectors")?;
    Ok(Some(found).filter(|found| !found.is_empty()))
}
