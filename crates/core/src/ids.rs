//! Typed ids: a workspace's id cannot be passed where a memory's is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{Error, Result};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $noun:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                parse(text).map(Self).ok_or_else(|| {
                    Error::invalid("id", format!(
                        "`{}` is not a {} id (a UUID such as 0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b)",
                        shorten(text), $noun,
                    ))
                })
            }
        }
    )*};
}

ids! {
    WorkspaceId, "workspace";
    TokenId, "token";
    MemoryId, "memory";
    PolicyId, "policy";
    EdgeId, "edge";
    NodeId, "node";
    TurnId, "turn";
    EpisodeId, "episode";
    GoalId, "goal";
    StrategyId, "strategy";
    InvocationId, "invocation";
    ReviewId, "review";
    PatternId, "pattern";
    ActionId, "action";
    SequenceId, "sequence";
    IntentId, "intent";
    MetricId, "metric";
}

/// Only the usual hyphenated form is taken: one id has one spelling.
fn parse(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// Keeps a quoted piece of bad input short enough for a message.
pub(crate) fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut short: String = text.chars().take(CHARS_MAX).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}
