//! Scores of rankings against what holds the answer, kept for each question so that rankings of
//! the same questions can be compared. In percent.

use std::collections::{BTreeSet, HashMap};

use super::interval::Interval;
use super::report::{Report, Row, Table};

/// Of evidence: at least some of it, the share of it, all of it.
const MEASURES: [&str; 3] = ["any", "frac", "all"];
/// The row of all questions.
const ALL: &str = "all";

/// What was measured of each question.
#[derive(Debug, Clone)]
pub struct Scores {
    measures: Vec<String>,
    questions: Vec<Question>,
}

#[derive(Debug, Clone)]
struct Question {
    group: String,
    values: Vec<f64>,
}

impl Scores {
    pub fn new(measures: Vec<String>) -> Self {
        Self { measures, questions: Vec::new() }
    }

    /// Scores of how much evidence is among the first so many.
    pub fn of_evidence(cuts: &[usize]) -> Self {
        let names = MEASURES
            .iter()
            .flat_map(|measure| cuts.iter().map(move |cut| format!("{measure}@{cut}")));
        Self::new(names.collect())
    }

    /// A value for each measure, in their order.
    pub fn add(&mut self, group: &str, values: Vec<f64>) {
        self.questions.push(Question { group: group.to_owned(), values });
    }

    pub fn measures(&self) -> &[String] {
        &self.measures
    }

    /// A measure of each question, in the order in which they were added.
    pub fn values(&self, measure: &str) -> Vec<f64> {
        let place = self.measures.iter().position(|it| it == measure);
        let of = |question: &Question| place.and_then(|place| question.values.get(place)).copied();
        self.questions.iter().filter_map(of).collect()
    }

    pub fn interval(&self, measure: &str) -> Interval {
        Interval::of(&self.values(measure))
    }

    /// Of one group alone.
    pub fn of(&self, group: &str) -> Self {
        let questions = self.questions.iter().filter(|it| it.group == group).cloned().collect();
        Self { measures: self.measures.clone(), questions }
    }

    /// By how much this is better than another ranking of the same questions.
    pub fn better_by(&self, other: &Self, measure: &str) -> Interval {
        Interval::of_difference(&self.values(measure), &other.values(measure))
    }

    /// The means of every group, by name, then of all.
    pub fn table(&self, title: impl Into<String>) -> Table {
        let groups = self.questions.iter().map(|question| question.group.as_str());
        let groups: BTreeSet<_> = groups.collect();
        let mut rows: Vec<_> =
            groups.into_iter().map(|group| self.row(group, Some(group))).collect();
        if rows.len() != 1 {
            rows.push(self.row(ALL, None));
        }
        Table { title: title.into(), columns: self.measures.clone(), rows, decimals: 1 }
    }

    /// The means of a group, or of all.
    pub fn row(&self, name: &str, group: Option<&str>) -> Row {
        let of_group = |question: &&Question| group.is_none_or(|group| question.group == group);
        let questions: Vec<_> = self.questions.iter().filter(of_group).collect();
        let mean = |place: usize| {
            let values = questions.iter().filter_map(|question| question.values.get(place));
            values.sum::<f64>() / questions.len() as f64
        };
        let values = (0..self.measures.len()).map(mean).collect();
        Row { name: name.to_owned(), count: questions.len(), values }
    }

    /// Tells of another ranking of the same questions, and by how much it is better or worse.
    pub fn compare(&self, other: &Self, name: &str, measures: &[&str], report: &mut Report) {
        report.table(other.table(name));
        for measure in measures {
            report.estimate(format!("{name}: {measure}"), other.interval(measure));
            let better = other.better_by(self, measure);
            report.estimate(format!("{name}: {measure}, better by"), better);
        }
    }
}

