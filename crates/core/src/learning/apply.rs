//! An extraction becomes changes: new facts, more support for known ones, and what becomes of
//! those that it contradicts.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::rival::{Opposed, Rivals};
use super::{Draft, Learned};
use crate::Mnemic;
use crate::conversation::{Conversation, Turn};
use crate::edge::Edge;
use crate::error::{Code, Error, Result};
use crate::extraction::{Certainty, FoundFact, FoundRelation, Likeness};
use crate::ids::{MemoryId, NodeId, ReviewId};
use crate::memory::{Creation, Kind, Memory, NewMemory};
use crate::node::ENTITY;
use crate::principal::Caller;
use crate::review::Review;
use crate::store::Change;
use crate::text::fold_name;
use crate::workspace::Contradictions;

/// Hearing something again makes it surer, up to here.
const CONFIDENCE_MAX: f64 = 0.99;
/// How much of the doubt that is left goes with each time.
const SUPPORT: f64 = 0.25;
/// A memory names no more sources than this.
const SOURCES_MAX: usize = 100;

impl Mnemic {
    /// What a draft changes, decided on what is known now. Nothing, if some of its turns were
    /// learned from or are gone.
    pub(super) async fn learn_changes(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        draft: &Draft,
    ) -> Result<(Learned, Vec<Change>)> {
        let (scope, count) = (caller.scope(), draft.turns.len());
        let waiting = self.store.list_unlearned(scope, &conversation.id, count).await?;
        if waiting.iter().map(|turn| turn.id).ne(draft.turns.iter().map(|turn| turn.id)) {
            return Ok((Learned::default(), vec![]));
        }
        let mut learning = Learning::new(self, caller, conversation, draft);
        for (place, fact) in draft.extraction.facts.iter().enumerate() {
            let meaning = draft.vectors.as_ref().map(|vectors| (vectors, place));
            let rivals = self.rivals(caller, &conversation.channel, fact, meaning).await?;
            learning.fact(fact, rivals).await?;
        }
        for relation in &draft.extraction.relations {
            learning.relation(relation).await?;
        }
        Ok(learning.finish())
    }
}

/// The changes of one portion, while they are gathered.
struct Learning<'a> {
    mnemic: &'a Mnemic,
    caller: &'a Caller,
    conversation: &'a Conversation,
    draft: &'a Draft,
    creation: Creation<'a>,
    changes: Vec<Change>,
    /// Known facts that were said again, as they are left.
    supported: BTreeMap<MemoryId, Memory>,
    replaced: Vec<MemoryId>,
    told: Vec<Likeness>,
    /// What facts were about that newer ones had overtaken before they were learned.
    overtaken: Vec<Vec<String>>,
    learned: Learned,
}

impl<'a> Learning<'a> {
    fn new(
        mnemic: &'a Mnemic,
        caller: &'a Caller,
        conversation: &'a Conversation,
        draft: &'a Draft,
    ) -> Self {
        Self {
            mnemic,
            caller,
            conversation,
            draft,
            creation: Creation::new(mnemic, caller),
            changes: Vec::new(),
            supported: BTreeMap::new(),
            replaced: Vec::new(),
            told: Vec::new(),
            overtaken: Vec::new(),
            learned: Learned { turns: draft.turns.len() as u64, ..Learned::default() },
        }
    }

    fn finish(self) -> (Learned, Vec<Change>) {
        let now = self.mnemic.clock.now();
        let mut changes = self.creation.finish();
        changes.extend(self.changes);
        for memory in self.supported.into_values() {
            changes.push(Change::UpdateMemory { memory, content_changed: false });
        }
        changes.extend(owners(self.draft, &changes));
        let marks = self.draft.turns.iter().map(|turn| Change::LearnTurn { id: turn.id, at: now });
        changes.extend(marks);
        (self.learned, changes)
    }

