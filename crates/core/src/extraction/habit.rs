//! What a speaker wants of an assistant from now on.

use super::retell::third_person;
use super::sentence::Word;

/// What an assistant may be told to do always or never.
const HABITS: &[&str] = &[
    "reply",
    "answer",
    "use",
    "write",
    "format",
    "ask",
    "include",
    "call",
    "send",
    "show",
    "run",
    "check",
    "keep",
    "respond",
    "speak",
    "give",
    "add",
    "put",
    "sign",
    "cite",
    "address",
    "translate",
    "test",
    "explain",
    "start",
    "end",
    "commit",
    "push",
    "prefer",
    "mention",
    "quote",
    "make",
    "round",
    "convert",
    "suggest",
    "schedule",
    "book",
    "remind",
    "avoid",
    "delete",
    "print",
];

/// "please always reply in English": what the speaker wants from now on.
pub(super) fn habit(words: &[Word]) -> Option<String> {
    let polite = usize::from(words.first()?.lower == "please");
    let behind = words.get(polite..)?;
    let (skip, often) = match behind {
        [a, ..] if a.lower == "always" => (1, "always"),
        [a, ..] if a.lower == "never" => (1, "never"),
        [a, b, c, ..] if a.lower == "do" && b.lower == "not" && c.lower == "ever" => (3, "never"),
        [a, b, c, ..] if a.lower == "from" && b.lower == "on" && c.lower == "please" => {
            (3, "always")
        }
        [a, b, ..] if a.lower == "from" && b.lower == "on" => (2, "always"),
        _ => return None,
    };
    let act = behind.get(skip..)?;
    (act.len() > 1 && act[0].is(HABITS))
        .then(|| format!("wants the assistant to {often} {}", third_person(act)))
}
