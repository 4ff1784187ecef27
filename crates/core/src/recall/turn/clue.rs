//! What a question gives away beside its words: who spoke, and when.

use super::dates::Dates;
use crate::recall::names::{Mention, longest, mentions};
use crate::recall::rest::says_what;
use crate::recall::times::Times;
use crate::text::{fold_name, without_accents};

/// Openings that ask for a time.
const ASKS_WHEN: [&str; 9] = [
    "when",
    "how long",
    "how many days",
    "how many weeks",
    "what date",
    "what day",
    "what month",
    "what year",
    "what time",
];

/// What is known of a question before anything is searched.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::recall) struct Clue {
    /// The question without the names of speakers: who speaks says it in fields, and who is
    /// spoken to is named in greetings. Nor has it words such as "last week", which say where to look.
    pub words: String,
    /// What `words` lacks.
    pub names: String,
    /// The one speaker that it names, or all that are called by that one name. Where it names
    /// several, it is about what they say together.
    pub speakers: Vec<String>,
    pub dates: Dates,
    pub asks_when: bool,
    /// Whether nothing else is asked than what that one said: then there is nothing to search by.
    pub only_speaker: bool,
    /// Whether nothing else is asked than what was said at some time.
    pub only_time: bool,
    /// Words by which speakers are called, as names are compared.
    pub callings: Vec<String>,
}

impl Clue {
    pub(in crate::recall) fn of(query: &str, speakers: &[String]) -> Self {
        let known: Vec<_> = speakers.iter().map(Known::new).collect();
        let found = mentions(query).into_iter().filter_map(|mention| {
            let bearers = bearers(&known, &mention.key);
            (!bearers.is_empty()).then_some((mention, bearers))
        });
        let found = longest(found.collect());
        let mut named: Vec<_> = found.iter().map(|(_, bearers)| bearers).collect();
        named.sort_unstable();
        named.dedup();
        let speakers = match named[..] {
            [one] => one.iter().map(|speaker| (*speaker).clone()).collect(),
            _ => vec![],
        };
        let lower = query.to_lowercase();
        let (words, names) = apart(query, &found);
        Self {
            words,
            names,
            only_speaker: false,
            only_time: false,
            speakers,
            dates: Dates::of(query),
            callings: known.into_iter().flat_map(|it| it.keys).collect(),
            asks_when: ASKS_WHEN.iter().any(|words| has_words(&lower, words)),
        }
    }

    /// The same, with the times that the question asks about seen from when it is asked.
    pub(super) fn with(self, times: Times) -> Self {
        let left = times.left_of(&self.words).map(|left| left.words);
        let asked = left.as_ref().unwrap_or(&self.words);
        let nothing_else =
            times.are_all_of(&self.words) || !asked.split_whitespace().any(says_what);
        let only_speaker = nothing_else && !self.speakers.is_empty() && !self.names.is_empty();
        let only_time = nothing_else && !times.is_empty();
        let words = times.sought(&self.words);
        Self { words, only_speaker, only_time, dates: self.dates.with(times), ..self }
    }

    /// Whether a turn was said by the one speaker that the question names.
    pub(super) fn is_speaker(&self, speaker: Option<&str>) -> bool {
        speaker.is_some_and(|speaker| self.speakers.iter().any(|named| named == speaker))
    }
}

/// In how many ways a speaker is called.
const WAYS: usize = 2;

/// A speaker, and how they are called: by the whole name, or else by its first word.
struct Known<'s> {
    speaker: &'s String,
    keys: Vec<String>,
    /// The same without accents.
    plain: Vec<String>,
}

impl<'s> Known<'s> {
    fn new(speaker: &'s String) -> Self {
        let keys = keys(speaker);
        let plain = keys.iter().map(|key| without_accents(key)).collect();
        Self { speaker, keys, plain }
    }

    /// How far from the whole name a name for them is; nothing, where it is none.
    fn distance(&self, key: &str, plain: &str) -> Option<usize> {
        let place = |keys: &[String], key: &str| keys.iter().position(|called| called == key);
        let alike = || place(&self.plain, plain).map(|place| place + WAYS);
        place(&self.keys, key).or_else(alike)
    }
}

