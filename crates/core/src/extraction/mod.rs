//! What was said becomes what is known: entities, facts and relations, drawn from a span of turns.
//!
//! The rules here are pure: they read no store, no clock and no model, and give the same for the
//! same turns. They prefer to miss something over storing junk. A model draws out the same by
//! [`with_model`]; whoever made it is written beside it.

mod amend;
mod attribute;
mod certainty;
mod correction;
mod event;
mod habit;
mod junk;
mod likeness;
mod model;
mod name;
mod pattern;
mod retell;
mod rule;
mod sentence;
mod subject;
mod table;
mod thing;
mod time;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use attribute::Attribute;
pub use certainty::Certainty;
pub(crate) use likeness::{COSINE_MIN, Likeness};
pub(crate) use model::with_model;
pub(crate) use time::{AskedTimes, Stretch, asked_times, is_iso, periods};

use crate::conversation::Turn;
use crate::ids::TurnId;
use crate::memory::Temporal;

/// What is written beside facts that the rules found.
pub const RULES: &str = "rules";

/// What a span of turns came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    pub entities: Vec<FoundEntity>,
    pub facts: Vec<FoundFact>,
    pub relations: Vec<FoundRelation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundEntity {
    pub name: String,
    /// `person`, `place`, `organization`, `product`, or `entity` where nothing more is known.
    pub kind: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundFact {
    /// One sentence in the third person.
    pub content: String,
    pub certainty: Certainty,
    pub temporal: Temporal,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    /// The names of what it is about.
    pub entities: Vec<String>,
    /// Who spoke corrected something that was said or known before.
    pub correction: bool,
    /// It says that the world changed, not that something was wrong.
    pub change: bool,
    pub source: TurnId,
}

impl FoundFact {
    /// What it says of which property of what, where it is of that form.
    pub(crate) fn attribute(&self) -> Option<Attribute> {
        Attribute::of(&self.content)
    }

    /// Whether it says nothing that a sentence of this property does not: neither another value nor
    /// since when.
    pub(crate) fn adds_nothing_to(&self, told: Option<&Attribute>) -> bool {
        let timeless = self.valid_from.is_none() && self.valid_to.is_none();
        timeless && self.attribute().zip(told).is_some_and(|(new, told)| new.agrees(told))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRelation {
    pub source: String,
    pub relation: String,
    pub target: String,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    /// What held before does so no longer: the source has one target at a time.
    pub exclusive: bool,
}

/// Draws out what the turns say, by rules alone.
pub fn by_rules(turns: &[Turn]) -> Extraction {
    let mut gathering = Gathering::default();
    for turn in turns.iter().filter(|turn| !junk::is_junk_turn(turn)) {
        let speaker = gathering.speaker(turn);
        for sentence in sentence::sentences(&turn.content) {
            if junk::is_junk(&sentence) {
                continue;
            }
            for clause in sentence.clauses() {
                rule::read(&clause, speaker.as_ref(), turn, &mut gathering);
            }
        }
    }
    gathering.finish()
}

/// What was found so far. Later words may take back earlier ones.
#[derive(Default)]
struct Gathering {
    found: Extraction,
    /// What speakers without a name said that they are called, by their role.
    introduced: Vec<(String, String)>,
}

impl Gathering {
    /// What a turn's speaker is called, if it is known.
    fn speaker(&self, turn: &Turn) -> Option<String> {
        let introduced = self.introduced.iter().find(|(role, _)| *role == turn.role);
        turn.speaker.clone().or_else(|| introduced.map(|(_, name)| name.clone()))
    }

    fn introduce(&mut self, turn: &Turn, name: &str) {
        if turn.speaker.is_none() && self.introduced.iter().all(|(role, _)| *role != turn.role) {
            self.introduced.push((turn.role.clone(), name.to_owned()));
        }
    }

    fn entity(&mut self, name: &str, kind: &str) {
        let key = crate::text::fold_name(name);
        let known = self.found.entities.iter_mut().find(|e| crate::text::fold_name(&e.name) == key);
        match known {
            Some(entity) if entity.kind == crate::node::ENTITY => kind.clone_into(&mut entity.kind),
            Some(_) => {}
            None => {
                let (name, kind) = (name.to_owned(), kind.to_owned());
                self.found.entities.push(FoundEntity { name, kind });
            }
        }
    }

    /// Adds a fact. What it contradicts among those of the same span is taken back: whoever
    /// speaks knows best which of their own words holds.
    fn fact(&mut self, fact: FoundFact) {
        let same = |other: &FoundFact| {
            likeness::normalised(&other.content) == likeness::normalised(&fact.content)
        };
        let told = |other: &FoundFact| fact.adds_nothing_to(other.attribute().as_ref());
        if self.found.facts.iter().any(|other| same(other) || told(other)) {
            return;
        }
        if let Some(attribute) = fact.attribute() {
            self.found.facts.retain(|other| {
                other.attribute().is_none_or(|other| !attribute.contradicts(&other))
            });
        }
        self.found.facts.push(fact);
    }

    fn relation(&mut self, relation: FoundRelation) {
        if relation.exclusive {
            let rival = |other: &FoundRelation| {
                (&other.source, &other.relation) == (&relation.source, &relation.relation)
            };
            self.found.relations.retain(|other| !rival(other));
        }
        if !self.found.relations.contains(&relation) {
            self.found.relations.push(relation);
        }
    }

    fn finish(self) -> Extraction {
        self.found
    }
}

#[cfg(test)]
pub(crate) mod tests;
