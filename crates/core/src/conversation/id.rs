//! What a conversation is called: by its maker, and wherever else it is spoken of.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::text::check_key_part;

/// A UUID, or any name that its maker gives a conversation. It becomes part of keys and of
/// addresses, hence its alphabet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId(String);

impl ConversationId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ConversationId {
    type Err = Error;

    /// A UUID is one conversation however its letters are written.
    fn from_str(text: &str) -> Result<Self> {
        check_key_part("conversation_id", text)?;
        let is_uuid = text.len() == 36 && Uuid::try_parse(text).is_ok();
        Ok(Self(if is_uuid { text.to_ascii_lowercase() } else { text.to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_one_spelling_and_other_names_keep_their_case() {
        let spelled = |text: &str| text.parse::<ConversationId>().expect(text).to_string();
        let upper = "0193A5B0-7E1C-7D3A-9B1F-2C3D4E5F6A7B";
        assert_eq!(spelled(upper), upper.to_lowercase());
        assert_eq!(spelled("Thread-7"), "Thread-7");
    }

    #[test]
    fn what_is_no_id_is_refused_by_the_name_of_its_field() {
        for text in ["", "..", "a:b", "a b", "a/b", "é", "a\n"] {
            let error = text.parse::<ConversationId>().expect_err(text).to_string();
            assert!(error.starts_with("conversation_id: "), "{error}");
        }
    }
}
