//! What a thing is: a deadline's date, a budget's amount, somebody's address.

use super::name;
use super::pattern::capital;
use super::sentence::{Word, write};
use super::subject::Subject;
use super::time::Period;

/// They stand between a thing and its value.
const FILLERS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "will",
    "be",
    "has",
    "been",
    "due",
    "moved",
    "postponed",
    "set",
    "scheduled",
    "planned",
    "changed",
    "pushed",
    "to",
    "for",
    "on",
    "at",
    "by",
    "now",
    "starting",
    "starts",
    "ends",
    "rescheduled",
    "brought",
    "forward",
    "back",
];
/// Things of somebody whose value may be any words.
const OWN: &[&str] = &[
    "name", "email", "e-mail", "phone", "number", "address", "birthday", "timezone", "zone", "job",
    "title", "role", "team", "username", "handle", "nickname", "pronouns", "hometown", "language",
    "github", "hobby", "dream", "major", "car", "budget", "salary",
];
/// Things of the moment.
const PASSING: &[&str] = &[
    "answer",
    "problem",
    "error",
    "issue",
    "point",
    "question",
    "thing",
    "result",
    "output",
    "code",
    "test",
    "tests",
    "line",
    "bug",
    "reason",
    "idea",
    "guess",
    "output",
    "command",
    "function",
    "page",
    "file",
    "message",
    "way",
    "rest",
    "first",
    "second",
    "last",
    "next",
    "following",
    "above",
    "same",
    "only",
];
const VALUE_WORDS_MAX: usize = 8;

/// What the predicate gives as the value of a thing, and whether that is a name.
pub(super) fn value(
    subject: &Subject,
    predicate: &[Word],
    period: Option<&Period>,
    is_lower: bool,
) -> Option<String> {
    let start = predicate.iter().position(|word| !word.is(FILLERS)).unwrap_or(predicate.len());
    if start == 0 || !predicate[0].is(FILLERS) {
        return None;
    }
    let value = &predicate[start..];
    let text = subject.text.to_lowercase();
    let words: Vec<_> = text.split(' ').collect();
    let last = words.last().copied().unwrap_or_default();
    if words.iter().any(|word| PASSING.contains(word)) {
        return None;
    }
    let own = text.contains("'s ")
        && (OWN.contains(&last) || text.contains("favourite ") || text.contains("favorite "));
    if value.is_empty() {
        return period.map(|_| String::new());
    }
    let cut = value.iter().position(Word::pauses).map_or(value.len(), |place| place + 1);
    let value = &value[..cut];
    if value.len() > VALUE_WORDS_MAX
        || value.first().is_some_and(|word| word.is(&["not", "that", "what", "how", "to", "in"]))
    {
        return None;
    }
    if last == "name" {
        if is_lower {
            return (value.len() == 1).then(|| capital(&value[0].text));
        }
        let (length, named) = name::leading(value)?;
        return (length == value.len()).then_some(named);
    }
    let has_figure = value.iter().any(|word| word.lower.contains(|c: char| c.is_ascii_digit()));
    (own || has_figure || period.is_some()).then(|| write(value))
}
