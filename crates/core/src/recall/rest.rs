//! What a question asks for besides whom it names: "the launch" of "what did Ana say about the
//! launch?". A name leads to much that is about something else.

use std::collections::HashSet;

use super::names::{is_stop_word, mentions};

/// Words that ask for what was said or done, and say nothing of what it is about. Sorted.
const ASKING: &[&str] = &[
    "anybody",
    "anyone",
    "anything",
    "discuss",
    "discussed",
    "ever",
    "everybody",
    "everyone",
    "everything",
    "happen",
    "happened",
    "happening",
    "happens",
    "last",
    "lately",
    "latest",
    "mention",
    "mentioned",
    "newest",
    "recently",
    "said",
    "say",
    "saying",
    "says",
    "somebody",
    "someone",
    "something",
    "speak",
    "spoke",
    "talk",
    "talked",
    "talking",
    "tell",
    "thing",
    "things",
    "told",
    "write",
    "wrote",
];

/// A question taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rest {
    /// The names that are in it.
    pub names: String,
    /// The other words, as far as they say what is asked about.
    pub words: String,
}

impl Rest {
    /// `keys` are names as they are compared, and `speakers` words of the question that name
    /// somebody. Nothing, where it names nobody, or asks for nothing else.
    pub(super) fn of(query: &str, keys: &HashSet<String>, speakers: &str) -> Option<Self> {
        let speakers: HashSet<&str> = speakers.split_whitespace().collect();
        let mentioned: Vec<_> =
            mentions(query).into_iter().filter(|it| keys.contains(&it.key)).collect();
        let is_name = |(place, word): &(usize, &str)| {
            speakers.contains(word) || mentioned.iter().any(|it| it.words.contains(place))
        };
        let words = query.split_whitespace().enumerate();
        let (names, others): (Vec<_>, Vec<_>) = words.partition(is_name);
        let joined = |words: &mut dyn Iterator<Item = (usize, &str)>| {
            words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
        };
        let names = joined(&mut names.into_iter());
        let words = joined(&mut others.into_iter().filter(|(_, word)| says_what(word)));
        (!names.is_empty() && !words.is_empty()).then_some(Self { names, words })
    }
}

/// Whether a word of a question tells what is asked about.
pub(super) fn says_what(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    !bare.is_empty() && !is_stop_word(&bare) && ASKING.binary_search(&bare.as_str()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_for_more_than_whom_it_names() {
        assert!(ASKING.is_sorted());
        let keys = HashSet::from(["ana lima".to_owned(), "apollo".to_owned()]);
        let rest = |query: &str, speakers: &str| {
            Rest::of(query, &keys, speakers).map(|rest| (rest.names, rest.words))
        };
        let of = |names: &str, words: &str| Some((names.to_owned(), words.to_owned()));
        let asked = rest("What did Ana Lima say about the launch?", "");
        assert_eq!(asked, of("Ana Lima", "launch?"));
        assert_eq!(rest("Bo's port of Apollo", "Bo's"), of("Bo's Apollo", "port"));
        assert_eq!(rest("what did Bo tell me?", "Bo"), None, "nothing else is asked");
        assert_eq!(rest("when is the launch?", ""), None, "nobody is named");
    }
}
