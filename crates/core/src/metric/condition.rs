//! The condition of a metric: what a sequence has to be like to count.
//!
//! It is read into a typed expression and weighed as such; nothing of it is ever run as code. What
//! is kept is the expression written out again, which reads back to the same expression.

mod parse;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::action::Outcome;
use crate::error::{Error, Result};

/// The longest condition that is taken, in characters.
pub const CONDITION_CHARS_MAX: usize = 1_000;
/// How deep parentheses and `not` may be nested.
const DEPTH_MAX: usize = 32;
/// The largest number that actions are compared with.
const ACTIONS_MAX: u32 = 1_000_000_000;

const FIELD: &str = "success_condition";

/// What is demanded of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Outcome { is: bool, outcome: Outcome },
    ActionCount { order: Order, count: u32 },
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

/// How a number stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

impl Order {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }

    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::More => left > right,
            Self::AtLeast => left >= right,
            Self::Equal => left == right,
            Self::Unequal => left != right,
        }
    }
}

impl Condition {
    /// Reads what somebody wrote.
    pub fn read(text: &str) -> Result<Self> {
        let length = text.chars().count();
        if length > CONDITION_CHARS_MAX {
            let problem =
                format!("{length} characters are more than the limit of {CONDITION_CHARS_MAX}");
            return Err(Error::invalid(FIELD, problem));
        }
        text.parse()
    }

    /// Whether a sequence that ended so, after so many actions, meets it.
    pub fn holds(&self, ended: Outcome, actions: u64) -> bool {
        match self {
            Self::Outcome { is, outcome } => (ended == *outcome) == *is,
            Self::ActionCount { order, count } => order.holds(actions, u64::from(*count)),
            Self::Not(inner) => !inner.holds(ended, actions),
            Self::And(left, right) => left.holds(ended, actions) && right.holds(ended, actions),
            Self::Or(left, right) => left.holds(ended, actions) || right.holds(ended, actions),
        }
    }

    /// The more it binds, the higher.
    fn rank(&self) -> u8 {
        match self {
            Self::Or(..) => 0,
            Self::And(..) => 1,
            Self::Not(_) | Self::Outcome { .. } | Self::ActionCount { .. } => 2,
        }
    }

    /// Writes it where only what binds at least so much stands without parentheses.
    fn write(&self, f: &mut fmt::Formatter<'_>, rank: u8) -> fmt::Result {
        if self.rank() < rank {
            f.write_str("(")?;
            self.write(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Self::Outcome { is, outcome } => {
                let sign = if *is { "==" } else { "!=" };
                write!(f, "outcome {sign} '{}'", outcome.as_str())
            }
            Self::ActionCount { order, count } => {
                write!(f, "action_count {} {count}", order.as_str())
            }
            Self::Not(inner) => {
                f.write_str("not ")?;
                inner.write(f, 2)
            }
            // Chains are read from the left, so what was grouped on the right says so.
            Self::And(left, right) => {
                left.write(f, 1)?;
                f.write_str(" and ")?;
                right.write(f, 2)
            }
            Self::Or(left, right) => {
                left.write(f, 0)?;
                f.write_str(" or ")?;
                right.write(f, 1)
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse::parse(text)
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
