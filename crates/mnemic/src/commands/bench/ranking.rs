//! Rankings on file, a line of JSON for each question: what a bench writes down of its own, and
//! what a rival that was asked the same questions is scored by.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use mnemic_core::recall::{Bundle, Feature};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lab::ID;
use super::report::Report;
use super::score::Scores;
use super::source;

/// What was found for a question, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    pub qid: String,
    pub ranked: Vec<String>,
    /// What each feature did for each, for whoever wants to weigh them otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Value>,
    /// How sure it was that the answer is there at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Ranking {
    pub fn of_turns(qid: &str, bundle: &Bundle) -> Self {
        let found = &bundle.turns;
        let ids = found.iter().filter_map(|found| found.turn.metadata.get(ID)?.as_str());
        let explained = found.iter().filter_map(|found| found.why.as_ref());
        Self {
            qid: qid.to_owned(),
            ranked: ids.map(str::to_owned).collect(),
            shares: explained.map(|why| shares(&why.shares)).collect(),
            confidence: Some(bundle.confidence),
        }
    }

    pub fn of_memories(qid: &str, ranked: Vec<String>, bundle: &Bundle) -> Self {
        let explained = bundle.items.iter().filter_map(|found| found.why.as_ref());
        Self {
            qid: qid.to_owned(),
            ranked,
            shares: explained.map(|why| shares(&why.shares)).collect(),
            confidence: Some(bundle.confidence),
        }
    }
}

fn shares(shares: &[(Feature, f64)]) -> Value {
    shares.iter().map(|(it, share)| (it.as_str().to_owned(), json!(share))).collect()
}

/// Where rankings are written to, if anywhere.
pub struct Dump(Option<BufWriter<File>>);

impl Dump {
    pub fn create(path: Option<&Path>) -> Result<Self> {
        let create = |path: &Path| {
            File::create(path).with_context(|| format!("{} cannot be written", path.display()))
        };
        Ok(Self(path.map(create).transpose()?.map(BufWriter::new)))
    }

    pub fn write(&mut self, ranking: &Ranking) -> Result<()> {
        if let Some(file) = &mut self.0 {
            writeln!(file, "{}", serde_json::to_string(ranking)?)?;
        }
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), |mut file| file.flush().context("a dump cannot be written"))
    }
}

/// What somebody found, by question.
pub struct Rankings(HashMap<String, Vec<String>>);

impl Rankings {
    pub fn read(path: &Path) -> Result<Self> {
        let read: Vec<Ranking> = source::read_lines(path)?;
        let rankings = read.into_iter().map(|Ranking { qid, mut ranked, .. }| {
            let mut seen = HashSet::new();
            ranked.retain(|id| seen.insert(id.clone()));
            (qid, ranked)
        });
        Ok(Self(rankings.collect()))
    }

    /// Nothing, where the question is not there: it was not answered.
    pub fn of(&self, qid: &str) -> &[String] {
        self.0.get(qid).map_or(&[], Vec::as_slice)
    }

    /// Whether any of the questions is there at all.
    fn knows_any(&self, qids: &[&str]) -> bool {
        qids.iter().any(|qid| self.0.contains_key(*qid))
    }
}

/// What is told of files of rankings.
pub struct Told<'a> {
    /// The questions that count.
    pub qids: &'a [&'a str],
    /// What of them the measures are of.
    pub of: &'a str,
    pub measures: &'a [&'a str],
}

/// Scores files of rankings: the first, and each other one against it.
pub fn score_files(
    paths: &[PathBuf],
    told: &Told<'_>,
    score: impl Fn(&Rankings) -> Scores,
    report: &mut Report,
) -> Result<()> {
    let mut first: Option<Scores> = None;
    for path in paths {
        let rankings = Rankings::read(path)?;
        if !rankings.knows_any(told.qids) {
            bail!("{} has none of the questions; is it of other data?", path.display());
        }
        let (scores, name) = (score(&rankings), format!("{}, {}", path.display(), told.of));
        if let Some(first) = &first {
            first.compare(&scores, &name, told.measures, report);
            continue;
        }
        report.table(scores.table(&name));
        for measure in told.measures {
            report.estimate(format!("{name}: {measure}"), scores.interval(measure));
        }
        first = Some(scores);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::score::evidence;
    use super::*;

    fn file(rankings: &[(&str, &[&str])]) -> tempfile::TempPath {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let mut dump = Dump::create(Some(&path)).unwrap();
        for (qid, ranked) in rankings {
            let ranked = ranked.iter().map(|&id| id.to_owned()).collect();
            let ranking =
                Ranking { qid: (*qid).to_owned(), ranked, shares: vec![], confidence: None };
            dump.write(&ranking).unwrap();
        }
        dump.finish().unwrap();
        path
    }

    #[test]
    fn what_is_dumped_is_read_again() {
        let path = file(&[("q1", &["a", "b", "a"]), ("q2", &[])]);
        let read = Rankings::read(&path).unwrap();
        assert_eq!(read.of("q1"), ["a", "b"], "nothing counts twice");
        assert!(read.of("q2").is_empty() && read.of("q3").is_empty());
        assert!(Dump::create(Some(Path::new("/no/such/place"))).is_err());
    }

    #[test]
    fn rivals_are_compared_question_by_question() {
        let ours = file(&[("q1", &["a"]), ("q2", &["b"])]);
        let theirs = file(&[("q1", &["a"]), ("q2", &["x"])]);
        let gold = [("q1", "a"), ("q2", "b")];
        let score = |rankings: &Rankings| {
            let mut scores = Scores::of_evidence(&[1]);
            for (qid, id) in gold {
                scores.add("g", evidence(&[id.to_owned()], rankings.of(qid), &[1]));
            }
            scores
        };
        let paths = [ours.to_path_buf(), theirs.to_path_buf()];
        let mut report = Report::new("test", "two");
        let told = |qids| Told { qids, of: "all", measures: &["any@1"] };
        score_files(&paths, &told(&["q1", "q2"]), score, &mut report).unwrap();
        let json = report.to_json();
        let values: Vec<_> =
            json["figures"].as_array().unwrap().iter().map(|it| it["value"].as_f64()).collect();
        assert_eq!(values, [Some(100.0), Some(50.0), Some(-50.0)]);
        let error = score_files(&paths, &told(&["q8"]), score, &mut report).unwrap_err();
        assert!(error.to_string().contains("none of the questions"), "{error}");
    }
}
