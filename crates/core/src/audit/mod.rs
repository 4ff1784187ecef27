//! The audit: who did what, when, and how it went.
//!
//! A change and its entry are one commit. What changes nothing (reads, refusals) is written
//! behind the answer, in groups: an entry of the last moments can be lost with the process, a
//! change without its entry cannot happen. How much is written is the workspace's choice.

mod log;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

pub(crate) use log::{Log, Reading};

use crate::Mnemic;
use crate::error::Result;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Operation, Principal};
use crate::text::check_optional_name;

const LIST: &str = "audit";
static READ: Operation = Operation::new("audit.list", Action::ReadAudit);

/// Days of audit that are kept unless the installation says otherwise.
pub const RETENTION_DAYS_DEFAULT: u32 = 90;

/// How much is written down.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Off,
    /// Changes, refusals, and recalls that reached into another channel.
    #[default]
    Writes,
    /// Reads too, with their queries.
    Reads,
    /// And what was written, in full.
    Verbose,
}

/// One operation, written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub id: Uuid,
    pub at: Timestamp,
    /// Noun and verb, such as `memory.create`.
    pub operation: String,
    pub token_id: Uuid,
    pub role: String,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub session_id: Option<String>,
    pub conversation_id: Option<String>,
    /// The channel that the operation was about.
    pub channel: Option<String>,
    /// Other channels that it reached.
    pub target_channels: Vec<String>,
    pub domain: Option<String>,
    pub query: Option<String>,
    /// The records that were changed or returned, at most [`RECORDS_MAX`] of them.
    pub record_ids: Vec<Uuid>,
    /// How many records were changed or returned.
    pub count: u64,
    pub latency_us: i64,
    /// The code of the error, if it failed.
    pub error: Option<String>,
    /// What an operation adds: payloads at the level `verbose`, figures of a promotion.
    pub details: Option<Value>,
}

impl Entry {
    /// What a job did by itself.
    pub(crate) fn of_job(job: &str, id: Uuid, at: Timestamp) -> Self {
        Self::new(id, at, format!("job.{job}"), Uuid::nil(), "job")
    }

    /// An operation of which nothing more is known yet.
    fn new(id: Uuid, at: Timestamp, operation: String, token_id: Uuid, role: &str) -> Self {
        Self {
            id,
            at,
            operation,
            token_id,
            role: role.to_owned(),
            agent: None,
            user: None,
            session_id: None,
            conversation_id: None,
            channel: None,
            target_channels: vec![],
            domain: None,
            query: None,
            record_ids: vec![],
            count: 0,
            latency_us: 0,
            error: None,
            details: None,
        }
    }

    pub fn success(&self) -> bool {
        self.error.is_none()
    }
}

/// An entry names at most so many records; `count` has the full number.
pub const RECORDS_MAX: usize = 100;

/// Which entries to show. Fields left out match all.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// One operation, or with a trailing dot all of a noun: `memory.`
    pub operation: Option<String>,
    pub role: Option<String>,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub channel: Option<String>,
    pub success: Option<bool>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    fn check(&self) -> Result<()> {
        check_optional_name("operation", self.operation.as_deref())?;
        check_optional_name("role", self.role.as_deref())?;
        check_optional_name("agent", self.agent.as_deref())?;
        check_optional_name("user", self.user.as_deref())?;
        check_optional_name("channel", self.channel.as_deref())
    }
}

impl Entry {
    /// Leaves who did what, when, and how it went, but nothing of what it was done to.
    fn without_content(self) -> Self {
        Self {
            target_channels: vec![],
            query: None,
            record_ids: vec![],
            count: 0,
            details: None,
            ..self
        }
    }
}

impl Mnemic {
    /// What was done in the caller's workspace, newest first.
    ///
    /// Entries about domains that are closed to the caller are left out. An entry may also touch
    /// records that it does not name the domain of, such as those that a recall by another role
    /// returned: whoever may not read every domain sees no content of any entry.
    pub async fn list_audit(
        &self,
        principal: &Principal,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<Entry>> {
        self.authorize(principal, &READ)?;
        filter.check()?;
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        self.flush_audit().await;
        let scope = principal.scope();
        let readable = principal.access.readable();
        let found = self
            .store
            .list_audit(scope, filter, &readable, position, limit.saturating_add(1))
            .await?;
        let page = Page::cut(LIST, found, limit, |entry| Position::After(entry.id));
        if readable.is_everything() {
            return Ok(page);
        }
        Ok(page.map(Entry::without_content))
    }
}
