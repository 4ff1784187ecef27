//! What a search may see, in terms that every engine can apply before it ranks.

use jiff::Timestamp;

use crate::grant::Readable;
use crate::memory::{Kind, MemoryFilter};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchFilter {
    /// Any of these; absent, every channel.
    pub channels: Option<Vec<String>>,
    pub kind: Option<Kind>,
    pub domain: Option<String>,
    /// The topic of a memory, or the conversation of a turn.
    pub topic: Option<String>,
    pub pinned: Option<bool>,
    /// Recorded at or after, and before.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// True in the world at this moment, as far as we know today.
    pub as_of: Option<Timestamp>,
    /// Held to be true by us at this moment.
    pub known_at: Option<Timestamp>,
    /// Also what has been replaced. Asking as of a moment looks at it anyway.
    pub include_superseded: bool,
    /// The domains that may be seen.
    pub readable: Readable,
}

impl SearchFilter {
    pub(crate) fn of_list(filter: &MemoryFilter, readable: Readable) -> Self {
        Self {
            readable,
            channels: filter.channel.clone().map(|channel| vec![channel]),
            kind: filter.kind,
            domain: filter.domain.clone(),
            topic: filter.topic.clone(),
            pinned: filter.pinned,
            as_of: filter.as_of,
            known_at: filter.known_at,
            include_superseded: filter.include_superseded,
            ..Self::default()
        }
    }

    /// The same, of what was recorded within a stretch of time alone.
    pub(super) fn within(&self, (since, until): (Timestamp, Timestamp)) -> Self {
        Self {
            since: self.since.max(Some(since)),
            until: self.until.map_or(Some(until), |end| Some(end.min(until))),
            ..self.clone()
        }
    }

    /// Whether only what holds today is wanted.
    pub fn live_only(&self) -> bool {
        !self.include_superseded && self.as_of.is_none() && self.known_at.is_none()
    }
}
