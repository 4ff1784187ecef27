//! Sequences: actions of one session with no gap of more than five minutes between them.
//!
//! A sequence follows from the times of its actions alone, in whatever order and in whatever
//! portions they come: a late action extends one, opens a closed one again, or joins two. Once a
//! sequence is closed it is counted, exactly once, and what changes it changes the counts.

mod count;
mod find;
mod group;
mod intent;
mod kick;
mod pass;
mod past;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use find::{FoundIntents, IntentHit};
pub use intent::Intent;
pub(crate) use kick::Kick;
pub use past::{PastRun, PastRuns};

use crate::Mnemic;
use crate::action::{AgentAction, Outcome};
use crate::error::{Error, Result};
use crate::ids::{ActionId, IntentId, SequenceId};
use crate::page::{Dated, Page, PageRequest};
use crate::principal::{Action, Operation, Principal};
use crate::text::check_optional_name;

/// A longer pause between two actions of a session begins a new sequence.
pub const GAP: SignedDuration = SignedDuration::from_mins(5);
const LIST: &str = "sequences";
const SECONDS_OF_DAY: i64 = 86_400;

static READ: Operation = Operation::new("sequence.list", Action::ReadTelemetry);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    pub id: SequenceId,
    pub session_id: String,
    /// Of its last action.
    pub agent_id: String,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub last_action_id: ActionId,
    pub action_count: i64,
    /// Of its last action.
    pub outcome: Outcome,
    pub intent_id: Option<IntentId>,
    /// What it was about, in types alone, once it is closed.
    pub intent_summary: Option<String>,
    pub closed_at: Option<Timestamp>,
    /// The day whose counts it is part of.
    pub counted_day: Option<i64>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Sequence {
    pub fn dated(&self) -> Dated {
        Dated { at: self.last_at, id: self.id.0 }
    }
}

/// What patterns are about: an empty node type is none, an empty error code is success.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub action_type: String,
    pub node_type: String,
    pub error_code: String,
}

impl Key {
    pub fn of(action: &AgentAction) -> Self {
        Self {
            action_type: action.action_type.clone(),
            node_type: action.node_type.clone().unwrap_or_default(),
            error_code: action.error_code.clone().unwrap_or_default(),
        }
    }
}

/// How many closed sequences have a key, and when the latest of them ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTally {
    pub error_code: String,
    pub sequences: i64,
    pub last_at: Timestamp,
}

/// A pair whose counts have changed; the revision tells whether they did so again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmined {
    pub action_type: String,
    pub node_type: String,
    pub revision: i64,
}

/// Which sequences are counted: those with a key of one of these types. An empty list is any; at
/// most eight of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyFilter {
    pub action_types: Vec<String>,
    pub node_types: Vec<String>,
}

/// Which sequences to show. Fields left out match all.
#[derive(Debug, Clone, Default)]
pub struct SequenceFilter {
    pub session_id: Option<String>,
    pub agent_id: Option<String>,
    /// Of one of its actions, together with the next two.
    pub action_type: Option<String>,
    pub node_type: Option<String>,
    pub error_code: Option<String>,
    pub outcome: Option<Outcome>,
    pub closed: Option<bool>,
    /// Of its last action.
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

impl SequenceFilter {
    fn check(&self) -> Result<()> {
        check_optional_name("session_id", self.session_id.as_deref())?;
        check_optional_name("agent_id", self.agent_id.as_deref())?;
        check_optional_name("action_type", self.action_type.as_deref())?;
        check_optional_name("node_type", self.node_type.as_deref())?;
        check_optional_name("error_code", self.error_code.as_deref())
    }
}

/// The number of a day since 1970, in UTC.
pub fn day_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(SECONDS_OF_DAY)
}

/// When a day begins.
pub fn start_of(day: i64) -> Timestamp {
    let second = day.saturating_mul(SECONDS_OF_DAY);
    let start = Timestamp::from_second(second);
    start.unwrap_or(if day < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

impl Mnemic {
    /// Sequences by their last action, the latest first.
    pub async fn list_sequences(
        &self,
        principal: &Principal,
        filter: &SequenceFilter,
        page: &PageRequest,
    ) -> Result<Page<Sequence>> {
        self.authorize(principal, &READ)?;
        filter.check()?;
        let (limit, after) = (page.limit()?, page.dated(LIST)?);
        let wanted = limit.saturating_add(1);
        let found = self.store.list_sequences(principal.scope(), filter, after, wanted).await?;
        Ok(Page::cut_dated(LIST, found, limit, Sequence::dated))
    }

    pub async fn get_sequence(&self, principal: &Principal, id: SequenceId) -> Result<Sequence> {
        self.authorize(principal, &READ)?;
        let found = self.store.lookup_sequences(principal.scope(), &[id]).await?.pop();
        found.ok_or_else(|| Error::not_found("sequence"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight() {
        let at: Timestamp = "2026-03-01T23:59:59.999999Z".parse().unwrap();
        let day = day_of(at);
        assert_eq!(start_of(day).to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(day_of(at + SignedDuration::from_micros(1)), day + 1);
        assert_eq!(day_of(Timestamp::UNIX_EPOCH - SignedDuration::from_secs(1)), -1);
    }
}
