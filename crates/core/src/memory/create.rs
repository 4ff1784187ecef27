//! How a memory comes into being, alone or many at once, and what it replaces.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{GLOBAL_CHANNEL, Kind, Memory, Temporal};
use crate::Mnemic;
use crate::clock::micros;
use crate::domain::check_domain;
use crate::edge::{Edge, SUPERSEDES};
use crate::error::{Code, Error, Result};
use crate::ids::MemoryId;
use crate::node::Weaving;
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content, check_name, check_optional_name};

/// The most memories that one request can create.
pub const BATCH_ITEMS_MAX: usize = 1_000;
/// The most entities or sources that one memory can name.
const NAMES_MAX: usize = 100;
/// Longer chains are followed step by step for ever; none that is real comes near.
const CHAIN_STEPS_MAX: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub struct NewMemory {
    pub content: String,
    pub kind: Option<Kind>,
    pub channel: Option<String>,
    pub domain: Option<String>,
    pub topic: Option<String>,
    pub confidence: Option<f64>,
    pub source: Option<String>,
    pub source_ids: Vec<String>,
    pub entities: Vec<String>,
    pub temporal: Option<Temporal>,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    pub pinned: bool,
    pub supersedes: Option<MemoryId>,
    /// Store it even if the same was erased, and lift the tombstone.
    pub revive: bool,
}

/// What an import made and what it left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    pub memories: Vec<Memory>,
    pub skipped: Vec<Skipped>,
}

/// An item that was left out because it was erased before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub index: usize,
    pub erased_at: Timestamp,
}

/// The words that take the place of others.
#[derive(Debug, Clone, Default)]
pub struct Wording {
    pub content: String,
    /// As with a new memory.
    pub revive: bool,
}

impl From<String> for Wording {
    fn from(content: String) -> Self {
        Self { content, revive: false }
    }
}

impl NewMemory {
    fn check(&self) -> Result<()> {
        check_content("content", &self.content, CONTENT_BYTES_MAX)?;
        check_optional_name("channel", self.channel.as_deref())?;
        check_domain("domain", self.domain.as_deref())?;
        check_optional_name("topic", self.topic.as_deref())?;
        check_optional_name("source", self.source.as_deref())?;
        check_names("source_ids", &self.source_ids)?;
        check_names("entities", &self.entities)?;
        check_confidence(self.confidence)?;
        check_validity(self.valid_from, self.valid_to)
    }
}

pub(crate) fn check_names(field: &str, names: &[String]) -> Result<()> {
    if names.len() > NAMES_MAX {
        let problem = format!("{} are more than the limit of {NAMES_MAX}", names.len());
        return Err(Error::invalid(field, problem));
    }
    names.iter().enumerate().try_for_each(|(i, name)| check_name(&format!("{field}[{i}]"), name))
}

pub(super) fn check_confidence(confidence: Option<f64>) -> Result<()> {
    match confidence {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(Error::invalid("confidence", format!("{value} is not between 0 and 1")))
        }
        _ => Ok(()),
    }
}

/// Compares the times as they are kept: a shorter time than that would be no time.
pub(crate) fn check_validity(from: Option<Timestamp>, to: Option<Timestamp>) -> Result<()> {
    match (from.map(micros), to.map(micros)) {
        (Some(from), Some(to)) if to <= from => {
            Err(Error::invalid("valid_to", "must be later than valid_from"))
        }
        _ => Ok(()),
    }
}

static CREATE: Operation = Operation::new("memory.create", Action::WriteMemories);
static SUPERSEDE: Operation = Operation::new("memory.supersede", Action::WriteMemories);

