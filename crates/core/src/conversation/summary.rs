//! A summary without a model: the lines that say most, retold in the third person.
//!
//! It names nobody: who spoke is "the user", "the assistant" or whatever the role is, and what
//! they said of themselves is said of that role.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Turn;

/// What is written where an episode says how its summary was made.
pub(super) const EXTRACTIVE: &str = "extractive";

const SENTENCES_MAX: usize = 8;
const SENTENCE_CHARS_MAX: usize = 240;
/// Shorter ones are greetings and the like.
const SENTENCE_WORDS_MIN: usize = 3;

/// Words that say nothing by themselves.
const COMMON: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "get", "got", "had", "has", "have", "he",
    "her", "hi", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let",
    "like", "me", "my", "no", "not", "now", "of", "ok", "okay", "on", "one", "or", "our", "out",
    "please", "she", "so", "some", "thank", "thanks", "that", "the", "their", "them", "then",
    "there", "they", "this", "to", "up", "us", "was", "we", "well", "were", "what", "when",
    "which", "who", "will", "with", "would", "yes", "you", "your",
];

struct Sentence<'t> {
    turn: &'t Turn,
    place: usize,
    text: &'t str,
    words: Vec<String>,
}

/// One paragraph about the turns.
pub(super) fn extract(turns: &[Turn]) -> String {
    let names = names(turns);
    let sentences = sentences(turns);
    let weights = weights(&sentences);
    let score = |sentence: &Sentence<'_>| {
        // In one order always: sums of the same figures in another may differ in their last place.
        let distinct: BTreeSet<_> = sentence.words.iter().collect();
        let sum: f64 = distinct.iter().filter_map(|word| weights.get(word.as_str())).sum();
        sum / (4.0 + sentence.words.len() as f64).sqrt()
    };
    let mut ranked: Vec<_> = sentences.iter().map(|s| (score(s), s)).collect();
    ranked.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.place.cmp(&y.place)));
    let mut chosen: Vec<&Sentence<'_>> = Vec::new();
    for (score, sentence) in ranked {
        let is_new = chosen.iter().all(|other| overlap(other, sentence) < 0.6);
        if score > 0.0 && is_new && chosen.len() < SENTENCES_MAX {
            chosen.push(sentence);
        }
    }
    chosen.sort_by_key(|sentence| sentence.place);
    let told: Vec<_> = chosen.into_iter().map(|sentence| retell(sentence, &names)).collect();
    if told.is_empty() {
        let roles: BTreeSet<_> = turns.iter().map(role).collect();
        let roles = roles.into_iter().collect::<Vec<_>>().join(" and ");
        return format!("{} exchanged short remarks only.", capital(&roles));
    }
    told.join(" ")
}

/// The speakers' names, longest first, each with what stands in its place.
pub(super) fn names(turns: &[Turn]) -> Vec<(String, String)> {
    let mut names = HashMap::new();
    for turn in turns {
        if let Some(speaker) = &turn.speaker {
            names.entry(speaker.to_lowercase()).or_insert_with(|| role(turn));
        }
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
    names
}

fn role(turn: &Turn) -> String {
    format!("the {}", turn.role)
}

fn sentences(turns: &[Turn]) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    for turn in turns {
        for text in turn.content.split_inclusive(['.', '!', '?', '\n']) {
            let text = text.trim();
            let words: Vec<_> = text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect();
            if words.len() >= SENTENCE_WORDS_MIN {
                let words = words.into_iter().filter(|w| !COMMON.contains(&w.as_str())).collect();
                sentences.push(Sentence { turn, place: sentences.len(), text, words });
            }
        }
    }
    sentences
}

