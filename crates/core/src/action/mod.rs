//! Actions: what agents did, one row for every call, change, question or dead end.
//!
//! An action says of what type it was, about which records, how it went and when. It never holds
//! arguments, bodies or anything that a user said: a failure is kept as a short key
//! ([`code::normalise`]). One that is reported again under its id counts once.

mod capture;
pub mod code;
mod walk;

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use capture::{Deed, Failure, Subject};
pub use walk::{CONTAINS, Done, REFERENCES};
pub(crate) use walk::{asks_for_history, meet, takes};

use crate::Mnemic;
use crate::clock::micros;
use crate::error::{Code, Error, Result};
use crate::ids::{ActionId, SequenceId};
use crate::page::{Dated, Page, PageRequest};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{check_name, check_optional_name};

/// The most actions in one batch, which is taken or refused as a whole.
pub const ACTIONS_AT_ONCE_MAX: usize = 10_000;
/// The most records that one action is about.
pub const NODES_MAX: usize = 100;
const LATENCY_MS_MAX: i64 = 30 * 24 * 3_600 * 1_000;
/// A reporter's clock may be so far ahead of ours.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);
/// The beginning of the year 1: no clock that is merely wrong tells an earlier time, and not every
/// database keeps one.
const EARLIEST_SECOND: i64 = -62_135_596_800;
/// The longest report of an error that is looked at.
const ERROR_BYTES_MAX: usize = 64 * 1024;
const LIST: &str = "actions";

static RECORD: Operation = Operation::new("action.record", Action::WriteTelemetry);
static READ: Operation = Operation::new("action.list", Action::ReadTelemetry);

/// How an action, or a sequence of them, went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Failure,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

impl std::str::FromStr for Outcome {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "success" => Ok(Self::Success),
            "failure" => Ok(Self::Failure),
            _ => Err(Error::invalid("outcome", "is not one of success, failure")),
        }
    }
}

/// One thing that an agent did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentAction {
    pub id: ActionId,
    pub session_id: String,
    pub agent_id: String,
    pub action_type: String,
    /// Of what type the records are that it was about.
    pub node_type: Option<String>,
    pub node_ids: Vec<Uuid>,
    pub outcome: Outcome,
    /// The key of the failure; a success has none.
    pub error_code: Option<String>,
    pub latency_ms: Option<i64>,
    pub at: Timestamp,
    pub created_at: Timestamp,
    /// The sequence that it is part of, once it is grouped.
    pub sequence_id: Option<SequenceId>,
}

impl AgentAction {
    /// Whether a report says the same as this one, whenever it came.
    fn is_same(&self, other: &Self) -> bool {
        let content =
            |it: &Self| Self { created_at: self.created_at, sequence_id: None, ..it.clone() };
        content(self) == content(other)
    }

    pub fn dated(&self) -> Dated {
        Dated { at: self.at, id: self.id.0 }
    }
}

/// An action as it is reported.
#[derive(Debug, Clone)]
pub struct NewAction {
    /// The reporter's own, so that an action reported twice counts once.
    pub id: Option<ActionId>,
    pub session_id: String,
    /// The caller's name, if absent.
    pub agent_id: Option<String>,
    pub action_type: String,
    pub node_type: Option<String>,
    pub node_ids: Vec<Uuid>,
    pub outcome: Outcome,
    /// However the tool put it: only a key of it is kept.
    pub error_code: Option<String>,
    pub latency_ms: Option<i64>,
    /// Now, if absent.
    pub at: Option<Timestamp>,
}

impl NewAction {
    /// A success of which nothing more is known.
    pub fn new(session_id: impl Into<String>, action_type: impl Into<String>) -> Self {
        Self {
            id: None,
            session_id: session_id.into(),
            agent_id: None,
            action_type: action_type.into(),
            node_type: None,
            node_ids: vec![],
            outcome: Outcome::Success,
            error_code: None,
            latency_ms: None,
            at: None,
        }
    }

    fn check(&self, now: Timestamp) -> Result<()> {
        check_name("session_id", &self.session_id)?;
        check_optional_name("agent_id", self.agent_id.as_deref())?;
        check_name("action_type", &self.action_type)?;
        check_optional_name("node_type", self.node_type.as_deref())?;
        if self.node_ids.len() > NODES_MAX {
            let problem = format!("{} are more than the limit of {NODES_MAX}", self.node_ids.len());
            return Err(Error::invalid("node_ids", problem));
        }
        let error = self.error_code.as_deref().unwrap_or_default();
        if self.outcome == Outcome::Success && !error.is_empty() {
            let problem = "a success has none; leave it out, or say that the outcome is failure";
            return Err(Error::invalid("error_code", problem));
        }
        if error.len() > ERROR_BYTES_MAX {
            let problem =
                format!("{} bytes are more than the limit of {ERROR_BYTES_MAX}", error.len());
            return Err(Error::invalid("error_code", problem));
        }
        if let Some(latency) = self.latency_ms.filter(|ms| !(0..=LATENCY_MS_MAX).contains(ms)) {
            let problem = format!("{latency} is not between 0 and {LATENCY_MS_MAX}");
            return Err(Error::invalid("latency_ms", problem));
        }
        if let Some(at) = self.at.filter(|at| at.duration_since(now) > AHEAD_MAX) {
            let problem = format!("{at} is more than a day ahead of the server's clock, {now}");
            return Err(Error::invalid("at", problem));
        }
        if let Some(at) = self.at.filter(|at| at.as_second() < EARLIEST_SECOND) {
            return Err(Error::invalid("at", format!("{at} is before the year 1")));
        }
        Ok(())
    }
}

/// What came of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Of each action of the report, in its order.
    pub ids: Vec<ActionId>,
    /// How many were not known before.
    pub recorded: u64,
    pub duplicates: u64,
}

