//! A small language for what clauses look like.
//!
//! A pattern is words with spaces between: `a|b` is either, `a?` may be missing, `<x:place>` takes
//! what is a place and calls it x. It begins where the words begin and may end before they do.

use super::name;
use super::sentence::{Word, write};

/// Where a phrase ends.
const BOUNDARIES: &[&str] = &[
    "but", "because", "so", "since", "although", "though", "which", "where", "when", "whenever",
    "while", "if", "unless", "until", "who", "whose", "these", "not",
];
/// What may stand behind a name without being a part of it.
const BEHIND_NAMES: &[&str] = &[
    "and",
    "as",
    "in",
    "on",
    "with",
    "now",
    "for",
    "at",
    "from",
    "instead",
    "near",
    "again",
    "over",
    "to",
    "by",
    "or",
    "too",
    "together",
    "these",
    "today",
    "full-time",
    "part-time",
    "remotely",
];
const PRONOUNS: &[&str] = &[
    "it", "that", "this", "them", "him", "her", "you", "your", "how", "what", "these", "those",
    "me", "us", "so", "one", "i", "we", "when", "where", "if",
];
const DETERMINERS: &[&str] = &["a", "an", "the", "my", "our", "some", "this", "that", "his", "her"];
const PHRASE_WORDS_MAX: usize = 12;
/// How names of occupations end, and those that do not end so.
const OCCUPATION_ENDINGS: &[&str] = &[
    "eer",
    "ician",
    "ist",
    "yer",
    "teacher",
    "developer",
    "designer",
    "manager",
    "writer",
    "programmer",
    "architect",
    "accountant",
    "consultant",
    "researcher",
    "director",
    "officer",
    "baker",
    "painter",
    "driver",
    "farmer",
    "trainer",
    "worker",
    "photographer",
    "lecturer",
    "carpenter",
    "plumber",
    "waiter",
    "barber",
    "banker",
    "broker",
    "producer",
    "editor",
    "actor",
    "professor",
    "doctor",
    "surgeon",
    "translator",
    "contractor",
    "administrator",
    "investor",
];
const OCCUPATIONS: &[&str] = &[
    "nurse",
    "cto",
    "ceo",
    "cfo",
    "coo",
    "vp",
    "chef",
    "cook",
    "student",
    "pilot",
    "lawyer",
    "analyst",
    "musician",
    "librarian",
    "founder",
    "freelancer",
    "intern",
    "judge",
    "vet",
    "dj",
    "veterinarian",
    "midwife",
    "firefighter",
    "soldier",
    "postdoc",
    "tutor",
    "coach",
    "clerk",
    "lead",
    "politician",
    "historian",
    "magician",
    "physician",
    "guide",
    "sre",
    "devops",
];

const TRAITS: &[&str] = &[
    "vegetarian",
    "vegan",
    "pescatarian",
    "diabetic",
    "retired",
    "pregnant",
    "left-handed",
    "right-handed",
    "colour-blind",
    "colorblind",
    "celiac",
    "coeliac",
    "gluten-free",
    "teetotal",
    "dyslexic",
    "deaf",
    "blind",
    "divorced",
    "single",
    "widowed",
    "unemployed",
    "self-employed",
    "bilingual",
    "lactose-intolerant",
    "married",
    "engaged",
    "asthmatic",
];
/// What it says something about a person to have, in the singular.
const POSSESSIONS: &[&str] = &[
    "dog",
    "cat",
    "son",
    "daughter",
    "kid",
    "children",
    "child",
    "brother",
    "sister",
    "car",
    "bike",
    "house",
    "degree",
    "phd",
    "horse",
    "parrot",
    "rabbit",
    "twin",
    "grandchildren",
    "allergy",
    "boat",
    "garden",
    "piano",
    "guitar",
    "motorcycle",
    "puppy",
    "puppies",
    "kitten",
    "goldfish",
    "nephew",
    "niece",
];

#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub called: char,
    pub words: Vec<Word>,
    pub text: String,
}

/// What a pattern took, and how many words it was long.
#[derive(Debug, Clone, Default)]
pub(super) struct Bound {
    pub taken: Vec<Taken>,
    pub length: usize,
}

impl Bound {
    pub(super) fn get(&self, called: char) -> Option<&Taken> {
        self.taken.iter().find(|taken| taken.called == called)
    }
}

pub(super) fn bind(pattern: &str, words: &[Word], is_lower: bool) -> Option<Bound> {
    let elements: Vec<_> = pattern.split(' ').collect();
    let mut bound = Bound::default();
    step(&elements, words, is_lower, &mut bound).then_some(bound)
}

fn step(elements: &[&str], words: &[Word], is_lower: bool, bound: &mut Bound) -> bool {
    let Some((element, others)) = elements.split_first() else { return true };
    if let Some(hole) = element.strip_prefix('<') {
        let (called, kind) = hole.trim_end_matches('>').split_once(':').unwrap_or((hole, ""));
        let called = called.chars().next().unwrap_or('x');
        return take(called, kind, others, words, is_lower, bound);
    }
    let (choices, optional) = element.strip_suffix('?').map_or((*element, false), |e| (e, true));
    if let Some((word, behind)) = words.split_first()
        && choices.split('|').any(|choice| choice == word.lower)
    {
        let before = bound.clone();
        bound.length += 1;
        // A pattern does not reach over a pause, unless it ends there.
        let may_go_on = !word.pauses() || others.is_empty();
        if may_go_on && step(others, behind, is_lower, bound) {
            return true;
        }
        *bound = before;
    }
    optional && step(others, words, is_lower, bound)
}