/// A word that comes back carries the conversation; one that is everywhere does not.
fn weights<'s>(sentences: &'s [Sentence<'_>]) -> HashMap<&'s str, f64> {
    let mut counts = HashMap::<&str, f64>::new();
    for sentence in sentences {
        for word in sentence.words.iter().collect::<HashSet<_>>() {
            *counts.entry(word.as_str()).or_default() += 1.0;
        }
    }
    let all = sentences.len().max(1) as f64;
    let weigh = |count: f64| (1.0 + count.ln()) * (1.0 + (all / count).ln()).sqrt();
    counts.into_iter().map(|(word, count)| (word, weigh(count))).collect()
}

fn overlap(a: &Sentence<'_>, b: &Sentence<'_>) -> f64 {
    let (a, b): (HashSet<_>, HashSet<_>) = (a.words.iter().collect(), b.words.iter().collect());
    let common = a.intersection(&b).count() as f64;
    common / (a.len().min(b.len()).max(1)) as f64
}

/// "I'd like tea." of the user becomes "The user said that the user would like tea."
fn retell(sentence: &Sentence<'_>, names: &[(String, String)]) -> String {
    let (who, other) = match sentence.turn.role.as_str() {
        "assistant" => (role(sentence.turn), "the user"),
        _ => (role(sentence.turn), "the assistant"),
    };
    let asked = sentence.text.ends_with('?');
    let text = sentence.text.trim_end_matches(['.', '!', '?']);
    let text: String = text.chars().take(SENTENCE_CHARS_MAX).collect();
    let mut told = String::new();
    for piece in pieces(&text) {
        told.push_str(&third_person(piece, &who, other, names).unwrap_or_else(|| piece.to_owned()));
    }
    let verb = if asked { "asked" } else { "said" };
    format!("{} {verb}: {}.", capital(&who), told.trim())
}

/// Words, with their apostrophes, and what stands between them.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (place, c) in text.char_indices() {
        if before.is_some_and(|before| before != is_word(c)) {
            pieces.push(&text[start..place]);
            start = place;
        }
        before = Some(is_word(c));
    }
    pieces.push(&text[start..]);
    pieces
}

fn third_person(word: &str, who: &str, other: &str, names: &[(String, String)]) -> Option<String> {
    let word = word.to_lowercase().replace('’', "'");
    let told = match word.as_str() {
        "i" | "me" | "myself" => who.to_owned(),
        "i'm" => format!("{who} is"),
        "i've" => format!("{who} has"),
        "i'd" => format!("{who} would"),
        "i'll" => format!("{who} will"),
        "my" | "mine" => format!("{who}'s"),
        "am" => "is".to_owned(),
        "you" | "yourself" => other.to_owned(),
        "you're" => format!("{other} is"),
        "your" | "yours" => format!("{other}'s"),
        _ => {
            let bare = word.strip_suffix("'s").unwrap_or(&word);
            let (_, role) = names.iter().find(|(name, _)| name == bare)?;
            let own = if bare.len() < word.len() { "'s" } else { "" };
            format!("{role}{own}")
        }
    };
    Some(told)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    first + chars.as_str()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::ids::TurnId;
    use crate::node::Properties;

    fn turn(role: &str, speaker: Option<&str>, content: &str) -> Turn {
        Turn {
            id: TurnId(Uuid::now_v7()),
            conversation_id: "c".to_owned(),
            channel: "_global".to_owned(),
            index: 0,
            role: role.to_owned(),
            speaker: speaker.map(str::to_owned),
            content: content.to_owned(),
            content_hash: String::new(),
            at: Timestamp::UNIX_EPOCH,
            token_count: None,
            model: None,
            metadata: Properties::new(),
            created_by: "test".to_owned(),
            user: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn it_speaks_of_roles_and_not_of_names() {
        let turns = [
            turn("user", Some("Ana"), "I'd like my invoices sent to the Lisbon office. Thanks!"),
            turn("assistant", Some("Robo"), "Ana's invoices will go to Lisbon from now on."),
            turn("user", Some("Ana"), "Can you also change the currency of the invoices?"),
        ];
        let told = extract(&turns);
        assert!(
            told.starts_with("The user said: the user would like the user's invoices"),
            "{told}"
        );
        assert!(
            told.contains("The assistant said: the user's invoices will go to Lisbon"),
            "{told}"
        );
        assert!(told.contains("The user asked: Can the assistant also change"), "{told}");
        assert!(!told.contains("Ana") && !told.contains("Thanks"), "{told}");
    }

    #[test]
    fn repetition_and_small_talk_are_left_out() {
        let mut turns = vec![turn("user", None, "hi there"), turn("assistant", None, "hello")];
        let told = extract(&turns);
        assert_eq!(told, "The assistant and the user exchanged short remarks only.");
        for _ in 0..50 {
            turns.push(turn("user", None, "The build fails on the linker step again."));
        }
        let told = extract(&turns);
        assert_eq!(told, "The user said: The build fails on the linker step again.");
    }
}
