//! What is not worth keeping: questions, greetings, thanks, orders of the moment, what was itself
//! recalled, and secrets.

use super::sentence::Sentence;
use crate::conversation::Turn;

/// A turn with this in its metadata shows what was recalled.
const RECALLED: &str = "recalled";
/// How a memory is cited.
const CITATION: &str = "[mem:";
/// Roles that do not speak of themselves.
const MACHINES: &[&str] = &["system", "tool", "function", "developer"];

const QUESTIONS: &[&str] = &[
    "what", "who", "whom", "whose", "how", "why", "when", "where", "which", "do", "does", "did",
    "can", "could", "would", "will", "is", "are", "was", "were", "should", "shall", "may", "have",
    "has", "am",
];
const ORDERS: &[&str] = &[
    "tell",
    "show",
    "give",
    "write",
    "explain",
    "help",
    "find",
    "remind",
    "list",
    "translate",
    "summarize",
    "summarise",
    "create",
    "make",
    "add",
    "fix",
    "check",
    "run",
    "open",
    "search",
    "look",
    "draft",
    "compare",
    "generate",
    "describe",
    "rewrite",
    "convert",
    "suggest",
    "try",
    "read",
    "send",
    "book",
    "order",
    "cancel",
    "delete",
    "remove",
    "go",
    "stop",
    "continue",
    "do",
    "let",
    "consider",
];
const SMALL_TALK: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "thanks",
    "thank",
    "bye",
    "goodbye",
    "cheers",
    "lol",
    "haha",
    "wow",
    "cool",
    "great",
    "awesome",
    "nice",
    "congrats",
    "congratulations",
    "welcome",
];
const SUPPOSITIONS: &[&[&str]] = &[
    &["if"],
    &["suppose"],
    &["imagine"],
    &["unless"],
    &["assuming"],
    &["what", "if"],
    &["let", "us", "say"],
    &["i", "wish"],
    &["i", "would"],
    &["i", "wonder"],
    &["i", "could"],
    &["i", "should"],
    &["in", "theory"],
];
/// What nobody should find in a memory.
const SECRETS: &[&str] = &[
    "password",
    "passwords",
    "passcode",
    "passphrase",
    "pin",
    "cvv",
    "ssn",
    "api-key",
    "apikey",
    "token",
    "secret",
    "credentials",
];
/// Words of those who want to be obeyed rather than remembered.
const SCHEMES: &[&str] = &["ignore", "disregard", "override", "jailbreak"];

/// Whether nothing can be learned from a turn, whatever it says.
pub(super) fn is_junk_turn(turn: &Turn) -> bool {
    if MACHINES.contains(&turn.role.as_str()) {
        return true;
    }
    if turn.metadata.get(RECALLED).is_some_and(|value| value.as_bool() != Some(false)) {
        return true;
    }
    // An assistant tells what it was told. Only a person in that seat speaks of themselves.
    let is_machine = turn.speaker.is_none() || turn.model.is_some();
    turn.role == "assistant" && (is_machine || turn.content.contains(CITATION))
}

pub(super) fn is_junk(sentence: &Sentence) -> bool {
    let Some(first) = sentence.words.first() else { return true };
    if sentence.asks || sentence.words.len() < 3 {
        return true;
    }
    let text = sentence.words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ");
    let cites = sentence.words.iter().any(|word| word.text.contains("mem:"));
    let orders = first.is(ORDERS) && !sentence.starts(&["let", "us", "go", "with"]);
    let chats = first.is(SMALL_TALK) && !first.pauses();
    let asks = first.is(QUESTIONS) && !first.pauses();
    let supposes = SUPPOSITIONS.iter().any(|words| sentence.starts(words));
    cites
        || orders
        || chats
        || asks
        || supposes
        || sentence.has(SECRETS)
        || sentence.has(SCHEMES)
        || text.contains("api key")
        || text.contains("credit card")
}
