//! How a memory changes: corrected, promoted, weighed, pinned, forgotten, restored.

use jiff::Timestamp;

use super::create::{check_confidence, check_names, check_validity};
use super::{Kind, Memory, Temporal};
use crate::Mnemic;
use crate::clock::micros;
use crate::domain::check_domain;
use crate::erasure::{Burial, Graves, Receipt, SubjectKind};
use crate::error::{Error, Result};
use crate::ids::MemoryId;
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;
use crate::text::{CONTENT_BYTES_MAX, check_content, check_name, check_optional_name};

pub const WEIGHT_MAX: f64 = 10.0;
pub const WEIGHT_DELTA_MAX: f64 = 10.0;

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct MemoryPatch {
    pub content: Option<String>,
    pub channel: Option<String>,
    pub domain: Option<Option<String>>,
    pub topic: Option<Option<String>>,
    pub confidence: Option<f64>,
    pub source: Option<Option<String>>,
    pub source_ids: Option<Vec<String>>,
    pub entities: Option<Vec<String>>,
    pub temporal: Option<Option<Temporal>>,
    pub valid_from: Option<Option<Timestamp>>,
    pub valid_to: Option<Option<Timestamp>>,
    /// Marks it as replaced by a memory that exists already.
    pub superseded_by: Option<MemoryId>,
    /// Take words and names even if they were erased, and lift their tombstones.
    pub revive: bool,
}

impl MemoryPatch {
    fn check(&self) -> Result<()> {
        if let Some(content) = &self.content {
            check_content("content", content, CONTENT_BYTES_MAX)?;
        }
        if let Some(channel) = &self.channel {
            check_name("channel", channel)?;
        }
        check_domain("domain", self.domain.as_ref().and_then(|d| d.as_deref()))?;
        check_optional_name("topic", self.topic.as_ref().and_then(|t| t.as_deref()))?;
        check_optional_name("source", self.source.as_ref().and_then(|s| s.as_deref()))?;
        check_names("source_ids", self.source_ids.as_deref().unwrap_or_default())?;
        check_names("entities", self.entities.as_deref().unwrap_or_default())?;
        check_confidence(self.confidence)
    }

    /// Whether the words changed, so that the vector no longer fits.
    fn apply(&self, memory: &mut Memory) -> Result<bool> {
        fn set<T: Clone>(field: &mut T, wish: Option<&T>) {
            if let Some(wish) = wish {
                field.clone_from(wish);
            }
        }
        let content_changed = self.content.as_ref().is_some_and(|c| *c != memory.content);
        set(&mut memory.content, self.content.as_ref());
        set(&mut memory.channel, self.channel.as_ref());
        set(&mut memory.domain, self.domain.as_ref());
        set(&mut memory.topic, self.topic.as_ref());
        set(&mut memory.confidence, self.confidence.as_ref());
        set(&mut memory.source, self.source.as_ref());
        set(&mut memory.source_ids, self.source_ids.as_ref());
        set(&mut memory.entities, self.entities.as_ref());
        set(&mut memory.temporal, self.temporal.as_ref());
        set(&mut memory.valid_from, self.valid_from.map(|at| at.map(micros)).as_ref());
        set(&mut memory.valid_to, self.valid_to.map(|at| at.map(micros)).as_ref());
        check_validity(memory.valid_from, memory.valid_to)?;
        Ok(content_changed)
    }
}

static UPDATE: Operation = Operation::new("memory.update", Action::WriteMemories);
static PROMOTE: Operation = Operation::new("memory.promote", Action::WriteMemories);
static PIN: Operation = Operation::new("memory.pin", Action::WriteMemories);
static WEIGHT: Operation = Operation::new("memory.weight", Action::WriteMemories);
static FORGET: Operation = Operation::new("memory.forget", Action::WriteMemories);
static RESTORE: Operation = Operation::new("memory.restore", Action::WriteMemories);
static ERASE: Operation = Operation::new("memory.erase", Action::EraseMemories);

