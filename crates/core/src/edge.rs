//! Directed, typed edges between any two records of a workspace.
//!
//! An edge is never overwritten by a newer truth: it is closed, and stays for questions about
//! what we knew before. Among live edges, two ends and a relation make one edge.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use crate::Mnemic;
use crate::clock::micros;
use crate::error::{Error, Result};
use crate::ids::{EdgeId, shorten};
use crate::memory::{BATCH_ITEMS_MAX, at, check_validity};
use crate::node::{Properties, Record, check_properties, merge_properties};
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;

/// From a memory to the one that it replaced.
pub const SUPERSEDES: &str = "SUPERSEDES";
/// From a copy in `_global` to the fact in its channel.
pub const PROMOTED_FROM: &str = "PROMOTED_FROM";
/// From a memory to what it is about.
pub const ABOUT: &str = "ABOUT";
/// From a goal to the one that it is a part of.
pub const SUBGOAL_OF: &str = "SUBGOAL_OF";
/// From a conversation to a turn of it; from a turn to the next. They are told from the turns.
pub const HAS_TURN: &str = "HAS_TURN";
pub const FOLLOWED_BY: &str = "FOLLOWED_BY";
/// From a goal to one that it waits for.
pub const BLOCKED_BY: &str = "BLOCKED_BY";
const RELATION_CHARS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    pub id: EdgeId,
    pub channel: String,
    pub source_id: Uuid,
    pub target_id: Uuid,
    pub relation: String,
    pub properties: Properties,
    /// When it was true in the world.
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    /// When we learned it, and when we learned better.
    pub recorded_at: Timestamp,
    pub superseded_at: Option<Timestamp>,
    /// Counts changes, so that two of them cannot overwrite each other.
    pub revision: i64,
}

/// An edge to be made. Absent times and fields leave those of an edge that is there as they are.
#[derive(Debug, Clone, Default)]
pub struct NewEdge {
    pub source_id: Uuid,
    pub target_id: Uuid,
    pub relation: String,
    pub properties: Properties,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
}

impl NewEdge {
    fn check(&self) -> Result<()> {
        check_relation("relation", &self.relation)?;
        let is_strict = [SUPERSEDES, SUBGOAL_OF].contains(&self.relation.as_str());
        if is_strict && self.source_id == self.target_id {
            let problem = format!("nothing can be in {} to itself", self.relation);
            return Err(Error::invalid("target_id", problem));
        }
        check_properties(&self.properties)?;
        check_validity(self.valid_from, self.valid_to)
    }
}

/// An edge, and whether it was not there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linked {
    pub edge: Edge,
    pub created: bool,
}

/// Checks the name of a relation: a letter or `_`, then letters, digits, `_` and `:`.
pub(crate) fn check_relation(field: &str, relation: &str) -> Result<()> {
    let mut bytes = relation.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let goes_on_well = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b':');
    if starts_well && goes_on_well && relation.len() <= RELATION_CHARS_MAX {
        return Ok(());
    }
    let problem = format!(
        "`{}` is not a relation: 1 to {RELATION_CHARS_MAX} letters, digits, `_` and `:`, \
         beginning with a letter or `_`, such as WORKS_FOR",
        shorten(relation)
    );
    Err(Error::invalid(field, problem))
}

static CREATE: Operation = Operation::new("edge.create", Action::WriteGraph);
static DELETE: Operation = Operation::new("edge.delete", Action::WriteGraph);