impl Mnemic {
    pub async fn create_memory(&self, caller: &Caller, new: NewMemory) -> Result<Memory> {
        self.authorize(&caller.principal, &CREATE)?;
        new.check()?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut batch = Creation::new(self, caller);
                let memory = batch.add(&new).await?;
                Ok((memory, batch.finish()))
            })
        })
        .await
    }

    /// All of them or, if one is refused, none; the error names which.
    pub async fn create_memories(
        &self,
        caller: &Caller,
        news: Vec<NewMemory>,
    ) -> Result<Vec<Memory>> {
        self.authorize(&caller.principal, &CREATE)?;
        check_all(&news)?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut batch = Creation::new(self, caller);
                let mut made = Vec::with_capacity(news.len());
                for (i, new) in news.iter().enumerate() {
                    let memory = batch.add(new).await.map_err(|e| match e.code() {
                        Code::Stale => e,
                        _ => at(i, &e),
                    })?;
                    made.push(memory);
                }
                Ok((made, batch.finish()))
            })
        })
        .await
    }

    /// As [`Self::create_memories`], but leaves out what was erased before: an import can be
    /// repeated without bringing it back.
    pub async fn import_memories(&self, caller: &Caller, news: Vec<NewMemory>) -> Result<Imported> {
        self.authorize(&caller.principal, &CREATE)?;
        check_all(&news)?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut batch = Creation::new(self, caller);
                let mut imported = Imported { memories: Vec::new(), skipped: Vec::new() };
                for (index, new) in news.iter().enumerate() {
                    match batch.add(new).await {
                        Ok(memory) => imported.memories.push(memory),
                        Err(e) if e.code() == Code::Erased => {
                            let erased_at = batch.weaving.graves.refused().ok_or(e)?;
                            imported.skipped.push(Skipped { index, erased_at });
                        }
                        Err(e) if e.code() == Code::Stale => return Err(e),
                        Err(e) => return Err(at(index, &e)),
                    }
                }
                Ok((imported, batch.finish()))
            })
        })
        .await
    }

    /// Replaces a memory by one with other words; the rest is taken over.
    pub async fn supersede_memory(
        &self,
        caller: &Caller,
        id: MemoryId,
        words: impl Into<Wording>,
    ) -> Result<Memory> {
        self.authorize(&caller.principal, &SUPERSEDE)?;
        let Wording { content, revive } = words.into();
        check_content("content", &content, CONTENT_BYTES_MAX)?;
        self.decide(caller, &SUPERSEDE, || {
            Box::pin(async {
                let old = self.live_head(&caller.principal, id).await?;
                let new = NewMemory {
                    content: content.clone(),
                    kind: Some(old.kind),
                    channel: Some(old.channel),
                    domain: old.domain,
                    topic: old.topic,
                    entities: old.entities,
                    temporal: old.temporal,
                    pinned: old.pinned,
                    supersedes: Some(old.id),
                    revive,
                    ..NewMemory::default()
                };
                let mut batch = Creation::new(self, caller);
                let memory = batch.add(&new).await?;
                Ok((memory, batch.finish()))
            })
        })
        .await
    }

    /// Follows a chain of replacements to the one that holds today.
    pub(super) async fn live_head(&self, principal: &Principal, id: MemoryId) -> Result<Memory> {
        let mut memory = self.visible_memory(principal, id).await?;
        for _ in 0..CHAIN_STEPS_MAX {
            let Some(next) = memory.superseded_by else { break };
            memory = self.visible_memory(principal, next).await.map_err(|_| {
                Error::conflict("what replaced this memory has itself been deleted; restore that")
            })?;
        }
        if memory.superseded_at.is_some() {
            return Err(Error::conflict("this memory was replaced by one that has been erased"));
        }
        Ok(memory)
    }
}

fn check_all(news: &[NewMemory]) -> Result<()> {
    if news.is_empty() || news.len() > BATCH_ITEMS_MAX {
        let problem = format!("must have 1 to {BATCH_ITEMS_MAX} items, has {}", news.len());
        return Err(Error::invalid("memories", problem));
    }
    news.iter().enumerate().try_for_each(|(i, new)| new.check().map_err(|e| at(i, &e)))
}

/// An error about one item of many.
pub(crate) fn at(index: usize, error: &Error) -> Error {
    Error::new(error.code(), format!("[{index}].{error}"))
}

