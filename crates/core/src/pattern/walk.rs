//! Patterns in the graph: a pattern leads to those that it superseded (`_mem:supersedes`), and from
//! a record a walk comes to the patterns of what was done to it (`_mem:references`).
//!
//! These edges are no rows: a pattern says itself by which it was superseded, and which actions it
//! is about. The other way, from a pattern to every record that it was ever seen on, there is none:
//! it is about a type, and would lead to all of them.

use uuid::Uuid;

use super::{Pair, Pattern, PatternWish};
use crate::Mnemic;
use crate::action::{Done, REFERENCES, meet, takes};
use crate::edge::Edge;
use crate::error::Result;
use crate::ids::PatternId;
use crate::memory::GLOBAL_CHANNEL;
use crate::node::{Direction, Hops, Record, Walk};
use crate::principal::Scope;

/// A pattern leads to the one that it took the place of.
pub const SUPERSEDES: &str = "_mem:supersedes";

impl Mnemic {
    /// Which of these ids are patterns that have not faded away.
    pub(crate) async fn find_learned(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Done>> {
        let ids: Vec<_> = ids.iter().copied().map(PatternId).collect();
        let found = self.store.lookup_patterns(scope, &ids).await?;
        let present = found.into_iter().filter(|pattern| pattern.deleted_at.is_none());
        Ok(present.map(|pattern| Done::Pattern(Box::new(pattern))).collect())
    }

    /// The patterns of what was done to a record: those that whoever is about to touch it is told.
    pub(crate) async fn step_to_patterns(
        &self,
        scope: Scope,
        record: Uuid,
        walk: &Walk,
        hops: &mut Hops,
    ) -> Result<()> {
        let pairs = self.store.keys_of_node(scope, &[record]).await?;
        let wish = |(action_type, node_type): (String, String)| {
            PatternWish::Pair(Pair::new(action_type, &node_type))
        };
        let wishes: Vec<_> = pairs.into_iter().map(wish).collect();
        for pattern in self.store.find_live_patterns(scope, &wishes).await? {
            let edge = edge(&pattern, REFERENCES, record);
            meet(hops, walk, edge, Record::Done(Done::Pattern(Box::new(pattern))));
        }
        Ok(())
    }

    /// What a pattern superseded, and what superseded it.
    pub(crate) async fn step_pattern(
        &self,
        scope: Scope,
        pattern: &Pattern,
        walk: &Walk,
        hops: &mut Hops,
    ) -> Result<()> {
        if takes(walk, SUPERSEDES, Direction::Out) {
            for older in self.store.list_superseded(scope, pattern.id).await? {
                let edge = edge(pattern, SUPERSEDES, older.id.0);
                meet(hops, walk, edge, Record::Done(Done::Pattern(Box::new(older))));
            }
        }
        if takes(walk, SUPERSEDES, Direction::In)
            && let Some(newer) = pattern.superseded_by
        {
            for newer in self.find_learned(scope, &[newer.0]).await? {
                let Done::Pattern(by) = &newer else { continue };
                let edge = edge(by, SUPERSEDES, pattern.id.0);
                meet(hops, walk, edge, Record::Done(newer));
            }
        }
        Ok(())
    }
}

/// It holds since the pattern came to be.
fn edge(from: &Pattern, relation: &str, target: Uuid) -> Edge {
    let times = (from.created_at, from.created_at);
    Edge::derived(from.id.0, relation, target, GLOBAL_CHANNEL, times)
}