/// Gives a hole as few words as the rest of the pattern allows, or all up to a boundary where
/// nothing follows.
fn take(
    called: char,
    kind: &str,
    others: &[&str],
    words: &[Word],
    is_lower: bool,
    bound: &mut Bound,
) -> bool {
    let longest = reach(kind, words, is_lower);
    let lengths: Vec<usize> =
        if others.is_empty() { vec![longest] } else { (1..=longest).collect() };
    for length in lengths {
        let taken = &words[..length];
        if length == 0 || !fits(kind, taken, is_lower) {
            continue;
        }
        let before = bound.clone();
        let text = text_of(kind, taken, is_lower);
        bound.taken.push(Taken { called, words: taken.to_vec(), text });
        bound.length += length;
        let paused = taken.last().is_some_and(Word::pauses);
        let ends_well = !others.is_empty() || ends(kind, &words[length..], paused);
        if ends_well
            && (others.is_empty() || !paused)
            && step(others, &words[length..], is_lower, bound)
        {
            return true;
        }
        *bound = before;
    }
    false
}

/// How many words a hole may take at most.
fn reach(kind: &str, words: &[Word], is_lower: bool) -> usize {
    if is_name(kind) && !is_lower {
        let skip = usize::from(words.first().is_some_and(|word| word.lower == "the"));
        return name::leading(words.get(skip..).unwrap_or_default())
            .map_or(0, |(length, _)| length + skip);
    }
    if kind == "rest" {
        return words.len();
    }
    let most = if is_name(kind) { 3 } else { PHRASE_WORDS_MAX };
    let mut length = 0;
    for word in words.iter().take(most) {
        if word.is(BOUNDARIES) || (is_name(kind) && word.is(BEHIND_NAMES)) {
            break;
        }
        length += 1;
        if word.pauses() {
            break;
        }
    }
    length
}

fn is_name(kind: &str) -> bool {
    matches!(kind, "place" | "org" | "name")
}

fn fits(kind: &str, taken: &[Word], is_lower: bool) -> bool {
    let (Some(first), Some(last)) = (taken.first(), taken.last()) else { return false };
    match kind {
        "place" | "org" | "name" if is_lower => {
            !first.is(DETERMINERS)
                && !first.is(PRONOUNS)
                && !first.is(&["home", "night", "work", "least", "all", "once", "not"])
        }
        "place" | "org" | "name" | "rest" => true,
        "ajob" => first.is(&["a", "an", "the"]) && is_occupation(last) && taken.len() <= 6,
        "trait" => taken.len() == 1 && first.is(TRAITS),
        "possession" => {
            let counted = first.is(&["a", "an", "no", "two", "three", "four", "five", "six"]);
            let counted = counted || first.lower.parse::<u8>().is_ok();
            counted && taken.len() <= 5 && POSSESSIONS.contains(&last.lower.trim_end_matches('s'))
        }
        "job" => is_occupation(last) && !first.is(PRONOUNS) && taken.len() <= 5,
        "number" => taken.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit())),
        "figure" => taken.iter().any(|word| {
            word.lower.contains(|c: char| c.is_ascii_digit()) || word.lower.contains('@')
        }),
        _ => !first.is(PRONOUNS) && (taken.len() > 1 || !first.is(DETERMINERS)),
    }
}

fn is_occupation(word: &Word) -> bool {
    let lower = word.lower.trim_end_matches('s');
    OCCUPATIONS.contains(&lower)
        || OCCUPATION_ENDINGS.iter().any(|ending| lower.ends_with(ending) && lower.len() > 3)
}

/// Whether a name may end here: in the midst of a longer phrase it is none.
fn ends(kind: &str, behind: &[Word], paused: bool) -> bool {
    if !is_name(kind) || paused {
        return true;
    }
    behind.first().is_none_or(|word| word.is(BEHIND_NAMES) || word.is(BOUNDARIES))
}

fn text_of(kind: &str, taken: &[Word], is_lower: bool) -> String {
    let text = write(taken);
    if is_name(kind) && is_lower {
        return text.split(' ').map(capital).collect::<Vec<_>>().join(" ");
    }
    text.strip_suffix("'s").filter(|_| is_name(kind)).map_or_else(|| text.clone(), str::to_owned)
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    first + chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::super::sentence::sentences;
    use super::*;

    fn x(pattern: &str, text: &str) -> Option<String> {
        let sentence = sentences(text).remove(0);
        let is_lower = !sentence.words.iter().any(Word::is_capital);
        bind(pattern, &sentence.words, is_lower)?.get('x').map(|taken| taken.text.clone())
    }

    #[test]
    fn holes_take_what_they_are_for() {
        assert_eq!(
            x("i live|reside in <x:place>", "I live in New York now").as_deref(),
            Some("New York")
        );
        assert_eq!(x("i live in <x:place>", "i live in lisbon").as_deref(), Some("Lisbon"));
        assert_eq!(x("i live in <x:place>", "i live in a flat"), None);
        assert_eq!(x("i joined <x:org>", "I joined Zoom calls today"), None);
        assert_eq!(
            x("i prefer <x:phrase> over <y:phrase>", "I prefer tea over coffee").as_deref(),
            Some("tea")
        );
        assert_eq!(x("i am a|an <x:job>", "I am a software engineer at Acme").as_deref(), None);
        assert_eq!(
            x("i am a|an <x:job> at <y:org>", "I am a software engineer at Acme").as_deref(),
            Some("software engineer")
        );
        assert_eq!(x("i am a|an <x:job>", "I am a bit tired"), None);
    }
}
