//! Scores of rankings against the turns that hold the answer.

use std::collections::HashMap;

/// The categories that count; the fifth asks for what is not there.
pub const CATEGORIES: [(u8, &str); 4] =
    [(4, "single-hop"), (1, "multi-hop"), (2, "temporal"), (3, "open-domain")];
/// At least one of the evidence, the share of it, all of it.
pub const MEASURES: [&str; 3] = ["any", "frac", "all"];
pub const CUTS: [usize; 3] = [5, 10, 20];

/// Sums by category, measure and cut.
#[derive(Debug, Default)]
pub struct Scores {
    sums: HashMap<(&'static str, &'static str, usize), f64>,
    counts: HashMap<&'static str, usize>,
}

impl Scores {
    pub fn add(&mut self, category: u8, gold: &[String], ranked: &[String]) {
        let Some((_, name)) = CATEGORIES.iter().find(|(number, _)| *number == category) else {
            return;
        };
        if gold.is_empty() {
            return;
        }
        for group in [name, "all"] {
            *self.counts.entry(group).or_default() += 1;
            for cut in CUTS {
                let first = &ranked[..cut.min(ranked.len())];
                let found = gold.iter().filter(|id| first.contains(id)).count();
                let whole = found == gold.len();
                let scores = [f64::from(u8::from(found > 0)), found as f64 / gold.len() as f64];
                let scores = scores.into_iter().chain([f64::from(u8::from(whole))]);
                for (measure, score) in MEASURES.into_iter().zip(scores) {
                    *self.sums.entry((group, measure, cut)).or_default() += score;
                }
            }
        }
    }

    pub fn count(&self, group: &str) -> usize {
        self.counts.get(group).copied().unwrap_or(0)
    }

    pub fn share(&self, group: &'static str, measure: &'static str, cut: usize) -> f64 {
        let sum = self.sums.get(&(group, measure, cut)).copied().unwrap_or(0.0);
        sum / self.count(group).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_evidence_in_the_first_places() {
        let names = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        let ranked = names(&["x", "a", "x2", "x3", "x4", "b"]);
        let mut scores = Scores::default();
        scores.add(1, &names(&["a", "b"]), &ranked);
        scores.add(5, &names(&["a"]), &ranked);
        scores.add(4, &[], &ranked);
        assert_eq!(scores.count("all"), 1);
        for (measure, at_5) in MEASURES.into_iter().zip([1.0, 0.5, 0.0]) {
            assert!((scores.share("multi-hop", measure, 5) - at_5).abs() < 1e-9, "{measure}");
            assert!((scores.share("all", measure, 10) - 1.0).abs() < 1e-9, "{measure}");
        }
    }
}