/// The changes of one creating request, while they are gathered.
pub(crate) struct Creation<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    now: Timestamp,
    pub(crate) weaving: Weaving<'a>,
    changes: Vec<Change>,
    replaced: Vec<MemoryId>,
}

impl<'a> Creation<'a> {
    pub(crate) fn new(mnemic: &'a Mnemic, caller: &'a Caller) -> Self {
        let now = mnemic.clock.now();
        let weaving = Weaving::new(mnemic, caller);
        Self { mnemic, caller, now, weaving, changes: Vec::new(), replaced: Vec::new() }
    }

    pub(crate) fn finish(self) -> Vec<Change> {
        let mut changes = self.weaving.finish();
        changes.extend(self.changes);
        changes
    }

    pub(crate) async fn add(&mut self, new: &NewMemory) -> Result<Memory> {
        // What may refuse it as erased comes before anything is gathered of it.
        self.weaving.graves.admit_text(&new.content, new.revive).await?;
        let memory = self.build(new);
        let about = self.mnemic.about_new(&mut self.weaving, &memory, new.revive).await?;
        self.changes.push(Change::AddMemory(memory.clone()));
        if let Some(domain) = &memory.domain {
            self.changes.push(self.mnemic.domain_change(&self.caller.principal, domain));
        }
        self.changes.extend(about);
        if let Some(old) = new.supersedes {
            self.replace(old, &memory).await?;
        }
        Ok(memory)
    }

    fn build(&self, new: &NewMemory) -> Memory {
        let now = self.now;
        Memory {
            id: MemoryId(self.mnemic.ids.next(now)),
            kind: new.kind.unwrap_or(Kind::Memory),
            content: new.content.clone(),
            channel: new.channel.clone().unwrap_or_else(|| GLOBAL_CHANNEL.to_owned()),
            domain: new.domain.clone(),
            topic: new.topic.clone(),
            confidence: new.confidence.unwrap_or(1.0),
            weight: 1.0,
            source: new.source.clone(),
            source_ids: new.source_ids.clone(),
            entities: new.entities.clone(),
            temporal: new.temporal,
            valid_from: new.valid_from.map(micros),
            valid_to: new.valid_to.map(micros),
            superseded_by: None,
            superseded_at: None,
            access_count: 0,
            last_accessed: None,
            times_referenced: 0,
            pinned: new.pinned,
            created_by: self.caller.principal.name().to_owned(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            revision: 1,
        }
    }

    async fn replace(&mut self, old: MemoryId, new: &Memory) -> Result<()> {
        let head = self.mnemic.live_head(&self.caller.principal, old).await?;
        self.take_place(head, new)
    }

    /// Lets a memory that was added take the place of one that holds today.
    pub(crate) fn take_place(&mut self, head: Memory, new: &Memory) -> Result<()> {
        if self.replaced.contains(&head.id) {
            return Err(Error::conflict("supersedes: two of these replace the same memory"));
        }
        self.replaced.push(head.id);
        self.changes.extend(self.mnemic.supersession(head, new, self.now)?);
        Ok(())
    }
}

impl Mnemic {
    /// The changes by which `new` takes the place of `old`.
    pub(crate) fn supersession(
        &self,
        mut old: Memory,
        new: &Memory,
        now: Timestamp,
    ) -> Result<[Change; 2]> {
        if old.kind == Kind::Fact && new.kind != Kind::Fact {
            let detail = "a memory (a suggestion) cannot replace a fact; make it a fact";
            return Err(Error::conflict(detail));
        }
        old.superseded_by = Some(new.id);
        old.superseded_at = Some(now);
        old.updated_at = now;
        old.revision += 1;
        let span = (new.id.0, SUPERSEDES.to_owned(), old.id.0);
        let edge = Edge::new(self, now, new.channel.clone(), &span);
        // It is the domain of what is replaced that changes.
        let edge = Change::AddEdge { edge, domain: old.domain.clone() };
        Ok([Change::UpdateMemory { memory: old, content_changed: false }, edge])
    }
}
