//! What an agent is told before it acts: patterns of the nodes that it is about to touch.
//!
//! Telling never stands in the way of an action: what cannot be written down about it is logged.

use std::collections::HashSet;

use jiff::Timestamp;
use uuid::Uuid;

use super::holdout::is_held_out;
use super::list::READ;
use super::{Pair, Pattern, ShownPattern, block};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::node::{MEMORY, Record};
use crate::principal::{Principal, refuse};
use crate::text::{check_name, check_optional_name};

/// More than this would not be read.
pub const TOLD_MAX: usize = 5;
const NODES_MAX: usize = 100;
const TYPES_MAX: usize = 20;
/// Words of a question that are looked up as names; shorter ones are none.
const NAMES_MAX: usize = 24;
const NAME_CHARS_MIN: usize = 3;

/// An action that is about to be taken.
#[derive(Debug, Clone, Default)]
pub struct Injection {
    /// The records that it will be about.
    pub node_ids: Vec<Uuid>,
    /// Types of such records, where they are known without their ids.
    pub node_types: Vec<String>,
    pub action_type: Option<String>,
    /// Who is told: a part of all sessions may be told nothing, and what comes of a warning is
    /// measured. Without it nothing is.
    pub session_id: Option<String>,
    /// Only what goes wrong and what people wrote: for places where nobody asked.
    pub warnings_only: bool,
}

impl Injection {
    fn check(&self) -> Result<()> {
        for (field, has, max) in [
            ("node_ids", self.node_ids.len(), NODES_MAX),
            ("node_types", self.node_types.len(), TYPES_MAX),
        ] {
            if has > max {
                return Err(Error::invalid(
                    field,
                    format!("{has} are more than the limit of {max}"),
                ));
            }
        }
        for (i, node_type) in self.node_types.iter().enumerate() {
            check_name(&format!("node_types[{i}]"), node_type)?;
        }
        check_optional_name("action_type", self.action_type.as_deref())?;
        check_optional_name("session_id", self.session_id.as_deref())
    }

    /// Whether a pattern is one that such an action is told of.
    fn takes(&self, pattern: &Pattern, percent: u32, now: Timestamp) -> bool {
        let of_action =
            self.action_type.as_ref().is_none_or(|wanted| *wanted == pattern.key.action_type);
        let worth = !self.warnings_only || pattern.is_warning() || pattern.is_annotated();
        of_action && worth && pattern.is_told(percent, now)
    }
}

/// What is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Injected {
    /// Empty if there is nothing to tell.
    pub text: String,
    pub patterns: Vec<ShownPattern>,
    /// The session is one of those that are told nothing, for comparison.
    pub held_out: bool,
}

/// By what patterns are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PatternWish {
    NodeType(String),
    Action(String),
    Pair(Pair),
}

impl Mnemic {
    /// The patterns that concern an action, as a block of text. Nothing while memory or injection
    /// is switched off.
    pub async fn inject(&self, principal: &Principal, injection: &Injection) -> Result<Injected> {
        self.authorize(principal, &READ)?;
        injection.check()?;
        let settings = self.own_workspace(principal).await?.settings;
        if !settings.memory.enabled || !settings.memory.injection {
            return Ok(Injected::default());
        }
        let percent = settings.telemetry.confidence_percent;
        let patterns = self.fitting_patterns(principal, injection, percent).await?;
        let Some(session) = &injection.session_id else {
            return Ok(Injected { text: block(&patterns), patterns, held_out: false });
        };
        let share = settings.telemetry.holdout;
        let held_out = is_held_out(principal.workspace_id, session, share);
        if let Err(e) = self.note_showings(principal.scope(), session, &patterns, held_out).await {
            tracing::warn!(error = %e, "what was told before an action could not be written down");
        }
        if held_out {
            return Ok(Injected { held_out, ..Injected::default() });
        }
        Ok(Injected { text: block(&patterns), patterns, held_out })
    }

    async fn fitting_patterns(
        &self,
        principal: &Principal,
        injection: &Injection,
        percent: u32,
    ) -> Result<Vec<ShownPattern>> {
        let wishes = self.pattern_wishes(principal, injection).await?;
        let now = self.clock.now();
        let found = self.store.find_live_patterns(principal.scope(), &wishes).await?;
        Ok(chosen(found, now, |it| injection.takes(it, percent, now)))
    }

    /// Live patterns of the actions and types that a question names.
    pub(crate) async fn patterns_named(
        &self,
        principal: &Principal,
        question: &str,
    ) -> Result<Vec<Pattern>> {
        if refuse(principal, READ.action).is_some() {
            return Ok(vec![]);
        }
        let names = names(question);
        let actions = names.iter().map(|name| PatternWish::Action((*name).to_owned()));
        let types = names.iter().map(|name| PatternWish::NodeType((*name).to_owned()));
        let wishes: Vec<_> = actions.chain(types).collect();
        self.store.find_live_patterns(principal.scope(), &wishes).await
    }