impl Mnemic {
    /// Joins two records, or brings what is given into the live edge that joins them already.
    pub async fn link(&self, caller: &Caller, new: &NewEdge) -> Result<Linked> {
        self.authorize(&caller.principal, &CREATE)?;
        new.check()?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut linking = Linking::new(self, caller);
                linking.read(std::slice::from_ref(new)).await?;
                let linked = linking.link(new)?;
                Ok((linked, linking.finish()))
            })
        })
        .await
    }

    /// All of them or, if one is refused, none; the error names which.
    pub async fn link_all(&self, caller: &Caller, news: &[NewEdge]) -> Result<Vec<Linked>> {
        self.authorize(&caller.principal, &CREATE)?;
        if news.is_empty() || news.len() > BATCH_ITEMS_MAX {
            let problem = format!("must have 1 to {BATCH_ITEMS_MAX} items, has {}", news.len());
            return Err(Error::invalid("edges", problem));
        }
        for (i, new) in news.iter().enumerate() {
            new.check().map_err(|e| at(i, &e))?;
        }
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let mut linking = Linking::new(self, caller);
                linking.read(news).await?;
                let linked = news.iter().enumerate();
                let linked = linked.map(|(i, new)| linking.link(new).map_err(|e| at(i, &e)));
                let linked = linked.collect::<Result<Vec<_>>>()?;
                Ok((linked, linking.finish()))
            })
        })
        .await
    }

    /// Says that an edge no longer holds. Questions about the time before still find it.
    pub async fn unlink(&self, caller: &Caller, id: EdgeId) -> Result<()> {
        self.authorize(&caller.principal, &DELETE)?;
        self.decide(caller, &DELETE, || {
            Box::pin(async {
                let found = self.store.lookup_edge(caller.scope(), id).await?;
                let edge = found.filter(|edge| edge.superseded_at.is_none());
                let edge = edge.ok_or_else(|| Error::not_found("edge"))?;
                let ends = [edge.source_id, edge.target_id];
                let ends = self.visible_records(&caller.principal, &ends).await?;
                let [Some(source), Some(target)] = ends.as_slice() else {
                    return Err(Error::not_found("edge"));
                };
                if edge.relation == SUPERSEDES && is_memory(source) && is_memory(target) {
                    let detail = "this edge says which memory replaced which, and goes with them";
                    return Err(Error::conflict(detail));
                }
                let domain = source.domain().map(str::to_owned);
                Ok(((), vec![Change::CloseEdge { edge, domain, at: self.clock.now() }]))
            })
        })
        .await
    }
}

fn is_memory(record: &Record) -> bool {
    matches!(record, Record::Memory(_))
}

/// What tells a live edge from all others.
type Span = (Uuid, String, Uuid);

/// An edge as a request leaves it.
struct Draft {
    /// As it is stored, if it is.
    stored: Option<Edge>,
    edge: Edge,
}

/// The edges of one creating request, while they are gathered.
struct Linking<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    now: Timestamp,
    records: HashMap<Uuid, Option<Record>>,
    drafts: HashMap<Span, Draft>,
    order: Vec<Span>,
}

impl<'a> Linking<'a> {
    fn new(mnemic: &'a Mnemic, caller: &'a Caller) -> Self {
        let now = mnemic.clock.now();
        let (records, drafts) = (HashMap::new(), HashMap::new());
        Self { mnemic, caller, now, records, drafts, order: Vec::new() }
    }

    /// Reads the ends of all edges and the edges that are there, in two trips.
    async fn read(&mut self, news: &[NewEdge]) -> Result<()> {
        let (store, scope) = (&self.mnemic.store, self.caller.scope());
        let ends: BTreeSet<_> = news.iter().flat_map(|n| [n.source_id, n.target_id]).collect();
        let ends: Vec<_> = ends.into_iter().collect();
        let records = self.mnemic.visible_records(&self.caller.principal, &ends).await?;
        self.records.extend(ends.into_iter().zip(records));
        let wanted: Vec<_> =
            news.iter().map(|n| (n.source_id, n.relation.as_str(), n.target_id)).collect();
        for edge in store.find_edges(scope, &wanted).await?.into_iter().flatten() {
            let span = (edge.source_id, edge.relation.clone(), edge.target_id);
            self.drafts.insert(span, Draft { stored: Some(edge.clone()), edge });
        }
        Ok(())
    }

    fn link(&mut self, new: &NewEdge) -> Result<Linked> {
        let source = self.end("source_id", new.source_id)?;
        let channel = source.channel().to_owned();
        let target = self.end("target_id", new.target_id)?;
        if new.relation == SUPERSEDES && is_memory(source) && is_memory(target) {
            let problem = "one memory replaces another by superseding it, not by an edge";
            return Err(Error::invalid("relation", problem));
        }
        let span = (new.source_id, new.relation.clone(), new.target_id);
        if !self.order.contains(&span) {
            self.order.push(span.clone());
        }
        if let Some(draft) = self.drafts.get_mut(&span) {
            let fresh = EdgeId(self.mnemic.ids.next(self.now));
            draft.merge(new, fresh, self.now)?;
            let created = draft.stored.as_ref().is_none_or(|edge| edge.id != draft.edge.id);
            return Ok(Linked { edge: draft.edge.clone(), created });
        }
        let edge = Edge {
            properties: without_nulls(&new.properties),
            valid_from: new.valid_from.map(micros),
            valid_to: new.valid_to.map(micros),
            ..Edge::new(self.mnemic, self.now, channel, &span)
        };
        self.drafts.insert(span, Draft { stored: None, edge: edge.clone() });
        Ok(Linked { edge, created: true })
    }