/// Those whom a name is nearest to. There may be several, called by the same first name.
fn bearers<'s>(known: &[Known<'s>], key: &str) -> Vec<&'s String> {
    let plain = without_accents(key);
    let called = known.iter().filter_map(|it| Some((it.distance(key, &plain)?, it.speaker)));
    let called: Vec<_> = called.collect();
    let nearest = called.iter().map(|(distance, _)| *distance).min();
    let nearest = called.iter().filter(|(distance, _)| Some(*distance) == nearest);
    nearest.map(|(_, speaker)| *speaker).collect()
}

/// A speaker is called by the whole name or by its first word.
fn keys(speaker: &str) -> Vec<String> {
    let whole = fold_name(speaker);
    let first = whole.split(' ').next().unwrap_or_default().to_owned();
    let mut keys = vec![whole];
    if !first.is_empty() && !keys.contains(&first) {
        keys.push(first);
    }
    keys
}

/// The question without names, and the names; all of it, if nothing else is in it.
fn apart<T>(query: &str, found: &[(Mention, T)]) -> (String, String) {
    let named = |place: usize| found.iter().any(|(mention, _)| mention.words.contains(&place));
    let words = query.split_whitespace().enumerate();
    let (names, words): (Vec<_>, Vec<_>) = words.partition(|(place, _)| named(*place));
    if words.is_empty() || names.is_empty() {
        return (query.to_owned(), String::new());
    }
    let joined = |words: Vec<(usize, &str)>| {
        words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
    };
    (joined(words), joined(names))
}

/// Whether the words stand there, not as parts of longer ones.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clue(query: &str) -> Clue {
        Clue::of(query, &["Ana Lima".to_owned(), "Bo".to_owned()])
    }

    #[test]
    fn speakers_are_taken_out_and_kept_as_a_field() {
        let asked = clue("When did Ana paint the boat?");
        assert_eq!(asked.words, "When did paint the boat?");
        assert_eq!(asked.names, "Ana");
        assert_eq!(asked.speakers, ["Ana Lima"]);
        assert!(asked.asks_when);
        assert!(asked.is_speaker(Some("Ana Lima")) && !asked.is_speaker(Some("Bo")));
        let asked = clue("What is Ana Lima's boat called?");
        assert_eq!((asked.words.as_str(), asked.asks_when), ("What is boat called?", false));
    }

    #[test]
    fn a_first_name_is_everybody_who_has_it_and_a_whole_name_one() {
        let speakers = ["Ana Lima", "Ana Sousa", "José", "Jose Dias"].map(str::to_owned);
        let named = |query: &str| Clue::of(query, &speakers).speakers;
        assert_eq!(named("What did Ana paint?"), ["Ana Lima", "Ana Sousa"]);
        assert_eq!(named("What did Ana Sousa paint?"), ["Ana Sousa"]);
        assert_eq!(named("What did José paint?"), ["José"]);
        assert_eq!(named("What did Jose paint?"), ["Jose Dias"]);
        assert!(named("What did Ana and José paint?").is_empty());
        let accented = ["Zoë Brandt".to_owned()];
        assert_eq!(Clue::of("where does Zoe live?", &accented).speakers, accented);
        assert_eq!(Clue::of("where does Zoé live?", &accented).speakers, accented);
    }

    #[test]
    fn when_it_was_may_be_all_that_is_asked() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let only = |query: &str| clue(query).with(Times::of(query, now)).only_time;
        for query in ["What happened on 2026-02-03?", "what did everyone say yesterday?", "today"] {
            assert!(only(query), "{query}");
        }
        for query in ["What happened?", "what did the boat cost last week?", "which boat?"] {
            assert!(!only(query), "{query}");
        }
    }

    #[test]
    fn what_somebody_said_may_be_all_that_is_asked() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let only = |query: &str| clue(query).with(Times::of(query, now)).only_speaker;
        for query in ["What did Bo say?", "what did Bo talk about last Friday?", "Bo, yesterday"] {
            assert!(only(query), "{query}");
        }
        for query in ["What did Bo say about boats?", "What did we say?", "Bo", "Bo and Ana said?"]
        {
            assert!(!only(query), "{query}");
        }
    }

    #[test]
    fn several_speakers_are_nobody_in_particular() {
        let asked = clue("What did ana and bo argue about?");
        assert!(asked.speakers.is_empty());
        assert_eq!(asked.words, "What did and argue about?");
        assert_eq!(asked.names, "ana bo");
        assert!(!asked.is_speaker(None));
        let asked = clue("Ana");
        assert_eq!(asked.words, "Ana", "something must be left to search for");
        assert_eq!(asked.names, "");
        assert!(!clue("whenever a banana").asks_when);
    }
}
