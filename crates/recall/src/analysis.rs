//! Language: stems and stop words, and what a query asks for.

use crate::fold;
use crate::tokenize::{Mode, Tokenizer};
use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::ops::Range;

/// Turns tokens into the terms under which documents are listed.
pub(crate) struct Analyzer {
    tokenizer: Tokenizer,
    stemmer: Stemmer,
}

impl Analyzer {
    pub(crate) fn new() -> Self {
        Self { tokenizer: Tokenizer::default(), stemmer: Stemmer::create(Algorithm::English) }
    }

    /// Calls `emit` with each token of a document, not yet stemmed.
    pub(crate) fn tokens(&mut self, text: &str, emit: &mut impl FnMut(&str)) {
        let text = fold::normalise(text);
        self.tokenizer.run(&text, Mode::Document, &mut |token, _| emit(token));
    }

    /// Calls `emit` with each term of a document.
    pub(crate) fn terms(&mut self, text: &str, emit: &mut impl FnMut(&str)) {
        let text = fold::normalise(text);
        let Self { tokenizer, stemmer } = self;
        tokenizer.run(&text, Mode::Document, &mut |token, _| emit(&stem(stemmer, token)));
    }

    /// The term of a token.
    pub(crate) fn stem<'a>(&self, token: &'a str) -> Cow<'a, str> {
        stem(&self.stemmer, token)
    }

    /// What a query asks for: all its terms but the stop words, unless it has nothing else. The
    /// text must be normalised.
    pub(crate) fn query(&mut self, normalised: &str) -> Vec<Asked> {
        let Self { tokenizer, stemmer } = self;
        let (mut asked, mut stopped) = (Vec::new(), Vec::new());
        tokenizer.run(normalised, Mode::Query, &mut |token, span| {
            let list = if is_stop_word(token) { &mut stopped } else { &mut asked };
            list.push(Asked { term: stem(stemmer, token).into_owned(), span });
        });
        if asked.is_empty() { stopped } else { asked }
    }
}

/// A term of a query and where it stands in the query's normalised text.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) term: String,
    pub(crate) span: Range<usize>,
}

/// Only plain Latin words are stemmed; for others the English rules mean nothing.
fn stem<'a>(stemmer: &Stemmer, token: &'a str) -> Cow<'a, str> {
    if token.len() > 2 && token.bytes().all(|byte| byte.is_ascii_lowercase()) {
        stemmer.stem(token)
    } else {
        Cow::Borrowed(token)
    }
}

fn is_stop_word(token: &str) -> bool {
    STOP_WORDS.binary_search(&token).is_ok()
}

/// English words that say nothing about a text, without apostrophes as the tokenizer leaves them.
/// Sorted. Words that often carry meaning ("not", "no", "will", "can", "us") are absent.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "cannot",
    "could",
    "couldnt",
    "did",
    "didnt",
    "do",
    "does",
    "doesnt",
    "doing",
    "dont",
    "during",
    "each",
    "for",
    "from",
    "had",
    "hadnt",
    "has",
    "hasnt",
    "have",
    "havent",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "isnt",
    "it",
    "its",
    "itself",
    "ive",
    "just",
    "me",
    "my",
    "myself",
    "of",
    "on",
    "or",
    "our",
    "ours",
    "ourselves",
    "she",
    "should",
    "shouldnt",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "theyre",
    "this",
    "those",
    "through",
    "to",
    "too",
    "very",
    "was",
    "wasnt",
    "we",
    "were",
    "werent",
    "weve",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "with",
    "would",
    "wouldnt",
    "you",
    "your",
    "youre",
    "yours",
    "yourself",
    "yourselves",
    "youve",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn queries_lose_stop_words_but_never_everything() {
        let terms = |query: &str| -> Vec<String> {
            Analyzer::new().query(query).into_iter().map(|asked| asked.term).collect()
        };
        assert_eq!(terms("what is the deployment process"), ["deploy", "process"]);
        assert_eq!(terms("who are you"), ["who", "are", "you"]);
        assert_eq!(terms("isn't it"), ["isnt", "it"]);
        assert!(terms("").is_empty());
    }

    #[test]
    fn stems_meet() {
        let analyzer = Analyzer::new();
        assert_eq!(analyzer.stem("running"), analyzer.stem("runs"));
        assert_eq!(analyzer.stem("memories"), analyzer.stem("memory"));
        assert_eq!(analyzer.stem("1.2.3"), "1.2.3");
    }
}
