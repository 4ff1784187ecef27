//! What kinds of records a search is about. Each is searched by itself, so that what is common in
//! one does not count as common in another.

use std::str::FromStr;

use crate::error::{Code, Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    Memory,
    Node,
    Turn,
    Strategy,
    /// What a sequence of actions was about.
    Intent,
}

impl ItemKind {
    pub const ALL: [Self; 5] = [Self::Memory, Self::Node, Self::Turn, Self::Strategy, Self::Intent];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Node => "node",
            Self::Turn => "turn",
            Self::Strategy => "strategy",
            Self::Intent => "intent",
        }
    }
}

impl FromStr for ItemKind {
    type Err = Error;

    /// As a store names it; anything else is damage.
    fn from_str(name: &str) -> Result<Self> {
        let unknown = || Error::new(Code::Corrupt, format!("`{name}` is no kind of item"));
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(unknown)
    }
}