/// How much of the evidence is among the first so many, in the order of the measures.
pub fn evidence(gold: &[String], ranked: &[String], cuts: &[usize]) -> Vec<f64> {
    let shares = cuts.iter().map(|cut| {
        let first = &ranked[..(*cut).min(ranked.len())];
        let found = gold.iter().filter(|id| first.contains(id)).count();
        (found, found as f64 / gold.len().max(1) as f64)
    });
    let shares: Vec<_> = shares.collect();
    let is = |it: bool| if it { 100.0 } else { 0.0 };
    let any = shares.iter().map(|(found, _)| is(*found > 0));
    let share = shares.iter().map(|(_, share)| 100.0 * share);
    let all = shares.iter().map(|(found, _)| is(*found == gold.len()));
    any.chain(share).chain(all).collect()
}

/// Discounted cumulative gain among the first `cut`, as a share of the best that there can be.
pub fn ndcg(gains: &HashMap<String, f64>, ranked: &[String], cut: usize) -> f64 {
    let discounted = |(place, gain): (usize, f64)| gain / ((place + 2) as f64).log2();
    let got = ranked.iter().take(cut).map(|id| gains.get(id).copied().unwrap_or(0.0));
    let mut ideal: Vec<_> = gains.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = ideal.into_iter().take(cut).enumerate().map(discounted).sum();
    let got: f64 = got.enumerate().map(discounted).sum();
    if best > 0.0 { 100.0 * got / best } else { 0.0 }
}

/// The share of what is relevant that is among the first `cut`.
pub fn recall(gains: &HashMap<String, f64>, ranked: &[String], cut: usize) -> f64 {
    let relevant = gains.values().filter(|gain| **gain > 0.0).count();
    let is_relevant = |id: &&String| gains.get(*id).is_some_and(|gain| *gain > 0.0);
    let found = ranked.iter().take(cut).filter(is_relevant).count();
    100.0 * found as f64 / relevant.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.to_owned()).collect()
    }

    fn gains(of: &[(&str, f64)]) -> HashMap<String, f64> {
        of.iter().map(|&(id, gain)| (id.to_owned(), gain)).collect()
    }

    #[test]
    fn counts_evidence_in_the_first_places() {
        let ranked = names(&["x", "a", "x2", "x3", "x4", "b"]);
        let found = evidence(&names(&["a", "b"]), &ranked, &[1, 5, 10]);
        let expected = [0.0, 100.0, 100.0, 0.0, 50.0, 100.0, 0.0, 0.0, 100.0];
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn gain_is_discounted_by_place() {
        let gains = gains(&[("a", 1.0), ("b", 2.0), ("c", 0.0)]);
        let close = |ranked: &[&str], cut, expected: f64| {
            let got = ndcg(&gains, &names(ranked), cut);
            assert!((got - expected).abs() < 1e-3, "{ranked:?}: {got}");
        };
        close(&["b", "a"], 10, 100.0);
        // (1 + 2 / log2 3) / (2 + 1 / log2 3)
        close(&["a", "b"], 10, 85.972);
        // (2 / log2 3) / (2 + 1 / log2 3)
        close(&["c", "b"], 10, 47.963);
        close(&["x", "b"], 1, 0.0);
        close(&[], 10, 0.0);
        assert!((recall(&gains, &names(&["x", "b", "c", "a"]), 3) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn groups_and_all_of_them_have_rows() {
        let mut one = Scores::new(names(&["some", "more"]));
        one.add("easy", vec![100.0, 50.0]);
        one.add("hard", vec![0.0, 0.0]);
        one.add("easy", vec![50.0, 0.0]);
        let table = one.table("t");
        let rows: Vec<_> = table.rows.iter().map(|row| (row.name.as_str(), row.count)).collect();
        assert_eq!(rows, [("easy", 2), ("hard", 1), ("all", 3)]);
        assert!((table.rows[0].values[1] - 25.0).abs() < 1e-9);
        assert_eq!(one.of("easy").values("some"), [100.0, 50.0]);
        assert!((table.rows[2].values[0] - 50.0).abs() < 1e-9);
        let mut other = one.clone();
        other.questions[1].values[0] = 30.0;
        assert!((other.better_by(&one, "some").mean - 10.0).abs() < 1e-9);
    }
}
