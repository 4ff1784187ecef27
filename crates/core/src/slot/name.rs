//! What a slot may be called and how long it may live.
//!
//! Names become parts of keys (`mnemic:ws:<workspace>:<conversation>:<slot>`), so their alphabet
//! has neither a colon nor a character that a pattern would read as anything but itself: two
//! slots never share a key, and no name reaches another's.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::text::check_key_part;

pub const TTL_SECONDS_DEFAULT: u32 = 3_600;
/// Thirty days.
pub const TTL_SECONDS_MAX: u32 = 30 * 24 * 3_600;

/// The name of a slot within its conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotName(String);

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

impl FromStr for SlotName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        check_key_part("slot", text)?;
        Ok(Self(text.to_owned()))
    }
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
    use crate::text::NAME_CHARS_MAX;

    #[test]
    fn names_that_could_mean_something_else_in_a_key_are_refused() {
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        for text in [
            "", ".", "..", "...", "a:b", "a*", "a?", "[a]", "a/b", "a b", "a\0", "a\n", "é", "a\\",
            "{a}", &long,
        ] {
            let error = text.parse::<SlotName>().expect_err(text).to_string();
            assert!(error.starts_with("slot: "), "{error}");
        }
        for text in ["a", "planner_decision", "v1.2-x", "-", "_", "..a", &long[1..]] {
            assert_eq!(text.parse::<SlotName>().expect(text).as_str(), text);
        }
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
