//! What happened to somebody, and what they mean to do.

use super::retell::third_person;
use super::sentence::Word;
use super::subject::{Class, Subject};

/// What is worth remembering of what somebody did.
const HAPPENED: &[&str] = &[
    "bought",
    "sold",
    "visited",
    "went",
    "started",
    "finished",
    "adopted",
    "married",
    "quit",
    "left",
    "graduated",
    "got",
    "won",
    "signed",
    "launched",
    "released",
    "published",
    "attended",
    "met",
    "travelled",
    "traveled",
    "flew",
    "celebrated",
    "broke",
    "lost",
    "passed",
    "failed",
    "applied",
    "enrolled",
    "founded",
    "hired",
    "ran",
    "completed",
    "received",
    "retired",
    "hosted",
    "presented",
    "organized",
    "organised",
    "volunteered",
    "climbed",
    "hiked",
    "painted",
    "built",
    "wrote",
    "moved",
    "proposed",
    "divorced",
    "donated",
    "opened",
    "closed",
    "shipped",
    "deployed",
    "booked",
    "ordered",
    "cancelled",
    "canceled",
    "renewed",
    "became",
    "booked",
    "recovered",
    "learned",
    "learnt",
    "taught",
    "performed",
    "camped",
    "planted",
    "deferred",
    "merged",
];
/// What is worth remembering of what somebody means to do.
const PLANNED: &[&str] = &[
    "visit",
    "move",
    "travel",
    "start",
    "launch",
    "marry",
    "buy",
    "sell",
    "release",
    "leave",
    "join",
    "fly",
    "present",
    "adopt",
    "study",
    "retire",
    "open",
    "close",
    "apply",
    "attend",
    "publish",
    "run",
    "go",
    "graduate",
    "quit",
    "hire",
    "finish",
    "meet",
    "organize",
    "organise",
    "host",
    "migrate",
    "ship",
    "renovate",
    "celebrate",
    "take",
    "give",
    "get",
    "switch",
    "learn",
];
const PLANS: &[&[&str]] = &[
    &["am", "going", "to"],
    &["are", "going", "to"],
    &["is", "going", "to"],
    &["am", "planning", "to"],
    &["are", "planning", "to"],
    &["is", "planning", "to"],
    &["plan", "to"],
    &["plans", "to"],
    &["intend", "to"],
    &["intends", "to"],
    &["will"],
];
/// "I got it", "I went ahead": talk.
const TALK: &[&str] = &[
    "it", "that", "this", "you", "ahead", "there", "back", "so", "what", "how", "your", "confused",
    "stuck", "lost", "error", "errors", "through", "rid",
];

/// The predicate of what happened.
pub(super) fn happened(subject: &Subject, predicate: &[Word], timed: bool) -> Option<String> {
    let (verb, others) = predicate.split_first()?;
    let acts = subject.class != Class::Thing;
    let known = HAPPENED.contains(&verb.lower.as_str());
    let tells = others.first().is_some_and(|word| !word.is(TALK)) || (others.is_empty() && timed);
    // A short remark without a time is talk rather than news.
    let is_news = timed || others.len() >= 2;
    (acts && known && tells && is_news).then(|| third_person(predicate))
}

/// The predicate of what is planned. Without a time it may be a figure of speech.
pub(super) fn planned(subject: &Subject, predicate: &[Word], timed: bool) -> Option<String> {
    if subject.class == Class::Thing {
        return None;
    }
    let plan = PLANS.iter().find(|plan| {
        predicate.len() > plan.len()
            && predicate.iter().zip(**plan).all(|(word, plan)| word.lower == *plan)
    })?;
    let act = &predicate[plan.len()..];
    let verb = act.first()?;
    let firm = timed || plan.len() > 1 && act.len() > 1;
    let tells = act.get(1).is_none_or(|word| !word.is(TALK));
    (firm && tells && verb.is(PLANNED)).then(|| format!("plans to {}", third_person(act)))
}