impl Mnemic {
    pub async fn update_memory(
        &self,
        caller: &Caller,
        id: MemoryId,
        patch: &MemoryPatch,
    ) -> Result<Memory> {
        self.authorize(&caller.principal, &UPDATE)?;
        patch.check()?;
        let updated = self.decide(caller, &UPDATE, || {
            Box::pin(async {
                // What leaves a domain is a change of that one, too.
                let before = self.writable_memory(&caller.principal, id).await?;
                let mut memory = before.clone();
                let content_changed = patch.apply(&mut memory)?;
                let domain = memory.domain.as_deref();
                let domain = domain.map(|domain| self.domain_change(&caller.principal, domain));
                let now = self.stamp(&mut memory);
                let mut graves = Graves::new(self, caller);
                if content_changed {
                    graves.admit_text(&memory.content, patch.revive).await?;
                }
                let mut changes = graves.finish();
                changes.extend(self.about_changed(caller, &before, &memory, patch).await?);
                let Some(newer) = patch.superseded_by else {
                    changes.push(Change::UpdateMemory { memory: memory.clone(), content_changed });
                    changes.extend(domain);
                    return Ok((memory, changes));
                };
                if memory.superseded_at.is_some() {
                    return Err(Error::conflict("superseded_by: this memory is already replaced"));
                }
                let newer = self.live_head(&caller.principal, newer).await?;
                if newer.id == memory.id {
                    let problem = "superseded_by: would close a circle of replacements";
                    return Err(Error::conflict(problem));
                }
                // `supersession` counts the revision up; the patch rides on the same change.
                memory.revision -= 1;
                let [mut replaced, edge] = self.supersession(memory, &newer, now)?;
                let Change::UpdateMemory { memory, content_changed: flag } = &mut replaced else {
                    return Err(Error::internal("a supersession without its memory"));
                };
                *flag = content_changed;
                // Otherwise the newer one could be erased, or itself be replaced by this one,
                // between the decision and the commit.
                let memory = memory.clone();
                changes.extend([Change::RequireLive(newer.id), replaced, edge]);
                changes.extend(domain);
                Ok((memory, changes))
            })
        });
        self.shown(&caller.principal, updated.await?).await
    }

    /// Makes a suggestion authoritative. Promoting a fact changes nothing.
    pub async fn promote_memory(&self, caller: &Caller, id: MemoryId) -> Result<Memory> {
        self.change_memory(caller, &PROMOTE, id, |memory| {
            if memory.superseded_at.is_some() {
                let detail = "a replaced memory cannot be promoted; promote what replaced it";
                return Err(Error::conflict(detail));
            }
            Ok(std::mem::replace(&mut memory.kind, Kind::Fact) != Kind::Fact)
        })
        .await
    }

    pub async fn pin_memory(&self, caller: &Caller, id: MemoryId, pinned: bool) -> Result<Memory> {
        self.change_memory(caller, &PIN, id, |memory| {
            Ok(std::mem::replace(&mut memory.pinned, pinned) != pinned)
        })
        .await
    }

    /// Moves the manual weight. The more a memory is cited, the less a hand on the scale
    /// moves it: citations are the better signal.
    pub async fn weight_memory(&self, caller: &Caller, id: MemoryId, delta: f64) -> Result<Memory> {
        if !delta.is_finite() || delta.abs() > WEIGHT_DELTA_MAX {
            let problem = format!("must be between -{WEIGHT_DELTA_MAX} and {WEIGHT_DELTA_MAX}");
            return Err(Error::invalid("delta", problem));
        }
        self.change_memory(caller, &WEIGHT, id, |memory| {
            let before = memory.weight;
            memory.weight = weighed(before, delta, memory.times_referenced);
            Ok((memory.weight - before).abs() > f64::EPSILON)
        })
        .await
    }

    /// Hides a memory; [`Self::restore_memory`] brings it back with its citations.
    pub async fn forget_memory(&self, caller: &Caller, id: MemoryId) -> Result<()> {
        self.change_memory(caller, &FORGET, id, |memory| {
            memory.deleted_at = Some(memory.updated_at);
            Ok(true)
        })
        .await
        .map(drop)
    }

