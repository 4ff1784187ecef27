//! What a slot may be called and how long it may live.
//!
//! Names become parts of keys (`mnemic:ws:<workspace>:<conversation>:<slot>`), so their alphabet
//! has neither a colon nor a character that a pattern would read as anything but itself: two
//! slots never share a key, and no name reaches another's.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::ids::shorten;

/// The longest name of a conversation or a slot. ASCII, so bytes and characters are the same.
pub const NAME_CHARS_MAX: usize = 128;
pub const TTL_SECONDS_DEFAULT: u32 = 3_600;
/// Thirty days.
pub const TTL_SECONDS_MAX: u32 = 30 * 24 * 3_600;

/// Whose slots are meant: a UUID, or any name that the caller gives its conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conversation(String);

/// The name of a slot within its conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotName(String);

impl Conversation {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SlotName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Conversation {
    type Err = Error;

    /// A UUID is one conversation however its letters are written.
    fn from_str(text: &str) -> Result<Self> {
        check("conversation_id", text)?;
        let is_uuid = text.len() == 36 && Uuid::try_parse(text).is_ok();
        Ok(Self(if is_uuid { text.to_ascii_lowercase() } else { text.to_owned() }))
    }
}

impl FromStr for SlotName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        check("slot", text)?;
        Ok(Self(text.to_owned()))
    }
}

fn check(field: &str, text: &str) -> Result<()> {
    if text.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !text.chars().all(allowed) {
        return Err(Error::invalid(
            field,
            format!("`{}` may have letters a-z, digits, `.`, `_` and `-` only", shorten(text)),
        ));
    }
    if text.len() > NAME_CHARS_MAX {
        let length = text.len();
        return Err(Error::invalid(
            field,
            format!("{length} characters are more than the limit of {NAME_CHARS_MAX}"),
        ));
    }
    // Clients take `.` and `..` in an address for a way through it.
    if text.chars().all(|c| c == '.') {
        return Err(Error::invalid(field, format!("`{text}` is made of dots alone")));
    }
    Ok(())
}

/// How long a slot lives after it was last written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ttl(u32);

impl Ttl {
    pub fn new(seconds: u32) -> Result<Self> {
        if (1..=TTL_SECONDS_MAX).contains(&seconds) {
            return Ok(Self(seconds));
        }
        Err(Error::invalid(
            "ttl_seconds",
            format!("{seconds} is not between 1 and {TTL_SECONDS_MAX}"),
        ))
    }

    pub fn seconds(self) -> u32 {
        self.0
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self(TTL_SECONDS_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_mean_something_else_in_a_key_are_refused() {
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        for text in [
            "", ".", "..", "...", "a:b", "a*", "a?", "[a]", "a/b", "a b", "a\0", "a\n", "é", "a\\",
            "{a}", &long,
        ] {
            let error = text.parse::<SlotName>().expect_err(text).to_string();
            assert!(error.starts_with("slot: "), "{error}");
            let error = text.parse::<Conversation>().expect_err(text).to_string();
            assert!(error.starts_with("conversation_id: "), "{error}");
        }
        for text in ["a", "planner_decision", "v1.2-x", "-", "_", "..a", &long[1..]] {
            assert_eq!(text.parse::<SlotName>().expect(text).as_str(), text);
        }
    }

    #[test]
    fn a_uuid_has_one_spelling_and_other_names_keep_their_case() {
        let spelled = |text: &str| text.parse::<Conversation>().expect(text).as_str().to_owned();
        let upper = "0193A5B0-7E1C-7D3A-9B1F-2C3D4E5F6A7B";
        assert_eq!(spelled(upper), upper.to_lowercase());
        assert_eq!(spelled("Thread-7"), "Thread-7");
    }

    #[test]
    fn a_life_has_bounds() {
        for seconds in [0, TTL_SECONDS_MAX + 1, u32::MAX] {
            let error = Ttl::new(seconds).expect_err("out of bounds").to_string();
            assert!(error.contains("2592000"), "{error}");
        }
        assert_eq!(Ttl::new(TTL_SECONDS_MAX).expect("the longest").seconds(), TTL_SECONDS_MAX);
    }
}
