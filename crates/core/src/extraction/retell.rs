//! What somebody says of themselves, as others say it of them.

use super::sentence::{Word, write};

/// Rewrites the words of a speaker in the third person.
pub(super) fn third_person(words: &[Word]) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|word| {
            let told = match word.lower.as_str() {
                "i" | "we" => "they",
                "me" | "us" => "them",
                "my" | "our" => "their",
                "mine" | "ours" => "theirs",
                "myself" => "themselves",
                "am" => "are",
                "you" => "the assistant",
                "your" => "the assistant's",
                _ => return word.clone(),
            };
            Word { text: told.to_owned(), ..word.clone() }
        })
        .collect();
    write(&words)
}
