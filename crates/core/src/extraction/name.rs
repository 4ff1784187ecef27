//! Names: runs of capitalised words, told from the words that are capital for other reasons.

use super::sentence::Word;

/// Capital words that name nobody.
const COMMON: &[&str] = &[
    "i",
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "my",
    "our",
    "your",
    "his",
    "her",
    "its",
    "their",
    "we",
    "you",
    "he",
    "she",
    "it",
    "they",
    "and",
    "but",
    "or",
    "so",
    "if",
    "when",
    "while",
    "because",
    "since",
    "after",
    "before",
    "please",
    "always",
    "never",
    "not",
    "no",
    "yes",
    "also",
    "actually",
    "maybe",
    "today",
    "tomorrow",
    "yesterday",
    "there",
    "here",
    "every",
    "all",
    "some",
    "most",
    "many",
    "in",
    "on",
    "at",
    "for",
    "to",
    "from",
    "with",
    "by",
    "of",
    "as",
    "is",
    "are",
    "was",
    "were",
    "let",
    "just",
    "then",
    "now",
    "well",
    "ok",
    "okay",
    "hi",
    "hey",
    "hello",
    "thanks",
    "sorry",
    "what",
    "who",
    "how",
    "why",
    "where",
    "which",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "pm",
    "am",
    "decision",
    "correction",
    "note",
    "fyi",
    "btw",
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "christmas",
    "easter",
    "everyone",
    "everybody",
    "someone",
    "somebody",
    "nobody",
    "nothing",
    "something",
    "things",
    "people",
    "anyway",
    "unfortunately",
    "finally",
    "recently",
    "currently",
    "the user",
    "user",
    "assistant",
    "team",
    "both",
    "each",
    "one",
    "two",
    "three",
    "will",
    "can",
    "should",
    "do",
    "does",
    "did",
    "have",
    "has",
    "remember",
    "still",
    "only",
    "other",
    "another",
];
/// Lower-case words that stand within names.
const JOINTS: &[&str] = &["of", "de", "da", "do", "del", "van", "von", "der", "la", "le", "the"];
const ORGANIZATIONS: &[&str] = &[
    "inc",
    "ltd",
    "llc",
    "gmbh",
    "corp",
    "corporation",
    "company",
    "university",
    "institute",
    "bank",
    "group",
    "labs",
    "foundation",
    "hospital",
    "school",
    "college",
    "ministry",
    "agency",
    "studios",
    "systems",
    "technologies",
    "society",
    "association",
    "council",
    "partners",
];
/// They say where someone is from, not who they are.
const DEMONYMS: &[&str] = &[
    "german",
    "dutch",
    "swiss",
    "greek",
    "french",
    "welsh",
    "czech",
    "thai",
    "catholic",
    "muslim",
    "christian",
    "buddhist",
    "hindu",
    "protestant",
    "atheist",
    "italian",
    "canadian",
    "indian",
    "brazilian",
    "russian",
    "american",
    "african",
    "asian",
    "european",
    "mexican",
    "australian",
    "austrian",
    "belgian",
    "norwegian",
    "ukrainian",
    "romanian",
    "hungarian",
    "korean",
    "chilean",
    "peruvian",
    "colombian",
    "egyptian",
    "moroccan",
    "nigerian",
    "kenyan",
    "argentinian",
];

/// The name that the words begin with, and how many of them it takes.
pub(super) fn leading(words: &[Word]) -> Option<(usize, String)> {
    let mut length = 0;
    let mut end = 0;
    while let Some(word) = words.get(length) {
        if is_part(word) {
            end = length + 1;
            if word.pauses() || owner(word).is_some() {
                break;
            }
        } else if end == 0 || !word.is(JOINTS) {
            break;
        }
        length += 1;
    }
    (end > 0).then(|| (end, written(&words[..end])))
}

fn is_part(word: &Word) -> bool {
    let bare = owner(word).unwrap_or(&word.lower);
    word.is_capital() && !COMMON.contains(&bare) && word.text.chars().any(char::is_alphabetic)
}

/// Whose it is: the word without its "'s".
pub(super) fn owner(word: &Word) -> Option<&str> {
    word.lower.strip_suffix("'s")
}

fn written(words: &[Word]) -> String {
    let text: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
    let text = text.join(" ");
    text.strip_suffix("'s").map_or_else(|| text.clone(), str::to_owned)
}

/// The names in the words, but for one that only the beginning of a sentence may have made capital.
pub(super) fn all(words: &[Word]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut place = 0;
    while place < words.len() {
        match leading(&words[place..]) {
            Some((length, name)) => {
                if !is_demonym(&name) && !names.contains(&name) {
                    names.push(name);
                }
                place += length;
            }
            None => place += 1,
        }
    }
    names
}

pub(super) fn is_demonym(name: &str) -> bool {
    let lower = name.to_lowercase();
    let ending = ["ish", "ese"].iter().any(|ending| lower.ends_with(ending));
    DEMONYMS.contains(&lower.as_str()) || (ending && !lower.contains(' '))
}

/// What a name is of, by its own words.
pub(super) fn kind_of(name: &str) -> &'static str {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| {
        lower.split_whitespace().any(|word| words.contains(&word.trim_end_matches('.')))
    };
    if has(ORGANIZATIONS) { "organization" } else { crate::node::ENTITY }
}
