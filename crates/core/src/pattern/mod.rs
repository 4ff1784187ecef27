//! Patterns: what tends to happen when agents do something, mined from what they did.
//!
//! A pattern is made of types alone: which action, on nodes of which type, ended in which class of
//! error, and in how large a share of the sequences that had the action. Nothing here looks at
//! single actions but to settle what came of a warning.

mod advice;
mod annotate;
mod block;
mod holdout;
mod inject;
mod interval;
mod list;
mod mine;
mod share;
mod showing;
mod walk;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::PatternId;

pub use advice::recommend;
pub use annotate::{NOTE_BYTES_MAX, PatternPatch};
pub use block::block;
pub(crate) use block::{heading, lines};
pub use inject::{Injected, Injection, PatternWish, TOLD_MAX};
pub use interval::{Count, Difference, difference};
pub use list::{PatternFilter, PatternSort, PatternView};
pub use mine::Pair;
pub use share::{Share, weeks_faded};
pub use showing::{Aftermath, Effect, Showing};
pub use walk::SUPERSEDES;

/// What a pattern is about. Absent parts are called `None` where a key is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatternKey {
    pub action_type: String,
    pub node_type: Option<String>,
    /// Absent, the action succeeds.
    pub error_code: Option<String>,
}

impl fmt::Display for PatternKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "None".to_owned());
        write!(f, "{}:{}:{}", self.action_type, part(&self.node_type), part(&self.error_code))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    pub id: PatternId,
    pub key: PatternKey,
    /// As it was mined last: sequences with the key, of those with its action and type.
    pub share: Share,
    /// As it was when the pattern came to be; one that moves too far from it is superseded.
    pub promoted: Share,
    /// What the figures say.
    pub recommendation: String,
    /// What an operator says instead of it.
    pub replacement: Option<String>,
    /// What an operator adds.
    pub annotation: Option<String>,
    /// Told to nobody.
    pub suppressed: bool,
    pub superseded_by: Option<PatternId>,
    /// When a sequence had its key last.
    pub last_seen_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
    /// The users who wrote the annotation and the replacement: each goes with its user, and is
    /// shown to nobody with a name.
    pub annotation_by: Option<String>,
    pub replacement_by: Option<String>,
    /// When either was written last.
    pub noted_at: Option<Timestamp>,
}

impl Pattern {
    pub fn is_live(&self) -> bool {
        self.deleted_at.is_none() && self.superseded_by.is_none()
    }

    /// Whether it warns of a failure.
    pub fn is_warning(&self) -> bool {
        self.key.error_code.is_some()
    }

    /// Whether an operator wrote something about it, and so wants it told.
    pub fn is_annotated(&self) -> bool {
        self.annotation.is_some() || self.replacement.is_some()
    }

    /// What time has left of its confidence.
    pub fn confidence(&self, now: Timestamp) -> f64 {
        self.share.faded(weeks_faded(self.last_seen_at, now))
    }

    /// Whether it is told before an action: sure enough, or annotated, and not suppressed.
    pub fn is_told(&self, percent: u32, now: Timestamp) -> bool {
        let sure = || self.share.is_left(percent, weeks_faded(self.last_seen_at, now));
        self.is_live() && !self.suppressed && (self.is_annotated() || sure())
    }

    /// Whether so little is left of it that it goes.
    pub fn is_lost(&self, now: Timestamp) -> bool {
        self.share.is_lost(weeks_faded(self.last_seen_at, now))
    }

    fn stamp(&mut self, now: Timestamp) {
        self.updated_at = now;
        self.revision += 1;
    }

    /// What is recommended, with what an operator wrote.
    pub fn advice(&self) -> String {
        let advice = self.replacement.as_ref().unwrap_or(&self.recommendation);
        match &self.annotation {
            None => advice.clone(),
            Some(annotation) => format!("{advice} {annotation}"),
        }
    }
}

/// A pattern as it is shown at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownPattern {
    pub pattern: Pattern,
    /// What time has left of it, 0 to 1.
    pub confidence: f64,
}

impl ShownPattern {
    pub fn new(pattern: Pattern, now: Timestamp) -> Self {
        let confidence = pattern.confidence(now);
        Self { pattern, confidence }
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use uuid::Uuid;

    use super::*;

    pub(super) fn pattern(
        action: &str,
        node: Option<&str>,
        error: Option<&str>,
        samples: i64,
        total: i64,
    ) -> Pattern {
        let key = PatternKey {
            action_type: action.to_owned(),
            node_type: node.map(str::to_owned),
            error_code: error.map(str::to_owned),
        };
        let (share, now) = (Share::new(samples, total), Timestamp::UNIX_EPOCH);
        Pattern {
            id: PatternId(Uuid::nil()),
            recommendation: recommend(&key, share),
            key,
            share,
            promoted: share,
            replacement: None,
            annotation: None,
            suppressed: false,
            superseded_by: None,
            last_seen_at: now,
            created_at: now,
            updated_at: now,
            deleted_at: None,
            revision: 1,
            annotation_by: None,
            replacement_by: None,
            noted_at: None,
        }
    }

    pub(super) fn shown(pattern: &Pattern) -> ShownPattern {
        ShownPattern::new(pattern.clone(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn what_is_told_is_sure_or_annotated_and_not_suppressed() {
        let now = Timestamp::UNIX_EPOCH;
        let sure = pattern("a", None, Some("E"), 60, 100);
        let unsure = pattern("a", None, Some("E"), 59, 100);
        assert!(sure.is_told(60, now) && !unsure.is_told(60, now));
        let noted = Pattern { annotation: Some("mind".to_owned()), ..unsure.clone() };
        let replaced = Pattern { replacement: Some("mind".to_owned()), ..unsure };
        assert!(noted.is_told(60, now) && replaced.is_told(60, now));
        assert!(!Pattern { suppressed: true, ..noted }.is_told(60, now));
        let other = Some(PatternId(Uuid::nil()));
        assert!(!Pattern { superseded_by: other, ..sure.clone() }.is_told(60, now));
        assert!(!Pattern { deleted_at: Some(now), ..sure.clone() }.is_told(60, now));
        let later = |days: i64| now + SignedDuration::from_hours(24 * days);
        assert!(sure.is_told(60, later(29)), "it rests");
        assert!(!sure.is_told(60, later(30)), "it fades");
    }
}
