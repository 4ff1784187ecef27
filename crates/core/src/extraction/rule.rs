//! A clause becomes facts: the subject is read, then what the rules know to be said of it.

use super::amend::amend;
use super::attribute::Attribute;
use super::certainty::{Certainty, unhedge};
use super::correction::{self, Tone};
use super::habit::habit;
use super::pattern::{Bound, Taken, bind, capital};
use super::retell::third_person;
use super::sentence::{Clause, Word};
use super::subject::{self, Class, Subject};
use super::table::{RULES, Relation, Rule};
use super::time::{self, Lean, Period};
use super::{FoundFact, FoundRelation, Gathering, event, name, thing};
use crate::conversation::Turn;
use crate::memory::Temporal;

const CONTENT_CHARS_MAX: usize = 300;
/// What is known of a clause while its facts are gathered.
struct Reading<'r> {
    turn: &'r Turn,
    subject: Subject,
    period: Option<Period>,
    tone: Tone,
    hedged: bool,
}

/// Reads a clause and adds what it says.
pub(super) fn read(
    clause: &Clause,
    speaker: Option<&String>,
    turn: &Turn,
    gathering: &mut Gathering,
) {
    let mut words = clause.words.clone();
    let tone = correction::tone(clause, &mut words);
    let hedged = unhedge(&mut words);
    if amend(&words, tone, turn, gathering) {
        return;
    }
    if let Some(told) = habit(&words) {
        let subject = Subject { length: 0, ..speaking(speaker) };
        let reading = Reading { turn, subject, period: None, tone, hedged };
        reading.add(&told, Certainty::Explicit, &[], Temporal::Current, false, gathering);
        return;
    }
    let words = propose(words);
    let lean = lean(&words);
    let mut words = words;
    let period = time::take(&mut words, turn.at, lean);
    let Some(subject) = subject::read(&words, speaker, clause.is_lower) else { return };
    let predicate: Vec<_> = words.split_off(subject.length.min(words.len()));
    let reading = Reading { turn, subject, period, tone, hedged };
    reading.introduce_kin(speaker, gathering);
    reading.gather(&predicate, clause.is_lower, speaker, gathering);
}

/// "let us go with X" is what "we will use X" is.
fn propose(mut words: Vec<Word>) -> Vec<Word> {
    let lower: Vec<_> = words.iter().take(4).map(|word| word.lower.as_str()).collect();
    if lower == ["let", "us", "go", "with"] {
        words.splice(..4, ["we", "will", "use"].map(Word::new));
    }
    words
}

/// Whether what is spoken of lies ahead.
fn lean(words: &[Word]) -> Lean {
    let ahead = [
        "will",
        "going",
        "plan",
        "plans",
        "planning",
        "due",
        "deadline",
        "scheduled",
        "until",
        "next",
        "upcoming",
        "moved",
        "postponed",
        "intend",
        "launch",
        "meeting",
    ];
    let back = ["was", "were", "went", "had", "did"];
    let has = |any: &[&str]| words.iter().any(|word| word.is(any));
    let is_speaker = words.first().is_some_and(|word| word.is(&["i", "we"]));
    // "I moved in March" lies behind, "the meeting is moved to March" ahead.
    let moved_self = is_speaker && has(&["moved"]);
    if has(&ahead) && !has(&back) && !moved_self { Lean::Ahead } else { Lean::Back }
}

fn speaking(speaker: Option<&String>) -> Subject {
    let (text, name) = (capital(&subject::called(speaker)), speaker.cloned());
    Subject { class: Class::Speaker, text, name, kin: None, length: 1 }
}