/// Which actions to show. Fields left out match all.
#[derive(Debug, Clone, Default)]
pub struct ActionFilter {
    pub session_id: Option<String>,
    pub agent_id: Option<String>,
    pub action_type: Option<String>,
    pub node_type: Option<String>,
    pub node_id: Option<Uuid>,
    pub outcome: Option<Outcome>,
    pub error_code: Option<String>,
    pub sequence_id: Option<SequenceId>,
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
}

impl ActionFilter {
    fn check(&self) -> Result<()> {
        check_optional_name("session_id", self.session_id.as_deref())?;
        check_optional_name("agent_id", self.agent_id.as_deref())?;
        check_optional_name("action_type", self.action_type.as_deref())?;
        check_optional_name("node_type", self.node_type.as_deref())?;
        check_optional_name("error_code", self.error_code.as_deref())
    }
}

impl Mnemic {
    /// Writes down what an agent did, all of it or nothing. An id that is known already counts
    /// once, if it says the same again.
    pub async fn record_actions(&self, caller: &Caller, news: &[NewAction]) -> Result<Captured> {
        self.authorize(&caller.principal, &RECORD)?;
        if news.is_empty() || news.len() > ACTIONS_AT_ONCE_MAX {
            let problem = format!("must have 1 to {ACTIONS_AT_ONCE_MAX} items, has {}", news.len());
            return Err(Error::invalid("actions", problem));
        }
        let now = self.clock.now();
        for (i, new) in news.iter().enumerate() {
            new.check(now).map_err(|e| at(i, news.len(), &e))?;
        }
        if !caller.principal.memory {
            let detail = "nothing that agents do is kept while memory is switched off in this \
                          workspace; switch it on (memory.enabled) and report it again";
            return Err(Error::new(Code::MemoryDisabled, detail));
        }
        let captured = self
            .decide(caller, &RECORD, || Box::pin(self.admit_actions(&caller.principal, news)))
            .await?;
        self.kick.touch(caller.scope());
        Ok(captured)
    }

    /// Writes down what a surface saw an agent do: without an entry in the audit, which the call
    /// itself has, without a wait for the disk, and not at all while memory is switched off.
    pub async fn capture_action(&self, principal: &Principal, new: NewAction) -> Result<()> {
        new.check(self.clock.now())?;
        if !principal.memory {
            return Ok(());
        }
        let action = self.new_action(principal, &new);
        self.store.commit_hastily(principal.scope(), vec![Change::AddAction(action)]).await?;
        self.kick.touch(principal.scope());
        Ok(())
    }

    /// Whether an action would be taken, for those who report many and leave out what would not.
    pub fn check_action(&self, new: &NewAction) -> Result<()> {
        new.check(self.clock.now())
    }

    /// What agents did, the latest first.
    pub async fn list_actions(
        &self,
        principal: &Principal,
        filter: &ActionFilter,
        page: &PageRequest,
    ) -> Result<Page<AgentAction>> {
        self.authorize(principal, &READ)?;
        filter.check()?;
        let (limit, after) = (page.limit()?, page.dated(LIST)?);
        let wanted = limit.saturating_add(1);
        let found = self.store.list_actions(principal.scope(), filter, after, wanted).await?;
        Ok(Page::cut_dated(LIST, found, limit, AgentAction::dated))
    }

    async fn admit_actions(
        &self,
        principal: &Principal,
        news: &[NewAction],
    ) -> Result<(Captured, Vec<Change>)> {
        let given: Vec<_> = news.iter().filter_map(|new| new.id).collect();
        let known = self.store.lookup_actions(principal.scope(), &given).await?;
        let mut known: HashMap<_, _> = known.into_iter().map(|it| (it.id, it)).collect();
        let (mut captured, mut changes) = (Captured::default(), Vec::new());
        for (i, new) in news.iter().enumerate() {
            let mut action = self.new_action(principal, new);
            captured.ids.push(action.id);
            if let Some(before) = known.get(&action.id) {
                // Without a time of its own it is the same whenever it comes.
                action.at = new.at.map_or(before.at, micros);
                if !before.is_same(&action) {
                    let detail =
                        format!("id: the action {} was reported otherwise before", action.id);
                    return Err(at(i, news.len(), &Error::conflict(detail)));
                }
                captured.duplicates += 1;
                continue;
            }
            captured.recorded += 1;
            known.insert(action.id, action.clone());
            changes.push(Change::AddAction(action));
        }
        Ok((captured, changes))
    }

    fn new_action(&self, principal: &Principal, new: &NewAction) -> AgentAction {
        let now = self.clock.now();
        let at = new.at.map_or_else(|| self.chronicle.time(now), micros);
        let error = new.error_code.as_deref().unwrap_or_default();
        let failed = new.outcome == Outcome::Failure;
        let mut node_ids = new.node_ids.clone();
        node_ids.sort_unstable();
        node_ids.dedup();
        AgentAction {
            id: new.id.unwrap_or_else(|| ActionId(self.ids.next(now))),
            session_id: new.session_id.clone(),
            agent_id: new.agent_id.clone().unwrap_or_else(|| principal.name().to_owned()),
            action_type: new.action_type.clone(),
            node_type: new.node_type.clone(),
            node_ids,
            outcome: new.outcome,
            error_code: failed.then(|| code::normalise(error)),
            latency_ms: new.latency_ms,
            at,
            created_at: now,
            sequence_id: None,
        }
    }
}

/// Says which of many is meant.
fn at(place: usize, of: usize, error: &Error) -> Error {
    if of == 1 {
        return Error::new(error.code(), error.to_string());
    }
    Error::new(error.code(), format!("actions[{place}].{error}"))
}
