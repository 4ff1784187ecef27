//! What citations say about a memory: worth pinning, or gone stale.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Memory;
use crate::Mnemic;
use crate::erasure::{Burial, Receipt, Receipted, SubjectKind};
use crate::error::{Error, Result};
use crate::ids::MemoryId;
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};

const STALE_LIST: &str = "stale";
const DAYS_MAX: u32 = 36_500;
/// How many stale memories one purge removes.
const PURGE_MAX: usize = 1_000;

/// Which stale memories to remove.
#[derive(Debug, Clone, Default)]
pub struct Purge {
    /// Instead of the workspace's retention window.
    pub older_than_days: Option<u32>,
    /// Only these of them.
    pub ids: Option<Vec<MemoryId>>,
    /// Say what would go, but keep it.
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    pub ids: Vec<MemoryId>,
    pub dry_run: bool,
    /// Whether more are stale than one purge takes.
    pub more: bool,
    /// Absent where nothing was erased.
    pub receipt: Option<Receipt>,
}

impl Receipted for Purged {
    fn receipt(&mut self) -> Option<&mut Receipt> {
        self.receipt.as_mut()
    }
}

static PINS: Operation = Operation::new("memory.recommended_pins", Action::ReadMemories);
static STALE: Operation = Operation::new("memory.stale", Action::ReadMemories);
static PURGE: Operation = Operation::new("memory.purge", Action::EraseMemories);

impl Mnemic {
    /// Often cited and not pinned: most cited first.
    pub async fn recommended_pins(
        &self,
        principal: &Principal,
        page: &PageRequest,
    ) -> Result<Vec<Memory>> {
        self.authorize(principal, &PINS)?;
        let limit = page.limit()?;
        let settings = self.own_workspace(principal).await?.settings.memory;
        let at_least = i64::from(settings.pin_references);
        let readable = principal.access.readable();
        self.store.list_recommended_pins(principal.scope(), at_least, &readable, limit).await
    }

    /// Suggestions, unpinned, that nobody has cited within the retention window. Facts are
    /// authoritative and never go stale by themselves.
    pub async fn stale_memories(
        &self,
        principal: &Principal,
        older_than_days: Option<u32>,
        page: &PageRequest,
    ) -> Result<Page<Memory>> {
        self.authorize(principal, &STALE)?;
        let (limit, position) = (page.limit()?, page.position(STALE_LIST)?);
        let before = self.stale_before(principal, older_than_days).await?;
        let found = self
            .store
            .list_stale(
                principal.scope(),
                before,
                &principal.access.readable(),
                position,
                limit.saturating_add(1),
            )
            .await?;
        Ok(Page::cut(STALE_LIST, found, limit, |memory| Position::After(memory.id.0)))
    }

    /// Erases stale memories, and nothing that is not stale.
    pub async fn purge_memories(&self, caller: &Caller, purge: &Purge) -> Result<Purged> {
        self.authorize(&caller.principal, &PURGE)?;
        self.erase(caller, &PURGE, || {
            Box::pin(async {
                let before = self.stale_before(&caller.principal, purge.older_than_days).await?;
                let mut stale = self.purgeable(&caller.principal, purge, before).await?;
                let more = stale.len() > PURGE_MAX;
                stale.truncate(PURGE_MAX);
                let ids = stale.iter().map(|memory| memory.id).collect();
                let mut purged = Purged { ids, dry_run: purge.dry_run, more, receipt: None };
                if purge.dry_run || stale.is_empty() {
                    return Ok((purged, vec![]));
                }
                let mut burial = Burial::begin(self, caller).await?;
                stale.into_iter().try_for_each(|memory| burial.stale(memory, before))?;
                let mut receipt = self.receipt(SubjectKind::Stale, "");
                let changes = burial.finish(&mut receipt);
                purged.receipt = Some(receipt);
                Ok((purged, changes))
            })
        })
        .await
    }

    /// What a purge is about, with at least one more than it can take if there is more.
    async fn purgeable(
        &self,
        principal: &Principal,
        purge: &Purge,
        before: Timestamp,
    ) -> Result<Vec<Memory>> {
        let scope = principal.scope();
        if let Some(ids) = &purge.ids {
            if ids.len() > PURGE_MAX {
                let problem = format!("{} are more than the limit of {PURGE_MAX}", ids.len());
                return Err(Error::invalid("ids", problem));
            }
            let ids: Vec<_> = BTreeSet::from_iter(ids).into_iter().copied().collect();
            let mut named = self.store.lookup_memories(scope, &ids).await?;
            named.retain(|memory| memory.is_stale(before) && principal.may_read(memory));
            return self.writable(principal, named).await;
        }
        // What may be seen but not changed stays, and must not stand in the way of what comes
        // after it.
        let readable = principal.access.readable();
        let (mut found, mut position) = (Vec::new(), None);
        loop {
            let page =
                self.store.list_stale(scope, before, &readable, position, PURGE_MAX + 1).await?;
            let is_last = page.len() <= PURGE_MAX;
            position = page.last().map(|memory| Position::After(memory.id.0));
            found.extend(self.writable(principal, page).await?);
            if is_last || found.len() > PURGE_MAX {
                return Ok(found);
            }
        }
    }

    /// Those that the caller may change.
    async fn writable(
        &self,
        principal: &Principal,
        mut memories: Vec<Memory>,
    ) -> Result<Vec<Memory>> {
        let domains: BTreeSet<_> = memories.iter().filter_map(|m| m.domain.clone()).collect();
        for domain in domains {
            if self.refuse_write(principal, &domain).await?.is_some() {
                memories.retain(|memory| memory.domain.as_ref() != Some(&domain));
            }
        }
        Ok(memories)
    }

    async fn stale_before(&self, principal: &Principal, days: Option<u32>) -> Result<Timestamp> {
        let days = match days {
            Some(days) if days > DAYS_MAX => {
                return Err(Error::invalid("older_than_days", format!("is over {DAYS_MAX}")));
            }
            Some(days) => days,
            None => self.own_workspace(principal).await?.settings.memory.retention_days,
        };
        let window = SignedDuration::from_hours(i64::from(days) * 24);
        self.clock
            .now()
            .checked_sub(window)
            .map_err(|e| Error::invalid("older_than_days", "reaches too far back").caused_by(e))
    }
}
