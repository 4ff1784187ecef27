//! Memories and facts: one record, two kinds.
//!
//! A `memory` is a suggestion, weighed against other context; a `fact` is authoritative. Both
//! know when they were true in the world and when we knew them, so that a question can be
//! asked as of any moment of either.

mod about;
mod care;
mod change;
mod create;

use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Mnemic;
use crate::audit::Reading;
use crate::error::{Error, Result};
use crate::ids::MemoryId;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Operation, Principal};
use crate::recall::{ItemKind, SearchFilter};
use crate::text::{QUERY_BYTES_MAX, check_content, check_optional_name};

pub use about::{GLIMPSE_CHARS, Glimpse};
pub use care::{Purge, Purged};
pub use change::{MemoryPatch, WEIGHT_DELTA_MAX, WEIGHT_MAX};
pub use create::{BATCH_ITEMS_MAX, Imported, NewMemory, Skipped, Wording};
pub(crate) use create::{Creation, at, check_names, check_validity};

/// The channel that every search includes.
pub const GLOBAL_CHANNEL: &str = "_global";
const LIST: &str = "memories";
const WORDS_LIST: &str = "memories by words";
/// How many hits a list filtered by words can page through.
const FOUND_MAX: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A suggestion.
    Memory,
    /// Authoritative: an agent must never ignore it.
    Fact,
}

/// Whether something holds now, held once, or is yet to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Temporal {
    Current,
    Past,
    Future,
}

macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),* }) => {
        impl $type {
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(word: &str) -> Result<Self> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(Error::invalid(
                        stringify!($type),
                        format!("`{}` is not one of {}", crate::ids::shorten(word), [$($word),*].join(", ")),
                    )),
                }
            }
        }
    };
}

words!(Kind { Memory = "memory", Fact = "fact" });
words!(Temporal { Current = "current", Past = "past", Future = "future" });

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub id: MemoryId,
    pub kind: Kind,
    pub content: String,
    pub channel: String,
    pub domain: Option<String>,
    pub topic: Option<String>,
    /// How sure we are of it, 0 to 1.
    pub confidence: f64,
    /// A factor on its rank that people and agents set, 0 to [`WEIGHT_MAX`].
    pub weight: f64,
    pub source: Option<String>,
    /// The turns, observations or documents that it was drawn from.
    pub source_ids: Vec<String>,
    /// The names of what it is about.
    pub entities: Vec<String>,
    pub temporal: Option<Temporal>,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    pub superseded_by: Option<MemoryId>,
    pub superseded_at: Option<Timestamp>,
    pub access_count: i64,
    pub last_accessed: Option<Timestamp>,
    /// How many finished runs cited it. It never falls.
    pub times_referenced: i64,
    pub pinned: bool,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

impl Memory {
    /// The stored tag, or else what its validity says of `now`.
    pub fn tense(&self, now: Timestamp) -> Option<Temporal> {
        if self.valid_to.is_some_and(|end| end <= now) {
            return Some(Temporal::Past);
        }
        if self.valid_from.is_some_and(|start| start > now) {
            return Some(Temporal::Future);
        }
        self.temporal
    }

    pub fn is_live(&self) -> bool {
        self.deleted_at.is_none() && self.superseded_at.is_none()
    }

    /// How a read that returned it is written down.
    pub(crate) fn found(&self) -> (Uuid, &str) {
        (self.id.0, &self.channel)
    }

    /// Whether it is one that a purge may take: a live suggestion, made before, that nobody has
    /// pinned or ever cited.
    pub(crate) fn is_stale(&self, before: Timestamp) -> bool {
        let unused = self.times_referenced == 0 && !self.pinned;
        self.is_live() && self.kind == Kind::Memory && unused && self.created_at < before
    }
}

/// Which memories a list is to show. Superseded ones are left out unless asked for.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    pub kind: Option<Kind>,
    pub channel: Option<String>,
    pub domain: Option<String>,
    pub topic: Option<String>,
    pub pinned: Option<bool>,
    pub include_superseded: bool,
    /// Only what was deleted softly, for restoring.
    pub deleted: bool,
    /// As it was in the world at this moment.
    pub as_of: Option<Timestamp>,
    /// As far as we knew at this moment.
    pub known_at: Option<Timestamp>,
}

