//! Lifts facts that have proven themselves in their channel into `_global`: a copy, joined to its
//! origin, with the figures and thresholds of the day in the audit.

use async_trait::async_trait;
use jiff::SignedDuration;
use serde_json::json;

use super::{Claim, Done, Job};
use crate::Mnemic;
use crate::audit::Entry;
use crate::edge::{ABOUT, Edge, PROMOTED_FROM};
use crate::error::Result;
use crate::ids::MemoryId;
use crate::memory::{GLOBAL_CHANNEL, Memory};
use crate::principal::Scope;
use crate::store::Change;
use crate::workspace::PromotionSettings;

/// Facts in one run; the next hour takes the next ones.
const PROMOTED_MAX: usize = 200;

pub(super) struct Promote;

#[async_trait]
impl Job for Promote {
    fn name(&self) -> &'static str {
        "promote"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        Some(SignedDuration::from_hours(1))
    }

    async fn preview(&self, mnemic: &Mnemic, scope: Scope) -> Result<u64> {
        let (_, prominent) = candidates(mnemic, scope).await?;
        Ok(prominent.len() as u64)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        let (thresholds, prominent) = candidates(mnemic, claim.scope()).await?;
        let changed = prominent.len() as u64;
        let mut changes = Vec::new();
        for (fact, conversations) in prominent {
            let about = mnemic.store.list_edges_from(claim.scope(), fact.id.0, ABOUT).await?;
            changes.extend(promotion(mnemic, &fact, &about, conversations, &thresholds));
        }
        Ok(Done { changed, changes })
    }
}

type Prominent = (Memory, u64);

async fn candidates(mnemic: &Mnemic, scope: Scope) -> Result<(PromotionSettings, Vec<Prominent>)> {
    let thresholds = super::settings(mnemic, scope).await?.promotion;
    let found = mnemic.store.list_prominent(scope, &thresholds, PROMOTED_MAX).await?;
    let ids: Vec<_> = found.iter().map(|(id, _)| *id).collect();
    let facts = mnemic.store.lookup_memories(scope, &ids).await?;
    // What was erased elsewhere is not spread.
    let texts: Vec<_> = facts.iter().map(|fact| fact.content.as_str()).collect();
    let erased = mnemic.erased_texts(scope, &texts).await?;
    let kept: Vec<_> = erased.into_iter().map(|erased| !erased).collect();
    let facts = facts.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(fact, _)| fact);
    let seen = |fact: &Memory| found.iter().find(|(id, _)| *id == fact.id).map_or(0, |(_, n)| *n);
    let mut prominent: Vec<Prominent> = Vec::new();
    for fact in facts {
        // Two channels may hold the same fact, and one copy serves both.
        if prominent.iter().all(|(other, _)| other.content != fact.content) {
            let conversations = seen(&fact);
            prominent.push((fact, conversations));
        }
    }
    Ok((thresholds, prominent))
}

fn promotion(
    mnemic: &Mnemic,
    fact: &Memory,
    about: &[Edge],
    conversations: u64,
    thresholds: &PromotionSettings,
) -> Vec<Change> {
    let now = mnemic.clock.now();
    let copy = Memory {
        id: MemoryId(mnemic.ids.next(now)),
        channel: GLOBAL_CHANNEL.to_owned(),
        access_count: 0,
        last_accessed: None,
        times_referenced: 0,
        created_by: "promote".to_owned(),
        created_at: now,
        updated_at: now,
        revision: 1,
        ..fact.clone()
    };
    let joined = |relation: &str, target| {
        let span = (copy.id.0, relation.to_owned(), target);
        Edge::new(mnemic, now, GLOBAL_CHANNEL.to_owned(), &span)
    };
    let origin = joined(PROMOTED_FROM, fact.id.0);
    let about = about.iter().map(|known| Edge {
        properties: known.properties.clone(),
        ..joined(ABOUT, known.target_id)
    });
    let edges: Vec<_> = std::iter::once(origin).chain(about).collect();
    let entry = Entry {
        channel: Some(fact.channel.clone()),
        target_channels: vec![GLOBAL_CHANNEL.to_owned()],
        domain: fact.domain.clone(),
        record_ids: vec![copy.id.0, fact.id.0],
        count: 1,
        details: Some(json!({
            "confidence": fact.confidence,
            "access_count": fact.access_count,
            "conversations": conversations,
            "thresholds": thresholds,
        })),
        ..Entry::of_job("promote", mnemic.ids.next(now), now)
    };
    let mut changes = vec![
        // The fact must not have been replaced or deleted since it was looked at.
        Change::RequireLive(fact.id),
        Change::AddMemory(copy),
        Change::AddAudit(Box::new(entry)),
    ];
    for edge in edges {
        changes.push(Change::RequireRecord(edge.target_id));
        changes.push(Change::AddEdge { edge, domain: fact.domain.clone() });
    }
    changes
}