    pub async fn restore_memory(&self, caller: &Caller, id: MemoryId) -> Result<Memory> {
        self.authorize(&caller.principal, &RESTORE)?;
        let restored = self.decide(caller, &RESTORE, || {
            Box::pin(async {
                let mut memory = self.readable_memory(&caller.principal, id).await?;
                if let Some(domain) = &memory.domain {
                    self.check_write(&caller.principal, domain).await?;
                }
                if memory.deleted_at.is_none() {
                    return Ok((memory, vec![]));
                }
                memory.deleted_at = None;
                self.stamp(&mut memory);
                // No change of the model reached it while it was hidden: its vector is made anew.
                Ok((memory.clone(), vec![Change::UpdateMemory { memory, content_changed: true }]))
            })
        });
        self.shown(&caller.principal, restored.await?).await
    }

    /// Removes a memory for good, deleted softly before or not.
    /// What was promoted from it goes with it.
    pub async fn erase_memory(&self, caller: &Caller, id: MemoryId) -> Result<Receipt> {
        self.authorize(&caller.principal, &ERASE)?;
        let erased = self.erase(caller, &ERASE, || {
            Box::pin(async {
                let mut receipt = self.receipt(SubjectKind::Memory, &id.to_string());
                let memory = self.readable_memory(&caller.principal, id).await?;
                let mut burial = Burial::begin(self, caller).await?;
                burial.memory(memory).await?;
                let changes = burial.finish(&mut receipt);
                Ok((receipt, changes))
            })
        });
        let mut receipt: Receipt = erased.await?;
        receipt.subject_id = id.to_string();
        Ok(receipt)
    }

    /// Reads, changes and writes one visible memory; `change` says whether anything changed.
    async fn change_memory(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        id: MemoryId,
        change: impl Fn(&mut Memory) -> Result<bool> + Sync,
    ) -> Result<Memory> {
        self.authorize(&caller.principal, operation)?;
        let changed = self.decide(caller, operation, || {
            Box::pin(async {
                let before = self.writable_memory(&caller.principal, id).await?;
                let mut memory = before.clone();
                self.stamp(&mut memory);
                if !change(&mut memory)? {
                    return Ok((before, vec![]));
                }
                Ok((memory.clone(), vec![Change::UpdateMemory { memory, content_changed: false }]))
            })
        });
        self.shown(&caller.principal, changed.await?).await
    }

    /// The record, if the caller may change it, even where nothing will change.
    async fn writable_memory(&self, principal: &Principal, id: MemoryId) -> Result<Memory> {
        let memory = self.visible_memory(principal, id).await?;
        if let Some(domain) = &memory.domain {
            self.check_write(principal, domain).await?;
        }
        Ok(memory)
    }

    /// A changed memory, as the caller may see it.
    async fn shown(&self, principal: &Principal, mut memory: Memory) -> Result<Memory> {
        self.conceal(principal, vec![&mut memory]).await?;
        Ok(memory)
    }

    fn stamp(&self, memory: &mut Memory) -> Timestamp {
        let now = self.clock.now();
        memory.updated_at = now;
        memory.revision += 1;
        now
    }
}

fn weighed(weight: f64, delta: f64, times_referenced: i64) -> f64 {
    let damping = 1.0 + (1.0 + times_referenced.max(0) as f64).ln();
    (weight + delta / damping).clamp(0.0, WEIGHT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_weight_counts_less_the_more_a_memory_is_cited() {
        let steps: Vec<f64> =
            [0, 1, 5, 50].iter().map(|&cited| weighed(1.0, 1.0, cited) - 1.0).collect();
        assert!((steps[0] - 1.0).abs() < 1e-9);
        assert!(steps.windows(2).all(|pair| pair[0] > pair[1]), "{steps:?}");
        assert!((weighed(1.0, -9.0, 0)).abs() < 1e-9);
        assert!((weighed(9.5, 9.0, 0) - WEIGHT_MAX).abs() < 1e-9);
    }
}