impl Reading<'_> {
    fn gather(
        &self,
        predicate: &[Word],
        is_lower: bool,
        speaker: Option<&String>,
        gathering: &mut Gathering,
    ) {
        if self.is_kin_of_speaker(predicate, speaker, gathering) {
            return;
        }
        let mut told: Vec<&str> = Vec::new();
        for rule in RULES.iter().filter(|rule| rule.of.contains(&self.subject.class)) {
            let taken = !rule.key.is_empty() && told.contains(&rule.key);
            if taken || (rule.key.is_empty() && !told.is_empty()) {
                continue;
            }
            if let Some(bound) = bind(rule.pattern, predicate, is_lower) {
                told.push(rule.key);
                self.tell(rule, &bound, predicate, gathering);
            }
        }
        if !told.is_empty() || self.introduces(predicate, gathering) {
            return;
        }
        if self.subject.class == Class::Thing {
            self.value_of_thing(predicate, is_lower, gathering);
            return;
        }
        let timed = self.period.is_some();
        if let Some(did) = event::happened(&self.subject, predicate, timed) {
            let names = name::all(predicate);
            self.add(&did, Certainty::Explicit, &names, Temporal::Past, false, gathering);
        } else if let Some(plan) = event::planned(&self.subject, predicate, timed) {
            let names = name::all(predicate);
            self.add(&plan, Certainty::Explicit, &names, Temporal::Future, false, gathering);
        } else if timed
            && predicate.len() == 2
            && predicate[0].is(&["was", "were"])
            && predicate[1].lower == "born"
        {
            self.add("was born", Certainty::Explicit, &[], Temporal::Past, false, gathering);
        }
    }

    fn tell(&self, rule: &Rule, bound: &Bound, predicate: &[Word], gathering: &mut Gathering) {
        let say = told(rule.say, bound);
        let is_told = |taken: &&Taken| rule.before.is_none() || taken.called != 'y';
        let mut names = names_of(bound.taken.iter().filter(is_told));
        let x = bound.get('x').map(|taken| taken.text.clone());
        if let (Some(relation), Some(x)) = (rule.relation, &x) {
            gathering.entity(x, relation.kind);
            if !names.contains(x) {
                names.push(x.clone());
            }
            self.relate(relation, rule, x, gathering);
        }
        let denied = predicate.get(bound.length).is_some_and(|word| word.lower == "not");
        let temporal = if rule.past { Temporal::Past } else { Temporal::Current };
        let reading = Reading {
            tone: Tone { correction: self.tone.correction || denied, ..self.tone },
            subject: self.subject.clone(),
            period: self.period.clone(),
            ..*self
        };
        reading.add(&say, rule.certainty, &names, temporal, rule.change, gathering);
        if let (Some(before), Some(y)) = (rule.before, bound.get('y')) {
            self.add_before(&told(before, bound), &names_of([y].into_iter()), rule, gathering);
        }
    }

    /// What held until that which is said began.
    fn add_before(&self, say: &str, names: &[String], rule: &Rule, gathering: &mut Gathering) {
        let (valid_to, _) = self.validity(rule.change, rule.past);
        let mut entities: Vec<String> = self.subject.name.iter().cloned().collect();
        entities.extend_from_slice(names);
        for name in names {
            let kind = rule.relation.map_or_else(|| name::kind_of(name), |relation| relation.kind);
            gathering.entity(name, kind);
        }
        gathering.fact(FoundFact {
            content: format!("{} {say}.", self.subject.text),
            certainty: self.certainty(rule.certainty),
            temporal: Temporal::Past,
            valid_from: None,
            valid_to,
            entities,
            correction: false,
            change: false,
            source: self.turn.id,
        });
    }

    fn relate(&self, relation: Relation, rule: &Rule, x: &str, gathering: &mut Gathering) {
        let Some(name) = &self.subject.name else { return };
        let (source, target) =
            if relation.reversed { (x, name.as_str()) } else { (name.as_str(), x) };
        let (valid_from, valid_to) = self.validity(rule.change, rule.past);
        gathering.relation(FoundRelation {
            source: source.to_owned(),
            relation: relation.name.to_owned(),
            target: target.to_owned(),
            valid_from,
            valid_to,
            exclusive: rule.one && !rule.past,
        });
    }

    /// "Ana is my sister".
    fn is_kin_of_speaker(
        &self,
        predicate: &[Word],
        speaker: Option<&String>,
        gathering: &mut Gathering,
    ) -> bool {
        let Some(name) = self.subject.name.as_ref().filter(|_| self.subject.class == Class::Named)
        else {
            return false;
        };
        let of = match predicate {
            [is, of, _, ..] if is.lower == "is" && of.is(&["my", "our"]) => &predicate[1..],
            _ => return false,
        };
        let Some(kin) = subject::read(of, speaker, true).filter(|kin| kin.class == Class::Kin)
        else {
            return false;
        };
        if kin.length != of.len() {
            return false;
        }
        let Some((owner, role)) = kin.kin else { return false };
        self.add_kin(name, &owner, &role, speaker, gathering);
        true
    }

    /// "my sister Ana": that she is, whatever else is said of her.
    fn introduce_kin(&self, speaker: Option<&String>, gathering: &mut Gathering) {
        if let (Some(name), Some((owner, role))) = (&self.subject.name, &self.subject.kin) {
            self.add_kin(name, owner, role, speaker, gathering);
        }
    }

    fn add_kin(
        &self,
        name: &str,
        owner: &str,
        role: &str,
        speaker: Option<&String>,
        gathering: &mut Gathering,
    ) {
        let kind = if role.ends_with("dog") || role.ends_with("cat") {
            crate::node::ENTITY
        } else {
            "person"
        };
        gathering.entity(name, kind);
        if let Some(speaker) = speaker.filter(|_| kind == "person") {
            gathering.entity(speaker, "person");
            gathering.relation(FoundRelation {
                source: speaker.clone(),
                relation: "KNOWS".to_owned(),
                target: name.to_owned(),
                valid_from: None,
                valid_to: None,
                exclusive: false,
            });
        }
        let mut entities = vec![name.to_owned()];
        entities.extend(speaker.cloned());
        gathering.fact(FoundFact {
            content: format!("{name} is {owner}'s {role}."),
            certainty: self.certainty(Certainty::Explicit),
            temporal: Temporal::Current,
            valid_from: None,
            valid_to: None,
            entities,
            correction: false,
            change: false,
            source: self.turn.id,
        });
    }

    /// "I am Ana", "my name is Ana".
    fn introduces(&self, predicate: &[Word], gathering: &mut Gathering) -> bool {
        let [am, others @ ..] = predicate else { return false };
        if self.subject.class != Class::Speaker || am.lower != "am" {
            return false;
        }
        let Some((length, named)) = name::leading(others) else { return false };
        let ends = others.get(length).is_none_or(|word| word.is(&["from", "at", "with", "and"]))
            || others.get(length - 1).is_some_and(Word::pauses);
        if !ends || length > 3 || name::is_demonym(&named) {
            return false;
        }
        self.name_speaker(&named, Certainty::Implied, gathering);
        true
    }

    fn name_speaker(&self, named: &str, certainty: Certainty, gathering: &mut Gathering) {
        gathering.introduce(self.turn, named);
        gathering.entity(named, "person");
        if self.subject.text.starts_with(named) {
            return;
        }
        gathering.fact(FoundFact {
            content: format!("The user's name is {named}."),
            certainty: self.certainty(certainty),
            temporal: Temporal::Current,
            valid_from: None,
            valid_to: None,
            entities: vec![named.to_owned()],
            correction: self.tone.correction,
            change: false,
            source: self.turn.id,
        });
    }

    fn value_of_thing(&self, predicate: &[Word], is_lower: bool, gathering: &mut Gathering) {
        let Some(value) = thing::value(&self.subject, predicate, self.period.as_ref(), is_lower)
        else {
            return;
        };
        let of_user = self.subject.text.strip_suffix("'s name");
        if let Some(owner) = of_user
            && !owner.trim_start_matches("The user").contains('\'')
        {
            self.name_speaker(&value, Certainty::Explicit, gathering);
            return;
        }
        let say = if value.is_empty() { "is".to_owned() } else { format!("is {value}") };
        let names = name::all(predicate);
        // A date of a thing is what it is said to be, not when it is so.
        let said = self
            .period
            .as_ref()
            .map_or_else(|| say.clone(), |period| format!("{say} {}", period.said));
        let reading = Reading { period: None, subject: self.subject.clone(), ..*self };
        reading.add(&said, Certainty::Explicit, &names, Temporal::Current, false, gathering);
    }

    fn add(
        &self,
        say: &str,
        certainty: Certainty,
        names: &[String],
        tense: Temporal,
        change: bool,
        gathering: &mut Gathering,
    ) {
        let change = change || self.tone.now;
        let past = tense != Temporal::Current;
        let when = self.period.as_ref().map_or_else(String::new, |period| {
            let since = change && !past && !period.said.starts_with("since");
            let bare = period
                .said
                .trim_start_matches("in ")
                .trim_start_matches("on ")
                .trim_start_matches("around ");
            if since { format!(" since {bare}") } else { format!(" {}", period.said) }
        });
        let content = format!("{} {say}{when}.", self.subject.text);
        if content.chars().count() > CONTENT_CHARS_MAX {
            return;
        }
        let (valid_from, valid_to) = self.validity(change, past);
        let mut entities: Vec<String> = self.subject.name.iter().cloned().collect();
        entities
            .extend(names.iter().filter(|name| Some(*name) != self.subject.name.as_ref()).cloned());
        if let Some(name) = &self.subject.name {
            gathering.entity(name, self.subject.kind());
        }
        for name in names {
            gathering.entity(name, name::kind_of(name));
        }
        gathering.fact(FoundFact {
            content,
            certainty: self.certainty(certainty),
            temporal: self.temporal(tense, valid_from, valid_to),
            valid_from,
            valid_to,
            entities,
            correction: self.tone.correction,
            change,
            source: self.turn.id,
        });
    }

    fn certainty(&self, certainty: Certainty) -> Certainty {
        if self.hedged { Certainty::Uncertain } else { certainty }
    }

    /// When it holds. What began at a time goes on; what happened then was then.
    fn validity(
        &self,
        change: bool,
        past: bool,
    ) -> (Option<jiff::Timestamp>, Option<jiff::Timestamp>) {
        match &self.period {
            Some(period) if change && !past => (period.from, None),
            Some(period) => (period.from, period.to),
            None if change && !past => (Some(self.turn.at), None),
            None => (None, None),
        }
    }

    fn temporal(
        &self,
        tense: Temporal,
        from: Option<jiff::Timestamp>,
        to: Option<jiff::Timestamp>,
    ) -> Temporal {
        if to.is_some_and(|to| to <= self.turn.at) {
            return Temporal::Past;
        }
        if from.is_some_and(|from| from > self.turn.at) {
            return Temporal::Future;
        }
        tense
    }
}

