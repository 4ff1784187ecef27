//! A turn as far as it is weighed.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use super::dates::{self, Days};
use crate::ids::TurnId;
use crate::text::fold_name;

/// What was said where and when, and by whom. Of each turn that a question brings into view many
/// others are looked at, so this is little, and shared; and what its text tells whatever is asked is
/// found out once, for as long as a store keeps it: at once, or where few ask for it, when somebody does.
#[derive(Debug)]
pub struct Spoken {
    pub id: TurnId,
    pub conversation_id: Arc<str>,
    pub index: i64,
    pub speaker: Option<Arc<str>>,
    pub content: Box<str>,
    pub at: Timestamp,
    traits: Traits,
    says_when: OnceLock<bool>,
    told: OnceLock<Box<[Days]>>,
}

/// What a text tells by itself.
#[derive(Debug)]
pub(super) struct Traits {
    /// Ends with a question mark.
    pub asks: bool,
    /// How many words it has.
    pub words: usize,
    /// Words inside a sentence that begin with a capital, as names are compared.
    names: Box<[String]>,
}

impl Spoken {
    pub fn new(
        id: TurnId,
        (conversation_id, index): (Arc<str>, i64),
        speaker: Option<Arc<str>>,
        content: Box<str>,
        at: Timestamp,
    ) -> Self {
        let traits = Traits::of(&content);
        let (says_when, told) = (OnceLock::new(), OnceLock::new());
        Self { id, conversation_id, index, speaker, content, at, traits, says_when, told }
    }

    pub(super) fn traits(&self) -> &Traits {
        &self.traits
    }

    /// Says when something was.
    pub(super) fn says_when(&self) -> bool {
        *self.says_when.get_or_init(|| dates::speaks_of_time(&self.content))
    }

    /// The days that it tells of.
    pub(super) fn told(&self) -> &[Days] {
        self.told.get_or_init(|| dates::spoken(&self.content, self.at).into())
    }
}

impl Traits {
    fn of(text: &str) -> Self {
        Self {
            asks: text.trim_end().ends_with('?'),
            words: text.split_whitespace().count(),
            names: names(text),
        }
    }

    /// Whether it names something else than these.
    pub(super) fn names_other_than(&self, known: &[String]) -> bool {
        self.names.iter().any(|name| !known.contains(name))
    }
}

fn names(text: &str) -> Box<[String]> {
    let (mut names, mut inside) = (Vec::new(), false);
    for word in text.split_whitespace() {
        let bare = word.trim_start_matches(['"', '“', '\'', '(']);
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase)
            && letters.next().is_some_and(char::is_alphabetic);
        if inside && capital {
            let name: String = bare.chars().take_while(|c| c.is_alphanumeric()).collect();
            names.push(fold_name(&name));
        }
        inside = word.ends_with(|c: char| {
            c.is_lowercase() || c.is_ascii_digit() || matches!(c, ',' | ';' | ':' | ')')
        });
    }
    names.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_by_itself_whom_it_names_and_what_it_is_like() {
        let known = ["ana".to_owned()];
        for (text, names) in [
            ("I met Zoe there", true),
            ("I met “Zoe’s sister there", true),
            ("Zoe was there. Nobody else", false),
            ("well, Ana's here (Ana!)", false),
            ("I", false),
        ] {
            assert_eq!(Traits::of(text).names_other_than(&known), names, "{text}");
        }
        let asked = Traits::of("Did you leave on Friday? ");
        assert!(asked.asks && asked.words == 5);
        let said = Traits::of("I did.");
        assert!(!said.asks && said.words == 2);
    }
}