    async fn fact(&mut self, fact: &FoundFact, rivals: Rivals) -> Result<()> {
        let likeness = Likeness::of(&fact.content);
        if self.told.iter().any(|told| told.restates(&likeness)) {
            return Ok(());
        }
        if let Some(known) = rivals.same.filter(|known| !self.replaced.contains(&known.id)) {
            self.support(known, fact);
            return Ok(());
        }
        let is_left = |old: &Opposed| !self.replaced.contains(&old.memory.id);
        let opposed: Vec<_> = rivals.opposed.into_iter().filter(is_left).collect();
        let policy = self.draft.settings.contradictions;
        let is_refused = policy == Contradictions::PreferOld && !fact.correction;
        if is_refused && !opposed.is_empty() {
            self.learned.refused += 1;
            return Ok(());
        }
        let added = self.add(fact, &opposed).await;
        let new = match added {
            Err(e) if e.code() == Code::Erased => {
                self.learned.refused += 1;
                return Ok(());
            }
            added => added?,
        };
        self.told.push(likeness);
        self.learned.facts += 1;
        self.see(new.id);
        self.settle(fact, opposed, new)
    }

    /// What becomes of a new fact and of those that it contradicts. The one that was said last
    /// holds, in whatever order they are learned.
    fn settle(&mut self, fact: &FoundFact, opposed: Vec<Opposed>, new: Memory) -> Result<()> {
        let said_at = self.said_at(fact);
        let (later, earlier): (Vec<_>, Vec<_>) =
            opposed.into_iter().partition(|known| known.said_at > said_at);
        let decides = |known: &&Opposed| self.prefers_last(fact) && overrules(&known.memory, &new);
        let last = later.iter().filter(decides).max_by_key(|known| known.said_at);
        if let Some(last) = last {
            return self.overtake(fact, last, new);
        }
        for known in &later {
            self.review(fact, &known.memory, &new);
        }
        for old in earlier {
            self.oppose(fact, old, &new)?;
        }
        Ok(())
    }

    /// Whether what was said last holds. A correction takes back what was said before it, not what
    /// was said since.
    fn prefers_last(&self, fact: &FoundFact) -> bool {
        fact.correction || self.draft.settings.contradictions == Contradictions::PreferNew
    }

    fn said_at(&self, fact: &FoundFact) -> Timestamp {
        let turn = self.draft.turns.iter().find(|turn| turn.id == fact.source);
        turn.map_or_else(|| self.mnemic.clock.now(), |turn| turn.at)
    }

    /// A fact that is learned after a newer one is history: it held when it was said.
    fn overtake(&mut self, fact: &FoundFact, last: &Opposed, mut new: Memory) -> Result<()> {
        let said_at = self.said_at(fact);
        new.valid_to = new.valid_to.or_else(|| until(&new, said_at, last.began()));
        if new.valid_to.is_none_or(|to| said_at < to) {
            new.valid_from = new.valid_from.or(Some(said_at));
        }
        self.overtaken.push(fact.entities.clone());
        self.learned.superseded += 1;
        self.changes.push(Change::RequireRecord(last.memory.id.0));
        self.creation.take_place(new, &last.memory)
    }

    async fn add(&mut self, fact: &FoundFact, opposed: &[Opposed]) -> Result<Memory> {
        let channel = &self.conversation.channel;
        // What was erased is refused before anything is made for it.
        self.creation.weaving.graves.admit_text(&fact.content, false).await?;
        for name in &fact.entities {
            self.creation.weaving.entity(channel, self.kind_of(name), name).await?;
        }
        let attribute = fact.attribute();
        let new = NewMemory {
            content: fact.content.clone(),
            kind: Some(self.kind(fact, opposed)),
            channel: Some(channel.clone()),
            topic: attribute.map(|attribute| attribute.topic().to_owned()),
            confidence: Some(fact.certainty.confidence()),
            source: Some(self.draft.label.clone()),
            source_ids: vec![fact.source.to_string()],
            entities: fact.entities.clone(),
            temporal: Some(fact.temporal),
            valid_from: fact.valid_from,
            valid_to: fact.valid_to,
            ..NewMemory::default()
        };
        self.creation.add(&new).await
    }

