//! A correction that names only what was meant: the fact before it is told anew.

use super::correction::{self, Tone};
use super::sentence::{Word, write};
use super::{FoundFact, Gathering};
use crate::conversation::Turn;

/// "no, I meant Porto", "it is Porto, not Lisbon": the fact before, with another value.
pub(super) fn amend(words: &[Word], tone: Tone, turn: &Turn, gathering: &mut Gathering) -> bool {
    let Some(meant) = correction::meant(words) else { return false };
    let (right, wrong) = correction::contrast(meant).unwrap_or((meant, &[]));
    if !tone.correction && wrong.is_empty() {
        return false;
    }
    let right = write(right);
    let wrong = write(wrong).to_lowercase();
    let amended = gathering.found.facts.iter().rev().find_map(|fact| {
        let value = fact.attribute()?.stated()?;
        let denied = wrong.is_empty() || value.to_lowercase() == wrong;
        let content = fact.content.replacen(&value, &right, 1);
        (denied && content != fact.content).then(|| (fact.clone(), value, content))
    });
    let Some((before, value, content)) = amended else { return !tone.correction };
    let entities = before.entities.iter().map(|name| if *name == value { &right } else { name });
    let entities: Vec<_> = entities.cloned().collect();
    for entity in &mut gathering.found.entities {
        if entity.name == value {
            entity.name.clone_from(&right);
        }
    }
    for relation in &mut gathering.found.relations {
        if relation.target == value {
            relation.target.clone_from(&right);
        }
    }
    gathering.found.facts.retain(|fact| *fact != before);
    gathering.fact(FoundFact { content, entities, correction: true, source: turn.id, ..before });
    true
}
