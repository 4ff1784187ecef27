//! Reviews: two memories that cannot both be true, kept side by side until somebody decides.

use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{MemoryId, ReviewId, shorten};
use crate::memory::{Kind, Memory};
use crate::page::{Page, PageRequest, Position};
use crate::principal::{Action, Caller, Operation, Principal};
use crate::store::Change;

const LIST: &str = "reviews";

static READ: Operation = Operation::new("review.list", Action::ReadMemories);
static RESOLVE: Operation = Operation::new("review.resolve", Action::WriteMemories);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub id: ReviewId,
    /// The property that the two disagree about.
    pub topic: String,
    pub old_id: MemoryId,
    pub new_id: MemoryId,
    pub created_at: Timestamp,
    pub decision: Option<Decision>,
    pub decided_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The new one replaces the old one.
    KeepNew,
    /// The old one replaces the new one.
    KeepOld,
    /// Both hold.
    KeepBoth,
}

impl Decision {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KeepNew => "keep_new",
            Self::KeepOld => "keep_old",
            Self::KeepBoth => "keep_both",
        }
    }
}

impl FromStr for Decision {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let all = [Self::KeepNew, Self::KeepOld, Self::KeepBoth];
        all.into_iter().find(|decision| decision.as_str() == word).ok_or_else(|| {
            let problem =
                format!("`{}` is not one of keep_new, keep_old, keep_both", shorten(word));
            Error::invalid("decision", problem)
        })
    }
}

/// A review with what it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    pub review: Review,
    pub old: Memory,
    pub new: Memory,
}

impl Mnemic {
    /// Those that are open, or those that are decided, newest first.
    pub async fn list_reviews(
        &self,
        principal: &Principal,
        decided: bool,
        page: &PageRequest,
    ) -> Result<Page<Contradiction>> {
        self.authorize(principal, &READ)?;
        let (limit, after) = (page.limit()?, page.position(LIST)?);
        let (scope, readable) = (principal.scope(), principal.access.readable());
        let wanted = limit.saturating_add(1);
        let found = self.store.list_reviews(scope, !decided, &readable, after, wanted).await?;
        let page = Page::cut(LIST, found, limit, |review| Position::After(review.id.0));
        let ids = page.items.iter().flat_map(|review| [review.old_id, review.new_id]);
        let mut memories = self.store.lookup_memories(scope, &ids.collect::<Vec<_>>()).await?;
        // One may have moved to another domain since it was found.
        memories.retain(|memory| principal.may_read(memory));
        self.conceal(principal, memories.iter_mut().collect()).await?;
        let memory = |id: MemoryId| memories.iter().find(|memory| memory.id == id).cloned();
        let items = page.items.into_iter().filter_map(|review| {
            let (old, new) = (memory(review.old_id)?, memory(review.new_id)?);
            Some(Contradiction { review, old, new })
        });
        Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
    }

    /// Decides a contradiction. One that was decided before is a conflict.
    pub async fn resolve_review(
        &self,
        caller: &Caller,
        id: ReviewId,
        decision: Decision,
    ) -> Result<Review> {
        self.authorize(&caller.principal, &RESOLVE)?;
        self.decide(caller, &RESOLVE, || {
            Box::pin(async {
                let found = self.store.lookup_review(caller.scope(), id).await?;
                let mut review = found.ok_or_else(|| Error::not_found("review"))?;
                let unseen = |_| Error::not_found("review");
                let old = self.readable_memory(&caller.principal, review.old_id).await;
                let old = old.map_err(unseen)?;
                let new = self.readable_memory(&caller.principal, review.new_id).await;
                let new = new.map_err(unseen)?;
                for domain in [&old.domain, &new.domain].into_iter().flatten() {
                    self.check_write(&caller.principal, domain).await?;
                }
                if let Some(decision) = review.decision {
                    let detail = format!("the review was decided already: {}", decision.as_str());
                    return Err(Error::conflict(detail));
                }
                let now = self.clock.now();
                let mut changes = self.decided(decision, old, new, now)?;
                review.decision = Some(decision);
                review.decided_at = Some(now);
                review.revision += 1;
                changes.push(Change::UpdateReview(review.clone()));
                Ok((review, changes))
            })
        })
        .await
    }

    fn decided(
        &self,
        decision: Decision,
        old: Memory,
        new: Memory,
        now: Timestamp,
    ) -> Result<Vec<Change>> {
        let (mut kept, gone) = match decision {
            Decision::KeepNew => (new, old),
            Decision::KeepOld => (old, new),
            Decision::KeepBoth => return Ok(vec![]),
        };
        if !kept.is_live() {
            let detail = "the memory that is to be kept was deleted or replaced; decide otherwise";
            return Err(Error::conflict(detail));
        }
        if !gone.is_live() {
            return Ok(vec![]);
        }
        // What takes the place of a fact has its authority: somebody decided so.
        let first = if gone.kind == Kind::Fact && kept.kind != Kind::Fact {
            kept.kind = Kind::Fact;
            kept.updated_at = now;
            kept.revision += 1;
            Change::UpdateMemory { memory: kept.clone(), content_changed: false }
        } else {
            Change::RequireLive(kept.id)
        };
        let [replaced, edge] = self.supersession(gone, &kept, now)?;
        Ok(vec![first, replaced, edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_words() {
        for decision in [Decision::KeepNew, Decision::KeepOld, Decision::KeepBoth] {
            assert_eq!(decision.as_str().parse::<Decision>().unwrap(), decision);
        }
        assert!("keep".parse::<Decision>().unwrap_err().to_string().contains("keep_both"));
    }
}