    fn end(&self, field: &str, id: Uuid) -> Result<&Record> {
        let record = self.records.get(&id).and_then(Option::as_ref);
        record.ok_or_else(|| {
            let missing = Error::not_found("record");
            Error::new(missing.code(), format!("{field}: {missing}"))
        })
    }

    fn finish(mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut ends = BTreeSet::new();
        for span in self.order {
            let Some(Draft { stored, edge }) = self.drafts.remove(&span) else { continue };
            let domain = self.records.get(&span.0).and_then(|source| source.as_ref()?.domain());
            let domain = domain.map(str::to_owned);
            let before = changes.len();
            match stored {
                Some(stored) if stored == edge => {}
                Some(stored) if stored.id == edge.id => {
                    changes.push(Change::UpdateEdge { edge, domain });
                }
                Some(stored) => {
                    let (closed, at) = (domain.clone(), self.now);
                    changes.push(Change::CloseEdge { edge: stored, domain: closed, at });
                    changes.push(Change::AddEdge { edge, domain });
                }
                None => changes.push(Change::AddEdge { edge, domain }),
            }
            if changes.len() > before {
                ends.extend([span.0, span.2]);
            }
        }
        ends.into_iter().map(Change::RequireRecord).chain(changes).collect()
    }
}

impl Edge {
    pub(crate) fn new(mnemic: &Mnemic, now: Timestamp, channel: String, span: &Span) -> Self {
        let (source_id, relation, target_id) = span.clone();
        Self {
            id: EdgeId(mnemic.ids.next(now)),
            channel,
            source_id,
            target_id,
            relation,
            properties: Properties::new(),
            valid_from: None,
            valid_to: None,
            recorded_at: now,
            superseded_at: None,
            revision: 1,
        }
    }

    /// An edge that is no row but follows from records, under an id that is always the same. It
    /// holds since the first of the times, and is known since the second.
    pub(crate) fn derived(
        source_id: Uuid,
        relation: &str,
        target_id: Uuid,
        channel: &str,
        (at, recorded_at): (Timestamp, Timestamp),
    ) -> Self {
        let mut sum = Sha256::new();
        for part in [source_id.as_bytes(), relation.as_bytes(), target_id.as_bytes()] {
            sum.update(part);
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&sum.finalize()[..16]);
        Self {
            id: EdgeId(Builder::from_custom_bytes(bytes).into_uuid()),
            channel: channel.to_owned(),
            source_id,
            target_id,
            relation: relation.to_owned(),
            properties: Properties::new(),
            valid_from: Some(at),
            valid_to: None,
            recorded_at,
            superseded_at: None,
            revision: 1,
        }
    }
}

impl Draft {
    /// Other properties are a correction of the edge; another time in the world is another edge,
    /// so that what we knew before can still be asked for.
    fn merge(&mut self, new: &NewEdge, fresh: EdgeId, now: Timestamp) -> Result<()> {
        let edge = &mut self.edge;
        let before = edge.clone();
        merge_properties(&mut edge.properties, &new.properties);
        check_properties(&edge.properties)?;
        // What begins behind the end of what we knew is open again, unless an end is given.
        let begins = new.valid_from.map(micros);
        let goes_on = |end: &Timestamp| begins.is_none_or(|start| start < *end);
        edge.valid_to = new.valid_to.map(micros).or(edge.valid_to.filter(goes_on));
        edge.valid_from = begins.or(edge.valid_from);
        check_validity(edge.valid_from, edge.valid_to)?;
        let Some(stored) = &self.stored else { return Ok(()) };
        let is_retimed = (edge.valid_from, edge.valid_to) != (stored.valid_from, stored.valid_to);
        if is_retimed && edge.id == stored.id {
            (edge.id, edge.recorded_at, edge.revision) = (fresh, now, 1);
        } else if edge.id == stored.id && *edge != before {
            edge.revision = stored.revision + 1;
        }
        Ok(())
    }
}

fn without_nulls(given: &Properties) -> Properties {
    let mut properties = Properties::new();
    merge_properties(&mut properties, given);
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_plain_words() {
        for relation in ["KNOWS", "_mem:references", "a", "Part_Of9", &"R".repeat(64)] {
            check_relation("relation", relation).expect(relation);
        }
        let long = "R".repeat(65);
        for relation in ["", "9A", ":a", "A B", "it's", "a\"b", "{a}", "é", "a-b", &long] {
            let error = check_relation("relation", relation).expect_err(relation);
            assert!(error.to_string().starts_with("relation: `"), "{error}");
        }
    }
}
