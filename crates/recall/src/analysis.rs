//! Language: stems and stop words, and what a query asks for.

use crate::fold;
use crate::stem::stem;
use crate::tokenize::{Mode, Tokenizer};
use std::ops::Range;

/// Turns texts into the terms under which documents are listed.
#[derive(Debug, Default)]
pub(crate) struct Analyzer {
    tokenizer: Tokenizer,
    stems: Stems,
}

impl Analyzer {
    /// Calls `emit` with each token of a document, not yet stemmed.
    pub(crate) fn tokens(&mut self, text: &str, emit: &mut impl FnMut(&str)) {
        let text = fold::normalise(text);
        self.tokenizer.run(&text, Mode::Document, &mut |token, _| emit(token));
    }

    /// Calls `emit` with each term of a document.
    pub(crate) fn terms(&mut self, text: &str, emit: &mut impl FnMut(&str)) {
        let text = fold::normalise(text);
        let Self { tokenizer, stems } = self;
        tokenizer.run(&text, Mode::Document, &mut |token, _| emit(stems.term(token)));
    }

    /// What a query asks for: all its terms but the stop words, unless it has nothing else. The
    /// text must be normalised.
    pub(crate) fn query(&mut self, normalised: &str) -> Vec<Asked> {
        let Self { tokenizer, stems } = self;
        let (mut asked, mut stopped) = (Vec::new(), Vec::new());
        tokenizer.run(normalised, Mode::Query, &mut |token, span| {
            let list = if is_stop_word(token) { &mut stopped } else { &mut asked };
            list.push(Asked { term: stems.term(token).to_owned(), span });
        });
        if asked.is_empty() { stopped } else { asked }
    }
}

/// Turns tokens into terms; keeps its buffer from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Stems(Vec<u8>);

impl Stems {
    pub(crate) fn term<'a>(&'a mut self, token: &'a str) -> &'a str {
        self.0.clear();
        self.0.extend_from_slice(token.as_bytes());
        stem(&mut self.0);
        // A stem is ASCII where the token was changed at all.
        std::str::from_utf8(&self.0).unwrap_or(token)
    }
}

/// A term of a query and where it stands in the query's normalised text.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) term: String,
    pub(crate) span: Range<usize>,
}

/// Whether a word, in lower case and without apostrophes, says nothing about a text.
pub fn is_stop_word(token: &str) -> bool {
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
            Analyzer::default().query(query).into_iter().map(|asked| asked.term).collect()
        };
        assert_eq!(terms("what is the deployment process"), ["deploy", "process"]);
        assert_eq!(terms("who are you"), ["who", "are", "you"]);
        assert_eq!(terms("isn't it"), ["isnt", "it"]);
        assert!(terms("").is_empty());
    }

    #[test]
    fn stems_meet() {
        let term = |token: &str| Stems::default().term(token).to_owned();
        assert_eq!(term("running"), term("runs"));
        assert_eq!(term("memories"), term("memory"));
        assert_eq!(term("1.2.3"), "1.2.3");
        assert_eq!(term("über"), "über");
    }
}