/// What a rule says, with what its pattern took.
fn told(say: &str, bound: &Bound) -> String {
    bound.taken.iter().fold(say.to_owned(), |say, taken| {
        say.replace(&format!("{{{}}}", taken.called), &retold(taken))
    })
}

fn names_of<'t>(taken: impl Iterator<Item = &'t Taken>) -> Vec<String> {
    taken.flat_map(|taken| name::all(&taken.words)).collect()
}

fn retold(taken: &Taken) -> String {
    let told = third_person(&taken.words);
    // A name that was written small has been given its capital.
    if told.to_lowercase() == taken.text.to_lowercase() { taken.text.clone() } else { told }
}

/// What a sentence that was written down says of which property.
pub(super) fn attribute(words: &[Word]) -> Option<Attribute> {
    let mut words = words.to_vec();
    let period = time::take(&mut words, jiff::Timestamp::UNIX_EPOCH, Lean::Back);
    let subject = subject::read(&words, None, false)?;
    let predicate = words.get(subject.length..)?;
    let fits = |rule: &&Rule| rule.of.contains(&subject.class) && !rule.key.is_empty();
    for rule in RULES.iter().filter(fits) {
        if let Some(bound) = bind(rule.pattern, predicate, false) {
            return Attribute::told(&subject.text, rule, &bound);
        }
    }
    if predicate.len() == 2 && predicate[1].lower == "born" {
        return Some(Attribute::single(&subject.text, "born", &period?.said));
    }
    if subject.class != Class::Thing {
        return None;
    }
    let value = thing::value(&subject, predicate, period.as_ref(), false)?;
    let value = period.map_or_else(|| value.clone(), |period| format!("{value} {}", period.said));
    Some(Attribute::single(&subject.text, "value", value.trim()))
}
