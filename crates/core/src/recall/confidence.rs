//! How sure it is that the answer to a question is in memory at all.
//!
//! Scores rank what is there, and the best of what has nothing to do with the question is still the
//! best. Fitted on talks of two people, where it tells about as often as it says; elsewhere it puts
//! questions in order and no more. How it came about is told in `docs/retrieval.md`.

use super::weights::{CONFIDENCE, CONFIDENCE_BY_WORDS, LEAD_MAX};

/// What speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signs {
    /// How much more the one says about it whom the question names than the other one of two does.
    pub lead: f64,
    /// How near the question's pieces come to those of any text; where words were not looked at
    /// and the model tells no pieces, how near its meaning does.
    pub likeness: Option<f64>,
    /// How much of the question's words is there.
    pub covered: Option<f64>,
}

impl Signs {
    /// 0 to 1.
    pub(super) fn confidence(&self) -> f64 {
        let lead = self.lead.clamp(-LEAD_MAX, LEAD_MAX);
        let (counts, near) = match self.likeness {
            Some(near) => (CONFIDENCE, near),
            None => (CONFIDENCE_BY_WORDS, 0.0),
        };
        let covered = counts.covered * self.covered.unwrap_or(near);
        let sum = counts.lead * lead + counts.likeness * near + covered - counts.doubt;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// The mean of the best three, of as many as there are.
pub(super) fn best_three(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let mut scores: Vec<_> = scores.collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.truncate(3);
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_anything_makes_surer() {
        let some = Signs { lead: 0.0, likeness: Some(0.5), covered: Some(0.5) };
        let by_words = Signs { likeness: None, ..some };
        for signs in [some, by_words, Signs { covered: None, ..some }] {
            let sure = signs.confidence();
            assert!(sure > 0.0 && sure < 1.0);
            assert!(Signs { lead: 0.1, ..signs }.confidence() > sure);
            assert!(Signs { lead: -9.0, ..signs }.confidence() > 0.01, "one sign is not all");
            let more = |of: Option<f64>| of.map(|it| it + 0.2);
            let nearer = Signs { likeness: more(signs.likeness), ..signs };
            let fuller = Signs { covered: more(signs.covered), ..signs };
            assert!(nearer.confidence() + fuller.confidence() > 2.0 * sure);
        }
        let all = Signs { lead: 0.3, likeness: Some(0.8), covered: Some(1.0) };
        assert!(all.confidence() > 0.9, "{}", all.confidence());
        let nothing = Signs { lead: 0.0, likeness: Some(0.2), covered: Some(0.0) };
        assert!(nothing.confidence() < 0.15, "{}", nothing.confidence());
    }

    #[test]
    fn the_best_three_are_of_as_many_as_there_are() {
        assert_eq!(best_three([1.0, 5.0, 3.0, 4.0].into_iter()), Some(4.0));
        assert_eq!(best_three([1.0, 2.0].into_iter()), Some(1.5));
        assert_eq!(best_three(std::iter::empty()), None);
    }
}