    fn kind_of(&self, name: &str) -> &'a str {
        let key = fold_name(name);
        let mut found = self.draft.extraction.entities.iter();
        found.find(|entity| fold_name(&entity.name) == key).map_or(ENTITY, |e| e.kind.as_str())
    }

    /// A correction has the authority of what it corrects.
    fn kind(&self, fact: &FoundFact, opposed: &[Opposed]) -> Kind {
        let corrects = fact.correction && opposed.iter().any(|old| old.memory.kind == Kind::Fact);
        let explicit = fact.certainty == Certainty::Explicit;
        if corrects {
            Kind::Fact
        } else if explicit {
            self.draft.settings.kind
        } else {
            Kind::Memory
        }
    }

    /// What becomes of an old fact that a new one contradicts.
    fn oppose(&mut self, fact: &FoundFact, old: Opposed, new: &Memory) -> Result<()> {
        let Opposed { memory: old, said_at } = old;
        if !(self.prefers_last(fact) && overrules(new, &old)) {
            self.review(fact, &old, new);
            return Ok(());
        }
        let mut old = self
            .supported
            .remove(&old.id)
            .map_or(old, |supported| Memory { revision: supported.revision - 1, ..supported });
        // Where the world changed, the old one was true until then; a correction says that it
        // never was.
        if (fact.change || !fact.correction) && old.valid_to.is_none() {
            let began = new.valid_from.unwrap_or_else(|| self.said_at(fact));
            old.valid_to = until(&old, said_at, began);
        }
        self.replaced.push(old.id);
        self.learned.superseded += 1;
        self.creation.take_place(old, new)
    }

    fn review(&mut self, fact: &FoundFact, old: &Memory, new: &Memory) {
        let now = self.mnemic.clock.now();
        let topic = fact.attribute().map_or_else(String::new, |a| a.topic().to_owned());
        self.learned.reviews += 1;
        self.changes.push(Change::AddReview(Review {
            id: ReviewId(self.mnemic.ids.next(now)),
            topic,
            old_id: old.id,
            new_id: new.id,
            created_at: now,
            decision: None,
            decided_at: None,
            revision: 1,
        }));
        self.changes.push(Change::RequireLive(old.id));
    }

    /// What is known was said again: it is surer, and names one source more.
    fn support(&mut self, known: Memory, fact: &FoundFact) {
        let source = fact.source.to_string();
        if known.source_ids.contains(&source) {
            return;
        }
        let is_first = !self.supported.contains_key(&known.id);
        let id = known.id;
        let memory = self.supported.entry(id).or_insert(known);
        if is_first {
            memory.revision += 1;
            memory.updated_at = self.mnemic.clock.now();
            self.learned.supported += 1;
        }
        if memory.source_ids.len() < SOURCES_MAX && !memory.source_ids.contains(&source) {
            memory.source_ids.push(source);
        }
        memory.confidence = surer(memory.confidence);
        if is_first {
            self.see(id);
        }
    }

    fn see(&mut self, memory_id: MemoryId) {
        let conversation = self.conversation.id.clone();
        self.changes.push(Change::AddSighting { memory_id, conversation });
    }

    async fn relation(&mut self, relation: &FoundRelation) -> Result<()> {
        let is_about = |names: &Vec<String>| {
            [&relation.source, &relation.target].iter().all(|end| names.contains(end))
        };
        if relation.exclusive && self.overtaken.iter().any(is_about) {
            return Ok(());
        }
        let channel = self.conversation.channel.clone();
        let ends = [&relation.source, &relation.target];
        let mut ids = Vec::with_capacity(2);
        for name in ends {
            let kind = self.kind_of(name);
            match self.creation.weaving.entity(&channel, kind, name).await {
                Err(e) if e.code() == Code::Erased => return Ok(()),
                id => ids.push(id?),
            }
        }
        let [source, target] = ids[..] else { return Err(Error::internal("an edge has two ends")) };
        if source == target {
            return Ok(());
        }
        if !self.creation.weaving.makes(source) && !self.clear(relation, source, target).await? {
            return Ok(());
        }
        let span = (source.0, relation.relation.clone(), target.0);
        let now = self.mnemic.clock.now();
        let edge = Edge {
            valid_from: relation.valid_from,
            valid_to: relation.valid_to,
            ..Edge::new(self.mnemic, now, channel, &span)
        };
        for end in [source, target] {
            if !self.creation.weaving.makes(end) {
                self.changes.push(Change::RequireRecord(end.0));
            }
        }
        self.changes.push(Change::AddEdge { edge, domain: None });
        Ok(())
    }

    /// Makes room for an edge: whether it is to be added. What a node has one of at a time, it no
    /// longer has of another, where the newer is preferred.
    async fn clear(
        &mut self,
        relation: &FoundRelation,
        source: NodeId,
        target: NodeId,
    ) -> Result<bool> {
        let scope = self.caller.scope();
        let store = &self.mnemic.store;
        let live = store.list_edges_from(scope, source.0, &relation.relation).await?;
        if live.iter().any(|edge| edge.target_id == target.0) {
            return Ok(false);
        }
        if !relation.exclusive || live.is_empty() {
            return Ok(true);
        }
        match self.draft.settings.contradictions {
            Contradictions::PreferOld => Ok(false),
            Contradictions::FlagReview => Ok(true),
            Contradictions::PreferNew => {
                let at = self.mnemic.clock.now();
                for edge in live {
                    self.changes.push(Change::CloseEdge { edge, domain: None, at });
                }
                Ok(true)
            }
        }
    }
}

