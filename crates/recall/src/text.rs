//! What the index makes of a text, for those who keep words elsewhere and must agree with it.

use crate::analysis::Analyzer;
use crate::bm25::{OCCURRENCES_MAX, TERMS_MAX, TF_MAX, length_code, length_of};
use crate::fold;
use std::collections::BTreeMap;
use std::ops::Range;

/// A document's terms, each once with how often it counts, and the length that enters its scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTerms {
    pub counts: Vec<(String, u32)>,
    pub length: u32,
}

impl TextTerms {
    pub fn of(text: &str) -> Self {
        let mut counts = BTreeMap::<String, u32>::new();
        let mut length = 0_u32;
        Analyzer::default().terms(text, &mut |term| {
            length = length.saturating_add(1);
            if let Some(count) = counts.get_mut(term) {
                *count = (*count + 1).min(TF_MAX);
            } else {
                counts.insert(term.to_owned(), 1);
            }
        });
        Self { counts: counts.into_iter().collect(), length: length_of(length_code(length)) }
    }
}

/// The terms that a query asks for, each once.
pub fn query_terms(query: &str) -> Vec<String> {
    let asked = Analyzer::default().query(&fold::normalise(query));
    let mut terms: Vec<_> = asked.into_iter().map(|asked| asked.term).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The terms that a query asks for, each once with how often it counts: what is said again in a long
/// question is what it is about. The more terms there are, the less often each can count.
pub fn asked_terms(query: &str) -> Vec<(String, u32)> {
    let asked = Analyzer::default().query(&fold::normalise(query));
    let mut counts = BTreeMap::<String, u32>::new();
    for asked in asked {
        *counts.entry(asked.term).or_default() += 1;
    }
    let distinct = u32::try_from(counts.len().clamp(1, TERMS_MAX)).unwrap_or(u32::MAX);
    let most = OCCURRENCES_MAX / distinct;
    counts.into_iter().map(|(term, count)| (term, count.min(most))).collect()
}

/// Which of the query's words, as they were written, a document has, by the terms it has.
pub fn matched_words(query: &str, has: impl Fn(&str) -> bool) -> Vec<String> {
    let query = fold::normalise(query);
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut asked = Analyzer::default().query(&query);
    asked.sort_by_key(|asked| (asked.span.start, asked.span.end));
    for asked in asked {
        if !has(&asked.term) {
            continue;
        }
        match spans.last_mut() {
            // Parts lie within their whole, and pairs of characters overlap.
            Some(last) if asked.span.start < last.end => {
                last.end = last.end.max(asked.span.end);
            }
            _ => spans.push(asked.span),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for span in spans {
        if !words.iter().any(|word| *word == query[span.clone()]) {
            words.push(query[span].to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_counted_and_stemmed() {
        let terms = TextTerms::of("Running runs, ran: the runs");
        assert_eq!(terms.length, 5);
        assert_eq!(
            terms.counts,
            [("ran".to_owned(), 1), ("run".to_owned(), 3), ("the".to_owned(), 1)]
        );
        assert_eq!(TextTerms::of("run ".repeat(100).as_str()).counts, [("run".to_owned(), TF_MAX)]);
        assert_eq!(query_terms("the runs, running"), ["run"]);
        let asked = asked_terms("the runs, running, a walk");
        assert_eq!(asked, [("run".to_owned(), 2), ("walk".to_owned(), 1)]);
        let letters = "bcdfghjkmn".chars();
        let pairs = letters.clone().flat_map(|one| letters.clone().map(move |two| (one, two)));
        let many: String = pairs.map(|(one, two)| format!("{one}{two}x ").repeat(9)).collect();
        let asked = asked_terms(&many);
        let most = OCCURRENCES_MAX / u32::try_from(TERMS_MAX).unwrap();
        assert_eq!(asked.len(), 100);
        assert!(most < 9 && asked.iter().all(|(_, count)| *count == most), "{asked:?}");
    }
}
