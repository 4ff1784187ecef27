//! How much of the evidence of LongMemEval's questions recall finds, by session and by turn.
//!
//! Each question has a history of its own: its sessions become conversations of one channel, and
//! the question is asked in it, as of its own date.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use jiff::{SignedDuration, Timestamp};
use mnemic_core::conversation::{NewTurn, TURN_BYTES_MAX};
use mnemic_core::recall::{LIMIT_MAX, Part, RecallRequest};
use mnemic_core::text::QUERY_BYTES_MAX;
use serde::Deserialize;

use super::LongmemevalArgs;
use super::lab::{self, Lab};
use super::ranking::{Dump, Ranking, Rankings, Told, score_files};
use super::report::Report;
use super::score::{Scores, evidence};
use super::source::{cut, read};
use super::stage::Opened;
use crate::config::CommonArgs;
use crate::output;

const SESSION_CUTS: [usize; 4] = [1, 3, 5, 10];
const TURN_CUTS: [usize; 4] = [5, 10, 20, 50];
/// What the id of a question ends with that nothing in its history answers.
const ABSTENTION: &str = "_abs";
/// What rankings are compared by.
const COMPARED: [&str; 4] = ["any@5", "all@5", "any@10", "all@10"];
const DATE: &str = "%Y/%m/%d %H:%M";

#[derive(Debug, Deserialize)]
struct Question {
    #[serde(rename = "question_id")]
    id: String,
    #[serde(rename = "question_type")]
    group: String,
    #[serde(rename = "question")]
    text: String,
    #[serde(rename = "question_date")]
    date: Option<String>,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Said>>,
    answer_session_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Said {
    role: String,
    content: String,
    has_answer: Option<bool>,
}

pub async fn run(common: &CommonArgs, args: &LongmemevalArgs) -> Result<Report> {
    let questions = read_questions(&args.data, args.questions)?;
    let abstentions = questions.iter().filter(|question| question.is_abstention()).count();
    let answered = questions.len() - abstentions;
    let subject = format!("{answered} questions, in percent, and {abstentions} without an answer");
    let mut report = Report::new("longmemeval", subject);
    if !args.ranking.rankings.is_empty() {
        let paths = &args.ranking.rankings;
        let qids: Vec<_> = questions.iter().map(|question| question.id.as_str()).collect();
        for level in [Level::Sessions, Level::Turns] {
            let score = |rankings: &Rankings| {
                let mut scores = level.scores();
                for question in &questions {
                    level.score(question, rankings.of(&question.id), &mut scores);
                }
                scores
            };
            let told = Told { qids: &qids, of: level.name(), measures: &COMPARED };
            score_files(paths, &told, score, &mut report)?;
        }
        return Ok(report);
    }
    let lab = Lab::new(common, &args.ranking.search, args.ranking.dump.is_some())?;
    let opened = lab.stage.open().await?;
    let measured = measure(&lab, &opened, &questions, args.ranking.dump.as_deref()).await;
    opened.mnemic.close().await;
    for (level, scores) in measured? {
        report.table(scores.table(level.name()));
        for measure in COMPARED {
            report.estimate(format!("{}, {measure}", level.name()), scores.interval(measure));
        }
    }
    Ok(report)
}

/// The first so many questions.
fn read_questions(path: &Path, max: Option<usize>) -> Result<Vec<Question>> {
    let mut questions: Vec<Question> = serde_json::from_str(&read(path)?)
        .with_context(|| format!("{} is not what was expected", path.display()))?;
    questions.truncate(max.unwrap_or(usize::MAX));
    for question in &questions {
        let sessions = question.haystack_sessions.len();
        if question.haystack_dates.len() != sessions
            || question.haystack_session_ids.len() != sessions
        {
            bail!(
                "question {}: its sessions, their ids and their dates differ in number",
                question.id
            );
        }
    }
    Ok(questions)
}

/// What counts as found.
#[derive(Debug, Clone, Copy)]
enum Level {
    /// A session, as soon as one of its turns is.
    Sessions,
    Turns,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Turns => "turns",
        }
    }

    const fn cuts(self) -> &'static [usize] {
        match self {
            Self::Sessions => &SESSION_CUTS,
            Self::Turns => &TURN_CUTS,
        }
    }

    fn scores(self) -> Scores {
        Scores::of_evidence(self.cuts())
    }

    /// A question whose evidence is not known at this level does not count.
    fn score(self, question: &Question, ranked: &[String], scores: &mut Scores) {
        let (gold, ranked) = match self {
            Self::Sessions => (question.answer_session_ids.clone(), sessions_of(ranked)),
            Self::Turns => (question.turns_with_answer(), ranked.to_vec()),
        };
        if !gold.is_empty() && !question.is_abstention() {
            scores.add(&question.group, evidence(&gold, &ranked, self.cuts()));
        }
    }
}

/// The sessions of turns, each where its first turn stands.
fn sessions_of(turns: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let sessions =
        turns.iter().filter_map(|turn| turn.rsplit_once(':')).map(|(session, _)| session);
    sessions.filter(|session| seen.insert(*session)).map(str::to_owned).collect()
}

/// A turn by its session and its place in it, from 0.
fn turn_id(session: &str, place: usize) -> String {
    format!("{session}:{place}")
}

/// The week day, between parentheses, says nothing new.
fn moment(text: &str) -> Result<Timestamp> {
    let words = text.split_whitespace().filter(|word| !word.starts_with('('));
    lab::moment(&words.collect::<Vec<_>>().join(" "), DATE)
}