    /// What concerns a question: of the patterns that it names, and of those of the nodes that it is
    /// about, the warnings, what is annotated, and what it names itself.
    pub(crate) async fn patterns_about(
        &self,
        principal: &Principal,
        question: &str,
        mut found: Vec<Pattern>,
        node_ids: Vec<Uuid>,
    ) -> Result<Vec<ShownPattern>> {
        if !node_ids.is_empty() && refuse(principal, READ.action).is_none() {
            let about = Injection { node_ids, ..Injection::default() };
            let wishes = self.pattern_wishes(principal, &about).await?;
            found.extend(self.store.find_live_patterns(principal.scope(), &wishes).await?);
        }
        if found.is_empty() {
            return Ok(vec![]);
        }
        let percent = self.own_workspace(principal).await?.settings.telemetry.confidence_percent;
        let (names, now) = (names(question), self.clock.now());
        let is_named = |it: &Pattern| {
            let node_type = it.key.node_type.as_deref().unwrap_or_default();
            names.contains(it.key.action_type.as_str()) || names.contains(node_type)
        };
        let takes = |it: &Pattern| {
            it.is_told(percent, now) && (it.is_warning() || it.is_annotated() || is_named(it))
        };
        Ok(chosen(found, now, takes))
    }

    async fn pattern_wishes(
        &self,
        principal: &Principal,
        injection: &Injection,
    ) -> Result<Vec<PatternWish>> {
        let mut wishes: Vec<_> =
            injection.node_types.iter().cloned().map(PatternWish::NodeType).collect();
        let records = self.store.find_records(principal.scope(), &injection.node_ids).await?;
        let mut open = Vec::new();
        for (id, record) in injection.node_ids.iter().zip(records) {
            // What is closed to the caller is as if it were not there; what is not there may be a
            // record of somebody else's system.
            match record {
                Some(record) if !principal.access.may_read(record.domain()) => continue,
                Some(record) => wishes.extend(type_of(&record).map(PatternWish::NodeType)),
                None => {}
            }
            open.push(*id);
        }
        for (action_type, node_type) in self.store.keys_of_node(principal.scope(), &open).await? {
            wishes.push(PatternWish::Pair(Pair::new(action_type, &node_type)));
        }
        if let Some(action_type) = &injection.action_type {
            wishes.push(if injection.node_ids.is_empty() && injection.node_types.is_empty() {
                PatternWish::Action(action_type.clone())
            } else {
                PatternWish::Pair(Pair::new(action_type.clone(), ""))
            });
        }
        let mut met = HashSet::new();
        wishes.retain(|wish| met.insert(wish.clone()));
        Ok(wishes)
    }
}

/// Failures first, the surest first of each.
fn chosen(
    found: Vec<Pattern>,
    now: Timestamp,
    takes: impl Fn(&Pattern) -> bool,
) -> Vec<ShownPattern> {
    let mut met = HashSet::new();
    let told = found.into_iter().filter(takes).filter(|pattern| met.insert(pattern.id));
    let mut told: Vec<_> = told.map(|pattern| ShownPattern::new(pattern, now)).collect();
    told.sort_by(|a, b| {
        let failures = b.pattern.is_warning().cmp(&a.pattern.is_warning());
        failures
            .then_with(|| b.confidence.total_cmp(&a.confidence))
            .then_with(|| b.pattern.share.samples.cmp(&a.pattern.share.samples))
            .then_with(|| a.pattern.key.cmp(&b.pattern.key))
    });
    // That the same also succeeds at times would only blur the warning.
    let pair =
        |it: &ShownPattern| (it.pattern.key.action_type.clone(), it.pattern.key.node_type.clone());
    let mut warned = HashSet::new();
    told.retain(|it| {
        let (warns, pair) = (it.pattern.is_warning(), pair(it));
        if warns {
            warned.insert(pair);
            return true;
        }
        it.pattern.is_annotated() || !warned.contains(&pair)
    });
    told.truncate(TOLD_MAX);
    told
}

/// The words of a question that could be names of actions or types.
fn names(question: &str) -> HashSet<&str> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let words = question.split(|c| !part(c)).map(|word| word.trim_matches(['.', ':', '-']));
    words.filter(|word| word.chars().count() >= NAME_CHARS_MIN).take(NAMES_MAX).collect()
}

fn type_of(record: &Record) -> Option<String> {
    match record {
        Record::Node(node) => Some(node.node_type.clone()),
        Record::Memory(_) => Some(MEMORY.to_owned()),
        Record::Said(_) | Record::Done(_) => None,
    }
}
