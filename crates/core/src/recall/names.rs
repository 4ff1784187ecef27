//! The names that a query may have in it: runs of its words, in the form in which names are
//! compared. Whether anybody has such a name is for the store to say.

use std::ops::RangeInclusive;

use crate::text::fold_name;

/// A longer query names what it is about among its first words.
const WORDS_MAX: usize = 64;
/// The most words of one name.
const NAME_WORDS_MAX: usize = 4;
/// What stands around words without being a part of them.
const AROUND: &[char] =
    &['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '[', ']', '{', '}', '…', '`', '*'];
const QUOTES: &[char] = &['“', '”', '„', '‘', '’', '«', '»', '¿', '¡', '。', '，', '？', '！'];
const POSSESSIVES: [&str; 4] = ["'s", "’s", "'", "’"];

/// Words that name nothing when they stand alone. Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is",
    "it", "its", "like", "may", "me", "might", "more", "most", "must", "my", "no", "not", "of",
    "on", "one", "or", "our", "ours", "shall", "she", "should", "so", "some", "such", "tell",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "up", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// A run of words that may be a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// As names are compared.
    pub key: String,
    /// Which words of the query.
    pub words: RangeInclusive<usize>,
}

impl Mention {
    fn is_inside(&self, other: &Self) -> bool {
        self.words != other.words
            && other.words.contains(self.words.start())
            && other.words.contains(self.words.end())
    }

    fn length(&self) -> usize {
        self.words.end() - self.words.start() + 1
    }
}

/// Every run of one to four words, as it stands and without what stands around it.
pub(super) fn mentions(query: &str) -> Vec<Mention> {
    let words: Vec<&str> = query.split_whitespace().take(WORDS_MAX).collect();
    let mut mentions = Vec::new();
    for first in 0..words.len() {
        for last in first..words.len().min(first + NAME_WORDS_MAX) {
            if first == last && words.len() > 1 && names_nothing(&words, first) {
                continue;
            }
            for key in forms(&words[first..=last].join(" ")) {
                mentions.push(Mention { key, words: first..=last });
            }
        }
    }
    mentions
}

/// Those that are not part of a longer one, the longest first, then in the order of the query.
pub(super) fn longest<T>(mut found: Vec<(Mention, T)>) -> Vec<(Mention, T)> {
    let all: Vec<Mention> = found.iter().map(|(mention, _)| mention.clone()).collect();
    found.retain(|(mention, _)| !all.iter().any(|other| mention.is_inside(other)));
    found.sort_by_key(|(mention, _)| (std::cmp::Reverse(mention.length()), *mention.words.start()));
    found
}

fn forms(text: &str) -> Vec<String> {
    let bare = bare(text);
    let owner = POSSESSIVES.iter().find_map(|ending| bare.strip_suffix(ending));
    let mut forms: Vec<String> = Vec::new();
    for form in [Some(text), Some(bare), owner].into_iter().flatten() {
        let key = fold_name(form);
        if !key.is_empty() && !forms.contains(&key) {
            forms.push(key);
        }
    }
    forms
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c| AROUND.contains(&c) || QUOTES.contains(&c))
}

/// Whether a word names nothing and says nothing by itself.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&bare(word).to_lowercase().as_str()).is_ok()
}

/// A stop word is a name after all where only a name is spelt so: in capitals, or beginning with
/// one inside of a sentence.
fn names_nothing(words: &[&str], place: usize) -> bool {
    if !is_stop_word(words[place]) {
        return false;
    }
    let letters = bare(words[place]);
    let is_long = letters.chars().nth(1).is_some();
    let in_capitals = is_long && letters.chars().all(char::is_uppercase);
    let others_too = words.iter().any(|word| word.chars().any(char::is_lowercase));
    let inside = place > 0 && !words[place - 1].ends_with(['.', '!', '?', ':']);
    let capital = is_long && letters.chars().next().is_some_and(char::is_uppercase);
    !((in_capitals && others_too) || (inside && capital && others_too))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(query: &str) -> Vec<String> {
        mentions(query).into_iter().map(|mention| mention.key).collect()
    }

    fn names(query: &str, known: &[&str]) -> Vec<String> {
        let found = mentions(query).into_iter().filter(|m| known.contains(&m.key.as_str()));
        longest(found.map(|m| (m, ())).collect()).into_iter().map(|(m, ())| m.key).collect()
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn runs_of_up_to_four_words_may_be_names() {
        let keys = keys("one two three four five");
        for run in ["two", "two three four five"] {
            assert!(keys.contains(&run.to_owned()), "{run}");
        }
        assert!(!keys.contains(&"one two three four five".to_owned()));
    }

    #[test]
    fn what_stands_around_a_name_is_no_part_of_it_unless_it_is() {
        assert_eq!(names("Who is “Ana  Díaz”?", &["ana díaz"]), ["ana díaz"]);
        assert_eq!(names("Ana's cat, and James' dog", &["ana", "james"]), ["ana", "james"]);
        assert_eq!(names("we left Yahoo! for C++.", &["yahoo!", "c++"]), ["yahoo!", "c++"]);
        assert_eq!(names("the St. Petersburg office", &["st. petersburg"]), ["st. petersburg"]);
    }

    #[test]
    fn the_longest_name_wins_over_those_inside_it() {
        let known = ["new york", "york", "new york times", "times square"];
        assert_eq!(names("the New York Times", &known), ["new york times"]);
        assert_eq!(names("York and New York", &known), ["new york", "york"]);
        let overlapping = names("new york times square", &known);
        assert_eq!(overlapping, ["new york times", "times square"], "neither is inside the other");
    }

    #[test]
    fn a_stop_word_is_a_name_only_where_it_is_spelt_like_one() {
        let known = ["it", "will", "may", "the", "i", "the who"];
        let none: [&str; 0] = [];
        assert_eq!(names("is it the one I may like?", &known), none);
        assert_eq!(names("Will it rain?", &known), none, "a sentence begins with a capital");
        assert_eq!(names("It rains. May I stay?", &known), none);
        assert_eq!(names("does Will work in IT", &known), ["will", "it"]);
        assert_eq!(names("WILL IT RAIN", &known), none, "all of it is in capitals");
        assert_eq!(names("it", &known), ["it"], "nothing else is said");
        assert_eq!(names("songs by the who", &known), ["the who"]);
    }

    #[test]
    fn a_long_query_is_read_up_to_a_limit() {
        let long = "word ".repeat(3_000);
        assert!(mentions(&long).len() <= WORDS_MAX * NAME_WORDS_MAX * 3);
        assert!(mentions("").is_empty());
    }
}