impl Question {
    fn is_abstention(&self) -> bool {
        self.id.ends_with(ABSTENTION)
    }

    fn turns_with_answer(&self) -> Vec<String> {
        let sessions = self.haystack_session_ids.iter().zip(&self.haystack_sessions);
        let turns = sessions.flat_map(|(id, turns)| {
            let answering = turns.iter().enumerate().filter(|(_, it)| it.has_answer == Some(true));
            answering.map(move |(place, _)| turn_id(id, place))
        });
        turns.collect()
    }

    /// The turns of each session; what is empty was not said.
    fn conversations(&self) -> Result<Vec<Vec<NewTurn>>> {
        let sessions = self.haystack_session_ids.iter().zip(&self.haystack_dates);
        let sessions = sessions.zip(&self.haystack_sessions);
        let tell = |((id, date), turns): ((&String, &String), &Vec<Said>)| {
            let begun = moment(date).with_context(|| format!("question {}", self.id))?;
            let said = turns.iter().zip(0..).enumerate();
            let said = said.filter(|(_, (turn, _))| !turn.content.trim().is_empty());
            let told = said.map(|(place, (turn, index))| {
                let content = cut(&turn.content, TURN_BYTES_MAX);
                let at = begun + SignedDuration::from_secs(index);
                lab::turn(&turn_id(id, place), &turn.role, content, index, at)
            });
            Ok(told.collect())
        };
        sessions.map(tell).collect()
    }
}

async fn measure(
    lab: &Lab<'_>,
    opened: &Opened,
    questions: &[Question],
    dump: Option<&Path>,
) -> Result<[(Level, Scores); 2]> {
    output::note("Storing the history of each question");
    // Those without an answer count for nothing; they are asked for the dump alone.
    let asked = questions.iter().enumerate();
    let asked = asked.filter(|(_, question)| dump.is_some() || !question.is_abstention());
    for (number, question) in asked.clone() {
        for (place, turns) in question.conversations()?.iter().enumerate() {
            opened.tell(&format!("{number}-{place}"), &question.id, turns).await?;
        }
    }
    lab.embed(opened).await?;
    let mut file = Dump::create(dump)?;
    let mut measured = [Level::Sessions, Level::Turns].map(|level| (level, level.scores()));
    for (_, question) in asked {
        let request = RecallRequest {
            channel: Some(question.id.clone()),
            include: Some(vec![Part::Turns]),
            as_of: question.date.as_deref().map(moment).transpose()?,
            ..lab.request(&cut(&question.text, QUERY_BYTES_MAX), LIMIT_MAX)
        };
        let bundle = opened.recall(&request).await?;
        let ranking = Ranking::of_turns(&question.id, &bundle);
        file.write(&ranking)?;
        for (level, scores) in &mut measured {
            level.score(question, &ranking.ranked, scores);
        }
    }
    file.finish()?;
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(questions: &serde_json::Value) -> tempfile::TempPath {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        std::fs::write(&path, questions.to_string()).unwrap();
        path
    }

    fn question(id: &str) -> serde_json::Value {
        json!({
            "question_id": id, "question_type": "single-session-user", "question": "Which boat?",
            "answer": 7, "question_date": "2024/05/01 (Wed) 10:00",
            "haystack_dates": ["2024/03/02 (Sat) 09:30", "2024/04/02 (Tue) 21:05"],
            "haystack_session_ids": ["s:one", "s:two"],
            "haystack_sessions": [
                [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
                [{"role": "user", "content": "A sloop.", "has_answer": true}],
            ],
            "answer_session_ids": ["s:two"],
        })
    }

    #[test]
    fn questions_are_read_and_abstentions_set_apart() {
        let path = file(&json!([question("q1"), question("q2_abs"), question("q3")]));
        let questions = read_questions(&path, None).unwrap();
        let abstentions: Vec<_> = questions.iter().map(Question::is_abstention).collect();
        assert_eq!(abstentions, [false, true, false]);
        assert_eq!(read_questions(&path, Some(1)).unwrap().len(), 1);
        let mut scores = Level::Sessions.scores();
        for question in &questions {
            Level::Sessions.score(question, &[], &mut scores);
        }
        assert_eq!(scores.values("any@1"), [0.0, 0.0]);
        let told = questions[0].conversations().unwrap();
        assert_eq!((told[0].len(), told[1].len()), (1, 1), "nothing empty is told");
        assert_eq!(told[1][0].at.unwrap().to_string(), "2024-04-02T21:05:00Z");
        assert_eq!(questions[0].turns_with_answer(), ["s:two:0"]);
        let mut odd = question("q4");
        odd["haystack_dates"] = json!([]);
        let error = read_questions(&file(&json!([odd])), None).unwrap_err().to_string();
        assert!(error.starts_with("question q4: "), "{error}");
    }

    #[test]
    fn a_session_is_found_with_its_first_turn() {
        let path = file(&json!([question("q1")]));
        let questions = read_questions(&path, None).unwrap();
        let ranked = ["s:one:0", "s:one:3", "s:two:0"].map(str::to_owned);
        assert_eq!(sessions_of(&ranked), ["s:one", "s:two"]);
        let mut sessions = Level::Sessions.scores();
        Level::Sessions.score(&questions[0], &ranked, &mut sessions);
        assert!(sessions.interval("any@1").mean.abs() < 1e-9);
        assert!((sessions.interval("all@3").mean - 100.0).abs() < 1e-9);
        let mut turns = Level::Turns.scores();
        Level::Turns.score(&questions[0], &ranked[..2], &mut turns);
        assert!(turns.interval("any@50").mean.abs() < 1e-9);
    }
}
