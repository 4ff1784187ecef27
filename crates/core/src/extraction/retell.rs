//! What somebody says of themselves, as others say it of them.

use super::sentence::{Word, write};

/// Rewrites the words of a speaker in the third person.
pub(super) fn third_person(words: &[Word]) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|word| {
            let told = match word.lower.as_str() {
                "i" => "they",
                "me" => "them",
                "my" => "their",
                "mine" => "theirs",
                "myself" => "themselves",
                "we" => "they",
                "us" => "them",
                "our" => "their",
                "ours" => "theirs",
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
