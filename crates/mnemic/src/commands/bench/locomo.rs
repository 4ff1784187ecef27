//! How much of the evidence of LoCoMo's questions recall finds, and what each feature adds to it.
//!
//! The data is read from where it lies and never kept: its licence forbids that. Every conversation
//! becomes one of the store, in a channel of its own; each question is asked within it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use jiff::SignedDuration;
use mnemic_core::conversation::NewTurn;
use mnemic_core::recall::{Feature, Part, RecallRequest};
use serde::Deserialize;

use super::interval::{Interval, separation};
use super::lab::{self, Lab};
use super::ranking::{Dump, Ranking, Rankings, Told, score_files};
use super::report::{Report, Target, median};
use super::score::{Scores, evidence};
use super::source::read_lines;
use super::stage::Opened;
use super::{AblationArgs, LocomoArgs, SearchArgs};
use crate::cli::TechniqueArg;
use crate::config::CommonArgs;
use crate::output;

/// The categories that count; the fifth asks for what is not there.
const CATEGORIES: [(u8, &str); 4] =
    [(4, "single-hop"), (1, MULTI_HOP), (2, "temporal"), (3, "open-domain")];
/// Whose answer stands in several turns.
pub const MULTI_HOP: &str = "multi-hop";
/// Asks one speaker for what the other said, or for what nobody did.
const ADVERSARIAL: u8 = 5;
const CUTS: [usize; 3] = [5, 10, 20];
/// What two rankings are compared by.
const COMPARED: [&str; 3] = ["any@10", "frac@10", "all@10"];
/// The share of the evidence that must be among the first ten, in percent, and with words alone.
const FRACTION_MIN: f64 = 88.0;
const FRACTION_MIN_WORDS: f64 = 82.0;
/// The share of questions with some evidence among the first ten.
const ANY_MIN: f64 = 93.0;
const ALL_MIN: f64 = 80.0;
/// The share of the evidence of questions whose answer stands in several turns.
const MULTI_HOP_MIN: f64 = 64.0;
/// How often a question that has an answer must get more confidence than one that has none.
const SEPARATION_MIN: f64 = 0.8;
/// How far the engines may lie apart.
const POINTS_MAX: f64 = 1.0;
const DATE: &str = "%I:%M %p on %d %B, %Y";

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
pub struct Question {
    pub conv: String,
    qid: String,
    category: u8,
    #[serde(rename = "question")]
    text: String,
    pub gold_audited: Vec<String>,
}

pub async fn run(common: &CommonArgs, args: &LocomoArgs) -> Result<Report> {
    let data = Data::read(&args.data)?;
    let mut report = Report::new("locomo", data.subject());
    if !args.ranking.rankings.is_empty() {
        let qids: Vec<_> = data.scored().map(|(question, _)| question.qid.as_str()).collect();
        let score = |rankings: &Rankings| data.score(|question| rankings.of(&question.qid));
        let told = Told { qids: &qids, of: "all", measures: &COMPARED };
        score_files(&args.ranking.rankings, &told, score, &mut report)?;
        return Ok(report);
    }
    let bench = Bench {
        lab: Lab::new(common, &args.ranking.search, args.ranking.dump.is_some())?,
        data,
        args,
    };
    let opened = bench.lab.stage.open().await?;
    let measured = bench.measure(&opened, &mut report).await;
    opened.mnemic.close().await;
    let embedded = measured?;
    if let Some(url) = &args.store {
        let opened = bench.lab.stage.open_database(url).await?;
        let measured = bench.measure_database(&opened).await;
        opened.mnemic.close().await;
        let shared = measured?;
        report.table(shared.scores.table("PostgreSQL"));
        tell(&shared, "PostgreSQL, ", args, &mut report);
        let difference = shared.scores.better_by(&embedded.scores, "frac@10").mean.abs();
        report.promise("difference, all, frac@10", difference, Target::AtMost(POINTS_MAX));
    }
    Ok(report)
}

/// Tells of all questions; the table tells of the categories.
fn tell(answers: &Answers, engine: &str, args: &LocomoArgs, report: &mut Report) {
    for measure in answers.scores.measures() {
        let promised = promised(measure, &args.ranking.search);
        let name = format!("{engine}all, {measure}");
        report.estimate_for(name, answers.scores.interval(measure), promised);
    }
    let of_several = answers.scores.of(MULTI_HOP).interval("frac@10");
    let promised = promised(MULTI_HOP, &args.ranking.search);
    report.estimate_for(format!("{engine}{MULTI_HOP}, frac@10"), of_several, promised);
    if answers.unanswerable.is_empty() {
        return;
    }
    report.add(format!("{engine}confidence, answerable, median"), median(&answers.answerable));
    report.add(format!("{engine}confidence, adversarial, median"), median(&answers.unanswerable));
    let name = format!("{engine}confidence, AUC of 1");
    report.estimate_for(name, answers.separation(), Some(Target::AtLeast(SEPARATION_MIN)));
}

/// How well the questions were answered, and how sure the answers were.
struct Answers {
    scores: Scores,
    /// Confidences of the questions that have an answer, and of those that have none.
    answerable: Vec<f64>,
    unanswerable: Vec<f64>,
}

impl Answers {
    fn separation(&self) -> Interval {
        separation(&self.answerable, &self.unanswerable)
    }
}

/// What is promised of all questions by a measure, or of the share of evidence of those with
/// several turns, with all techniques and with words alone.
pub fn promised(measure: &str, args: &SearchArgs) -> Option<Target> {
    let least = match (measure, args.techniques.as_slice()) {
        ("frac@10", []) => Some(FRACTION_MIN),
        ("frac@10", [TechniqueArg::Words]) => Some(FRACTION_MIN_WORDS),
        ("any@10", []) => Some(ANY_MIN),
        ("all@10", []) => Some(ALL_MIN),
        (MULTI_HOP, []) => Some(MULTI_HOP_MIN),
        _ => None,
    };
    least.map(Target::AtLeast)
}