/// A suggestion does not overrule a fact: that is for somebody to decide.
fn overrules(new: &Memory, old: &Memory) -> bool {
    new.kind == Kind::Fact || old.kind != Kind::Fact
}

/// Until when an older memory held, if a newer one began so: not where the newer one says that it
/// had begun before the older was said.
fn until(older: &Memory, said_at: Timestamp, began: Timestamp) -> Option<Timestamp> {
    let is_behind = older.valid_from.map_or(said_at < began, |from| from < began);
    is_behind.then_some(began)
}

/// What somebody said is theirs and goes with them, as their turns do: the memories that were made
/// of it, and the node of the speaker with its edges. Whoever says again what is known already, or
/// asks for the learning, owns nothing by it.
fn owners(draft: &Draft, changes: &[Change]) -> Vec<Change> {
    let owner = |change: &Change| {
        let (item, turn) = match change {
            Change::AddMemory(memory) => {
                let said = |turn: &&Turn| memory.source_ids.contains(&turn.id.to_string());
                (memory.id.0, draft.turns.iter().find(said)?)
            }
            Change::AddNode(node) => {
                let is_speaker = |turn: &&Turn| turn.speaker.as_ref() == Some(&node.name);
                (node.id.0, draft.turns.iter().find(is_speaker)?)
            }
            _ => return None,
        };
        let user = turn.user.clone().or_else(|| turn.speaker.clone())?;
        Some(Change::AddOwner { item, user })
    };
    changes.iter().filter_map(owner).collect()
}

/// Each time a part of the doubt goes. What is surer already stays so.
fn surer(confidence: f64) -> f64 {
    confidence.max(confidence + (CONFIDENCE_MAX - confidence) * SUPPORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_is_bounded() {
        let mut confidence = 0.5;
        for _ in 0..100 {
            let next = surer(confidence);
            assert!(next >= confidence && next <= CONFIDENCE_MAX, "{next}");
            confidence = next;
        }
        assert!(confidence > 0.98);
        assert!((surer(1.0) - 1.0).abs() < f64::EPSILON);
    }
}