impl MemoryFilter {
    fn check(&self) -> Result<()> {
        check_optional_name("channel", self.channel.as_deref())?;
        check_optional_name("domain", self.domain.as_deref())?;
        check_optional_name("topic", self.topic.as_deref())
    }
}

static GET: Operation = Operation::new("memory.get", Action::ReadMemories);
static LIST_MEMORIES: Operation = Operation::new("memory.list", Action::ReadMemories);

impl Mnemic {
    pub async fn get_memory(&self, principal: &Principal, id: MemoryId) -> Result<Memory> {
        self.authorize(principal, &GET)?;
        let started = self.clock.now();
        let mut memory = self.visible_memory(principal, id).await?;
        self.conceal(principal, vec![&mut memory]).await?;
        let reading = Reading { found: vec![memory.found()], ..Reading::default() };
        self.note_read(principal, &GET, &reading, started);
        Ok(memory)
    }

    /// Newest first; with words to look for, best first.
    pub async fn list_memories(
        &self,
        principal: &Principal,
        filter: &MemoryFilter,
        words: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Memory>> {
        self.authorize(principal, &LIST_MEMORIES)?;
        filter.check()?;
        let started = self.clock.now();
        let mut listed = self.list_page(principal, filter, words, page).await?;
        self.conceal(principal, listed.items.iter_mut().collect()).await?;
        let reading = Reading {
            channel: filter.channel.as_deref(),
            conversation: None,
            query: words,
            found: listed.items.iter().map(Memory::found).collect(),
        };
        self.note_read(principal, &LIST_MEMORIES, &reading, started);
        Ok(listed)
    }

    async fn list_page(
        &self,
        principal: &Principal,
        filter: &MemoryFilter,
        words: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Memory>> {
        if let Some(words) = words {
            return self.list_by_words(principal, filter, words, page).await;
        }
        let (limit, position) = (page.limit()?, page.position(LIST)?);
        let (scope, readable) = (principal.scope(), principal.access.readable());
        let found = self
            .store
            .list_memories(scope, filter, &readable, position, limit.saturating_add(1))
            .await?;
        Ok(Page::cut(LIST, found, limit, |memory| Position::After(memory.id.0)))
    }

    async fn list_by_words(
        &self,
        principal: &Principal,
        filter: &MemoryFilter,
        words: &str,
        page: &PageRequest,
    ) -> Result<Page<Memory>> {
        check_content("q", words, QUERY_BYTES_MAX)?;
        if filter.deleted {
            return Err(Error::invalid("q", "deleted memories cannot be searched by words"));
        }
        let limit = page.limit()?;
        let skip = match page.position(WORDS_LIST)? {
            Some(Position::Skip(count)) => usize::try_from(count).unwrap_or(usize::MAX),
            Some(Position::After(_)) | None => 0,
        };
        let depth = skip.saturating_add(limit).saturating_add(1).min(FOUND_MAX);
        let scope = principal.scope();
        let filter = SearchFilter::of_list(filter, principal.access.readable());
        let hits = self.store.search_words(scope, ItemKind::Memory, words, &filter, depth).await?;
        let ids: Vec<_> = hits.iter().skip(skip).map(|hit| MemoryId(hit.id)).collect();
        let mut found = self.store.lookup_memories(scope, &ids).await?;
        // One may have moved to another domain since it was found.
        found.retain(|memory| principal.may_read(memory));
        let placed = (skip as u64 + 1..).zip(found).collect();
        let page = Page::cut(WORDS_LIST, placed, limit, |(place, _)| Position::Skip(*place));
        Ok(page.map(|(_, memory)| memory))
    }

    /// The record, unless it is absent, foreign, deleted or in a domain that is closed to the
    /// caller.
    async fn visible_memory(&self, principal: &Principal, id: MemoryId) -> Result<Memory> {
        let memory = self.readable_memory(principal, id).await?;
        if memory.deleted_at.is_some() {
            return Err(Error::not_found("memory"));
        }
        Ok(memory)
    }

    /// The same, deleted or not.
    pub(crate) async fn readable_memory(
        &self,
        principal: &Principal,
        id: MemoryId,
    ) -> Result<Memory> {
        let found = self.store.lookup_memory(principal.scope(), id).await?;
        found.filter(|m| principal.may_read(m)).ok_or_else(|| Error::not_found("memory"))
    }
}