/// Talks, and what is asked about them.
pub struct Data {
    turns: Vec<Turn>,
    questions: Vec<Question>,
}

impl Data {
    pub fn read(folder: &Path) -> Result<Self> {
        let turns = read_lines(&folder.join("turns.jsonl"))?;
        let questions = read_lines(&folder.join("questions.jsonl"))?;
        Ok(Self { turns, questions })
    }

    /// How much there is of it.
    pub fn subject(&self) -> String {
        let count = self.scored().count();
        format!("{} turns, {count} questions, in percent", self.turns.len())
    }

    /// The questions that have an answer, with their categories.
    pub fn scored(&self) -> impl Iterator<Item = (&Question, &'static str)> + Clone {
        let with_evidence = self.questions.iter().filter(|it| !it.gold_audited.is_empty());
        with_evidence.filter_map(|question| {
            let (_, name) = CATEGORIES.iter().find(|(number, _)| *number == question.category)?;
            Some((question, *name))
        })
    }

    /// Tells a store all of it.
    pub async fn store(&self, lab: &Lab<'_>, opened: &Opened) -> Result<()> {
        for conversation in self.turns.chunk_by(|a, b| a.conv == b.conv) {
            let id = &conversation[0].conv;
            let news = conversation.iter().zip(0..).map(|(turn, index)| turn.to_new(index));
            opened.tell(id, id, &news.collect::<Result<Vec<_>>>()?).await?;
        }
        lab.embed(opened).await?;
        Ok(())
    }

    fn score<'a>(&self, ranked: impl Fn(&Question) -> &'a [String]) -> Scores {
        let mut scores = Scores::of_evidence(&CUTS);
        for (question, category) in self.scored() {
            scores.add(category, evidence(&question.gold_audited, ranked(question), &CUTS));
        }
        scores
    }
}

struct Bench<'a> {
    lab: Lab<'a>,
    data: Data,
    args: &'a LocomoArgs,
}

impl Bench<'_> {
    /// Tells of the ranking by all features, and of what becomes of it without some.
    async fn measure(&self, opened: &Opened, report: &mut Report) -> Result<Answers> {
        self.data.store(&self.lab, opened).await?;
        let whole = self.rank(opened, &[], self.args.ranking.dump.as_deref()).await?;
        report.table(whole.scores.table("all features"));
        tell(&whole, "", self.args, report);
        let AblationArgs { without, ablate } = &self.args.ablation;
        if !without.is_empty() {
            let names: Vec<_> = without.iter().map(|it| it.as_str()).collect();
            let left = self.rank(opened, without, None).await?.scores;
            let name = format!("without {}", names.join(", "));
            whole.scores.compare(&left, &name, &COMPARED, report);
        }
        for feature in Feature::OF_TURNS.iter().filter(|_| *ablate) {
            output::note(&format!("Asking without {}", feature.as_str()));
            let left = self.rank(opened, &[*feature], None).await?.scores;
            let name = format!("without {}: frac@10, better by", feature.as_str());
            report.estimate(name, left.better_by(&whole.scores, "frac@10"));
        }
        Ok(whole)
    }

    async fn measure_database(&self, opened: &Opened) -> Result<Answers> {
        self.data.store(&self.lab, opened).await?;
        self.rank(opened, &[], None).await
    }

    /// Asks every question that counts, and those without an answer for how sure they make; the others
    /// are asked for the dump alone.
    async fn rank(
        &self,
        opened: &Opened,
        without: &[Feature],
        dump: Option<&Path>,
    ) -> Result<Answers> {
        let counted: HashSet<_> = self.data.scored().map(|(it, _)| it.qid.as_str()).collect();
        let mut file = Dump::create(dump)?;
        let mut found = HashMap::new();
        let (mut answerable, mut unanswerable) = (Vec::new(), Vec::new());
        for question in &self.data.questions {
            let has_answer = counted.contains(question.qid.as_str());
            let has_none = question.category == ADVERSARIAL && without.is_empty();
            if dump.is_none() && !has_answer && !has_none {
                continue;
            }
            let request = RecallRequest {
                without: without.to_vec(),
                ..question.request(&self.lab, self.args.limit)
            };
            let bundle = opened.recall(&request).await?;
            if has_answer {
                answerable.push(bundle.confidence);
            } else if has_none {
                unanswerable.push(bundle.confidence);
            }
            let ranking = Ranking::of_turns(&question.qid, &bundle);
            file.write(&ranking)?;
            found.insert(question.qid.as_str(), ranking.ranked);
        }
        file.finish()?;
        let ranked = |it: &Question| found.get(it.qid.as_str()).map_or(&[][..], Vec::as_slice);
        Ok(Answers { scores: self.data.score(ranked), answerable, unanswerable })
    }
}

impl Question {
    /// It is asked within its own conversation.
    pub fn request(&self, lab: &Lab<'_>, limit: usize) -> RecallRequest {
        RecallRequest {
            channel: Some(self.conv.clone()),
            include: Some(vec![Part::Turns]),
            ..lab.request(&self.text, limit)
        }
    }
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
        let place = self.id.rsplit(':').next().and_then(|place| place.parse().ok()).unwrap_or(0);
        let at = lab::moment(&self.date, DATE)? + SignedDuration::from_secs(place);
        let told = lab::turn(&self.id, "user", self.content(), index, at);
        Ok(NewTurn { speaker: Some(self.speaker.clone()), ..told })
    }
}
