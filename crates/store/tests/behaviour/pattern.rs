//! Patterns: mined of what agents did, kept up with it, told before they act again.

use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{NewAction, Outcome, REFERENCES};
use mnemic_core::context::{ContextRequest, Layer};
use mnemic_core::ids::NodeId;
use mnemic_core::job::{Claim, Done, Job};
use mnemic_core::node::{Direction, NewNode, Traversal};
use mnemic_core::page::PageRequest;
use mnemic_core::pattern::{
    Injected, Injection, PatternFilter, PatternPatch, PatternSort, SUPERSEDES, ShownPattern,
};
use mnemic_core::principal::{Caller, Scope};
use mnemic_core::{Mnemic, Result};
use serde_json::json;

use crate::world::{DAY, World, keyed, query, seen};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// An action: its type, the type of what it is done to, and how it failed if it did.
pub(crate) type Step<'s> = (&'s str, &'s str, &'s str);

const OK: Step<'_> = ("edit", "person", "");
const FAILS: Step<'_> = ("edit", "person", "NodeNotFoundError");

pub(crate) fn action(session: &str, step: Step<'_>, at: Timestamp) -> NewAction {
    let (action_type, node_type, error) = step;
    NewAction {
        node_type: (!node_type.is_empty()).then(|| node_type.to_owned()),
        outcome: if error.is_empty() { Outcome::Success } else { Outcome::Failure },
        error_code: (!error.is_empty()).then(|| error.to_owned()),
        at: Some(at),
        ..NewAction::new(session, action_type)
    }
}

impl World {
    /// One run of an agent, a second between its actions.
    pub(crate) async fn does(&self, session: &str, steps: &[Step<'_>]) {
        let mut actions = Vec::new();
        for step in steps {
            self.clock.forward(SignedDuration::from_secs(1));
            actions.push(action(session, *step, self.now()));
        }
        self.mnemic.record_actions(&self.as_operator(), &actions).await.unwrap();
    }

    /// So many runs of one action each.
    async fn does_often(&self, name: &str, count: usize, step: Step<'_>) {
        for number in 0..count {
            self.does(&format!("{name}-{number}"), &[step]).await;
        }
    }

    /// Lets all that was done come to rest, and mines it.
    pub(crate) async fn mine(&self) -> u64 {
        self.clock.forward(MINUTE * 6);
        self.run("sequences").await;
        self.run("patterns").await
    }

    pub(crate) async fn patterns(&self, filter: &PatternFilter) -> Vec<ShownPattern> {
        let page = PageRequest { limit: Some(200), cursor: None };
        let sort = PatternSort::Newest;
        self.mnemic.list_patterns(&self.operator, filter, sort, &page).await.unwrap().items
    }

    /// The live pattern of a key.
    async fn pattern(&self, step: Step<'_>) -> Option<ShownPattern> {
        let found = self.patterns(&PatternFilter::default()).await;
        found.into_iter().find(|it| {
            let key = &it.pattern.key;
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            (key.action_type.as_str(), &*part(&key.node_type), &*part(&key.error_code)) == step
        })
    }

    async fn warned(&self, injection: &Injection) -> Injected {
        self.mnemic.inject(&self.operator, injection).await.unwrap()
    }
}

fn of_person() -> Injection {
    Injection { node_types: vec!["person".to_owned()], ..Injection::default() }
}

fn keys(patterns: &[ShownPattern]) -> Vec<String> {
    patterns.iter().map(|it| it.pattern.key.to_string()).collect()
}

pub(crate) async fn five_runs_and_sixty_percent_make_a_pattern(w: World) {
    w.does_often("fail", 4, FAILS).await;
    assert_eq!(w.mine().await, 0, "four are too few");
    w.does("fail-4", &[FAILS, FAILS, FAILS]).await;
    assert_eq!(w.mine().await, 1, "the fifth is one, however often it failed");
    let found = w.pattern(FAILS).await.unwrap();
    assert_eq!((found.pattern.share.samples, found.pattern.share.total), (5, 5));
    assert_eq!(
        found.pattern.recommendation,
        "100% of edit actions on person nodes fail with NodeNotFoundError. Validate the node \
         exists and is accessible before proceeding."
    );
    let other = ("edit", "email", "TimeoutError");
    w.does_often("slow", 59, other).await;
    w.does_often("fast", 40, ("edit", "email", "")).await;
    w.mine().await;
    assert!(w.pattern(other).await.is_none(), "59 of 99");
    w.does("slow-0", &[other]).await;
    w.mine().await;
    let found = w.pattern(other).await.unwrap();
    assert_eq!((found.pattern.share.samples, found.pattern.share.total), (60, 100));
    let stranger = w.workspace("strangers").await;
    let page = PageRequest::default();
    let (filter, sort) = (PatternFilter::default(), PatternSort::Confidence);
    let theirs = w.mnemic.list_patterns(&stranger, &filter, sort, &page).await.unwrap();
    assert!(theirs.items.is_empty());
    let foreign = w.mnemic.get_pattern(&stranger, found.pattern.id).await;
    assert_eq!(seen(foreign).0, "not_found");
}

pub(crate) async fn a_pattern_is_moved_and_superseded_when_it_shifts(w: World) {
    w.does_often("fail", 8, FAILS).await;
    w.does_often("fine", 2, OK).await;
    w.mine().await;
    let first = w.pattern(FAILS).await.unwrap().pattern;
    let note = PatternPatch {
        annotation: Some(Some("Look first.".to_owned())),
        ..PatternPatch::default()
    };
    w.mnemic.annotate_pattern(&w.as_operator(), first.id, &note).await.unwrap();
    w.does_often("more", 2, OK).await;
    assert_eq!(w.mine().await, 1);
    let moved = w.pattern(FAILS).await.unwrap().pattern;
    assert_eq!((moved.id, moved.share.total), (first.id, 12), "67 % are 13 points less than 80 %");
    assert!(moved.recommendation.starts_with("67% of edit"), "{}", moved.recommendation);
    w.does("more-2", &[OK]).await;
    w.mine().await;
    let second = w.pattern(FAILS).await.unwrap().pattern;
    assert_ne!(second.id, first.id, "8 of 13 are 18 points less");
    assert_eq!(second.annotation.as_deref(), Some("Look first."));
    let view = w.mnemic.get_pattern(&w.operator, second.id).await.unwrap();
    assert_eq!(view.supersedes, [first.id]);
    let old = w.mnemic.get_pattern(&w.operator, first.id).await.unwrap().shown.pattern;
    assert_eq!(old.superseded_by, Some(second.id));
    let refused = seen(w.mnemic.annotate_pattern(&w.as_operator(), first.id, &note).await);
    assert!(refused.1.contains(&second.id.to_string()), "{refused:?}");
    assert_eq!(
        keys(&w.patterns(&PatternFilter::default()).await),
        ["edit:person:NodeNotFoundError"]
    );
    let all = PatternFilter { past: true, ..PatternFilter::default() };
    assert_eq!(w.patterns(&all).await.len(), 2);
    assert_eq!(w.mine().await, 0, "nothing has changed");
}

/// Two users wrote beside one pattern, which has a successor by now.
pub(crate) async fn a_note_goes_with_the_user_who_wrote_it(w: World) {
    w.does_often("fail", 8, FAILS).await;
    w.mine().await;
    let id = w.pattern(FAILS).await.unwrap().pattern.id;
    let (_, ana) = crate::erasure::user(&w, "ana", None).await;
    let (_, bo) = crate::erasure::user(&w, "bo", None).await;
    let said = PatternPatch {
        annotation: Some(Some("ask the quokka first".to_owned())),
        ..PatternPatch::default()
    };
    let instead = PatternPatch {
        replacement: Some(Some("feed the wombat".to_owned())),
        ..PatternPatch::default()
    };
    w.mnemic.annotate_pattern(&Caller::new(ana.clone()), id, &said).await.unwrap();
    w.mnemic.annotate_pattern(&Caller::new(bo.clone()), id, &instead).await.unwrap();
    let again = w.mnemic.annotate_pattern(&Caller::new(bo), id, &said).await.unwrap().pattern;
    assert_eq!(again.annotation_by.as_deref(), Some("ana"), "she said it first");
    w.does_often("fine", 3, OK).await;
    w.mine().await;
    let newer = w.pattern(FAILS).await.unwrap().pattern;
    assert_ne!(newer.id, id);
    assert_eq!(newer.advice(), "feed the wombat ask the quokka first");

    let receipt = w.mnemic.erase_user(&w.as_operator(), "ana").await.unwrap();
    assert_eq!(receipt.counts["annotations"], 2, "beside the old one and beside the new one");
    let left = w.pattern(FAILS).await.unwrap().pattern;
    assert_eq!((left.id, left.advice().as_str()), (newer.id, "feed the wombat"));
    assert!(!w.files_have("quokka") && w.files_have("wombat"));
    let mine = PatternPatch { replacement: Some(None), ..PatternPatch::default() };
    let emptied = w.mnemic.annotate_pattern(&w.as_operator(), newer.id, &mine).await.unwrap();
    assert_eq!(emptied.pattern.replacement_by, None, "what is not there is nobody's");
    let receipt = w.mnemic.erase_user(&w.as_operator(), "bo").await.unwrap();
    assert_eq!(receipt.counts["annotations"], 1, "beside the old one");
    assert!(!w.files_have("wombat"));
    w.mine().await;
    assert!(w.pattern(FAILS).await.is_some(), "the pattern is nobody's");
}

pub(crate) async fn what_was_learned_is_in_the_graph(w: World) {
    let new =
        NewNode { node_type: "person".to_owned(), name: "Ana".to_owned(), ..NewNode::default() };
    let node = w.mnemic.upsert_node(&w.as_operator(), &new).await.unwrap().node;
    let on_ana = NewAction { node_ids: vec![node.id.0], ..action("ana", FAILS, w.now()) };
    w.mnemic.record_actions(&w.as_operator(), &[on_ana]).await.unwrap();
    w.does_often("fail", 7, FAILS).await;
    w.does_often("elsewhere", 5, ("edit", "email", "TimeoutError")).await;
    w.mine().await;
    let first = w.pattern(FAILS).await.unwrap().pattern;
    let before = w.now();
    w.does_often("fine", 2, OK).await;
    w.mine().await;
    let second = w.pattern(FAILS).await.unwrap().pattern;
    assert_ne!(second.id, first.id, "8 of 10 are 20 points less");
    let name = "_mem:pattern edit:person:NodeNotFoundError";

    let (met, graph) = w.walked(&[second.id.0], &[SUPERSEDES], Direction::Out).await;
    assert_eq!(met, [name]);
    let edge = &graph.edges[0];
    assert_eq!(
        (edge.source_id, edge.relation.as_str(), edge.target_id),
        (second.id.0, "_mem:supersedes", first.id.0)
    );
    assert!(w.walked(&[second.id.0], &[], Direction::In).await.0.is_empty());
    let (met, back) = w.walked(&[first.id.0], &[], Direction::In).await;
    assert_eq!((met, &back.edges), (vec![name.to_owned()], &graph.edges), "an edge is one");
    assert!(w.walked(&[first.id.0], &[SUPERSEDES], Direction::Out).await.0.is_empty());

    let history = ["_mem:action edit failed with NodeNotFoundError", name];
    let (met, graph) = w.walked(&[node.id.0], &[REFERENCES], Direction::Both).await;
    assert_eq!(met, history, "the live pattern, and none of other types");
    assert!(graph.edges.iter().any(|it| it.source_id == second.id.0 && it.target_id == node.id.0));
    let asked = |types: &[&str], as_of| Traversal {
        ids: vec![node.id.0],
        depth: 1,
        types: types.iter().map(ToString::to_string).collect(),
        as_of,
        ..Traversal::default()
    };
    for (types, as_of, count) in [
        (vec!["_mem:pattern"], None, 1),
        (vec!["_mem:action"], None, 1),
        (vec!["_mem:pattern"], Some(before), 0),
        (vec!["person"], None, 0),
    ] {
        let found = w.mnemic.traverse(&w.operator, &asked(&types, as_of)).await.unwrap();
        assert_eq!(found.edges.len(), count, "{types:?} {as_of:?}");
    }
    let stranger = w.workspace("elsewhere").await;
    let foreign = Traversal { ids: vec![second.id.0], depth: 1, ..Traversal::default() };
    assert!(w.mnemic.traverse(&stranger, &foreign).await.unwrap().nodes.is_empty());
}

pub(crate) async fn what_leaves_the_window_counts_no_more(w: World) {
    w.does_often("early", 10, OK).await;
    w.mine().await;
    w.clock.forward(DAY * 60);
    w.does_often("late", 6, FAILS).await;
    w.mine().await;
    assert!(w.pattern(FAILS).await.is_none(), "6 of 16");
    w.clock.forward(DAY * 29);
    w.mine().await;
    assert!(w.pattern(FAILS).await.is_none(), "the first ones are not older than 90 days");
    w.clock.forward(DAY * 2);
    assert!(w.mine().await > 0, "though nothing was done");
    let found = w.pattern(FAILS).await.unwrap().pattern;
    assert_eq!((found.share.samples, found.share.total), (6, 6));
    w.set(json!({"telemetry": {"window_days": 365}})).await;
    w.mine().await;
    let found = w.pattern(FAILS).await.unwrap().pattern;
    assert_eq!((found.share.samples, found.share.total), (6, 16), "they are back");
}

/// Lets patterns go, as the nightly pass does.
struct Nightly;

#[async_trait::async_trait]
impl Job for Nightly {
    fn name(&self) -> &'static str {
        "nightly"
    }

    fn cadence(&self) -> Option<SignedDuration> {
        None
    }

    async fn preview(&self, _: &Mnemic, _: Scope) -> Result<u64> {
        Ok(0)
    }

    async fn run(&self, mnemic: &Mnemic, claim: &Claim) -> Result<Done> {
        Ok(Done::changed(mnemic.decay_patterns(claim).await?))
    }
}

pub(crate) async fn a_pattern_fades_and_goes_unless_it_is_seen(w: World) {
    let nightly = async || w.mnemic.perform(&w.operator, &Nightly, false).await.unwrap().changed;
    w.does_often("fail", 5, FAILS).await;
    w.mine().await;
    let seen_at = w.pattern(FAILS).await.unwrap().pattern.last_seen_at;
    let sure = async || w.pattern(FAILS).await.map(|it| (it.confidence * 1e6).round() / 1e6);
    let until = |days: i64| seen_at + DAY * i32::try_from(days).unwrap();
    for (days, confidence) in [(29, 1.0), (30, 0.9), (36, 0.9), (37, 0.81), (58, 0.590_49)] {
        w.clock.forward(until(days).duration_since(w.now()));
        assert_eq!(nightly().await, 0);
        assert_eq!(sure().await, Some(confidence), "day {days}");
        let told = !w.warned(&of_person()).await.text.is_empty();
        assert_eq!(told, confidence >= 0.6, "day {days}");
    }
    w.does("again", &[FAILS]).await;
    w.mine().await;
    assert_eq!(sure().await, Some(1.0), "it was seen");
    let seen_at = w.pattern(FAILS).await.unwrap().pattern.last_seen_at;
    let gone = seen_at + DAY * (30 + 15 * 7);
    w.clock.forward(gone.duration_since(w.now()) - SignedDuration::from_secs(1));
    assert_eq!(nightly().await, 0, "a fifth is left");
    w.clock.forward(SignedDuration::from_secs(1));
    assert_eq!(nightly().await, 1);
    assert_eq!(sure().await, None);
    let past = PatternFilter { past: true, ..PatternFilter::default() };
    assert_eq!(w.patterns(&past).await.len(), 1, "it is kept");
    w.does_often("back", 5, FAILS).await;
    w.mine().await;
    assert_eq!(sure().await, Some(1.0), "the same again is a new one");
}

pub(crate) async fn what_concerns_an_action_is_told_before_it(w: World) {
    let node =
        NewNode { node_type: "person".to_owned(), name: "Ana".to_owned(), ..NewNode::default() };
    let node = w.mnemic.upsert_node(&w.as_operator(), &node).await.unwrap().node.id;
    w.does_often("fail", 5, FAILS).await;
    w.does_often("ask", 5, ("graph_query", "person", "")).await;
    w.does_often("mail", 5, ("send", "email", "TimeoutError")).await;
    w.does_often("bare", 5, ("think", "", "")).await;
    w.mine().await;
    let told = w.warned(&of_person()).await;
    assert_eq!(
        told.text,
        "[Mnemic memory — 2 relevant patterns]\n\
         Pattern: edit:person:NodeNotFoundError (confidence 1.00)\n\
         Recommendation: 100% of edit actions on person nodes fail with NodeNotFoundError. \
         Validate the node exists and is accessible before proceeding.\n\
         Pattern: graph_query:person:None (confidence 1.00)\n\
         Recommendation: 100% of graph_query actions on person nodes succeed."
    );
    let by_node = Injection { node_ids: vec![node.0], ..Injection::default() };
    assert_eq!(w.warned(&by_node).await, told, "a node is of its type");
    let of = |action: &str| Some(action.to_owned());
    let by_action = Injection { action_type: of("edit"), ..of_person() };
    assert_eq!(keys(&w.warned(&by_action).await.patterns), ["edit:person:NodeNotFoundError"]);
    let bare = Injection { action_type: of("think"), ..Injection::default() };
    assert_eq!(keys(&w.warned(&bare).await.patterns), ["think:None:None"]);
    let other = Injection { action_type: of("send"), ..of_person() };
    assert_eq!(w.warned(&other).await.text, "", "another type");
    assert_eq!(w.warned(&Injection::default()).await, Injected::default());
    let warned = Injection { warnings_only: true, ..of_person() };
    assert_eq!(keys(&w.warned(&warned).await.patterns), ["edit:person:NodeNotFoundError"]);
    // A node of nobody's graph is known by what was done to it.
    let foreign = uuid::Uuid::from_u128(77);
    let mut sent = action("mail-9", ("send", "email", "TimeoutError"), w.now());
    sent.node_ids = vec![foreign];
    w.mnemic.record_actions(&w.as_operator(), &[sent]).await.unwrap();
    let by_foreign = Injection { node_ids: vec![foreign], ..Injection::default() };
    assert_eq!(keys(&w.warned(&by_foreign).await.patterns), ["send:email:TimeoutError"]);
    switches_and_notes(&w, node).await;
}

async fn switches_and_notes(w: &World, node: NodeId) {
    let about = ContextRequest { target_node_ids: vec![node.0], ..ContextRequest::default() };
    let context = w.mnemic.context(&w.operator, &about).await.unwrap();
    let section = context.sections.iter().find(|it| it.layer == Layer::Patterns).unwrap();
    assert_eq!(section.text, w.warned(&of_person()).await.text);
    let bundle = w.recall(&w.operator, &query("how does edit go?")).await;
    assert_eq!(keys(&bundle.patterns), ["edit:person:NodeNotFoundError"]);
    for off in [json!({"memory": {"injection": false}}), json!({"memory": {"enabled": false}})] {
        w.set(off).await;
        assert_eq!(w.warned(&of_person()).await, Injected::default());
        w.set(json!({"memory": {"injection": true, "enabled": true}})).await;
    }
    let id = w.pattern(FAILS).await.unwrap().pattern.id;
    let quiet = PatternPatch { suppressed: Some(true), ..PatternPatch::default() };
    let key = keyed(&w.operator, "quiet", "request");
    let changed = w.mnemic.annotate_pattern(&key, id, &quiet).await.unwrap();
    assert_eq!(w.mnemic.annotate_pattern(&key, id, &quiet).await.unwrap(), changed);
    assert_eq!(keys(&w.warned(&of_person()).await.patterns), ["graph_query:person:None"]);
    assert!(w.pattern(FAILS).await.unwrap().pattern.suppressed, "it is kept");
    let loud = PatternPatch {
        suppressed: Some(false),
        annotation: Some(Some("Call get_node\nbefore.".to_owned())),
        ..PatternPatch::default()
    };
    w.mnemic.annotate_pattern(&w.as_operator(), id, &loud).await.unwrap();
    let told = w.warned(&of_person()).await.text;
    assert!(told.contains("before proceeding. Call get_node before.\n"), "{told}");
    w.clock.forward(DAY * 60);
    let told = w.warned(&of_person()).await;
    assert_eq!(keys(&told.patterns), ["edit:person:NodeNotFoundError"], "unsure, but annotated");
}

pub(crate) async fn what_is_wrong_with_a_wish_for_patterns_is_named(w: World) {
    let many = Injection { node_ids: vec![uuid::Uuid::nil(); 101], ..Injection::default() };
    let refused = seen(w.mnemic.inject(&w.operator, &many).await);
    assert_eq!(refused, ("invalid_field", "node_ids: 101 are more than the limit of 100".into()));
    let empty = Injection { node_types: vec![String::new()], ..Injection::default() };
    let refused = seen(w.mnemic.inject(&w.operator, &empty).await);
    assert_eq!(refused.1, "node_types[0]: must not be empty");
    w.does_often("fail", 5, FAILS).await;
    w.mine().await;
    let id = w.pattern(FAILS).await.unwrap().pattern.id;
    let long =
        PatternPatch { replacement: Some(Some("x".repeat(2_049))), ..PatternPatch::default() };
    let refused = seen(w.mnemic.annotate_pattern(&w.as_operator(), id, &long).await);
    assert!(refused.1.starts_with("recommendation: 2049 bytes"), "{refused:?}");
    let guest = w.member("default", "guest").await;
    let quiet = PatternPatch { suppressed: Some(true), ..PatternPatch::default() };
    let refused = seen(w.mnemic.annotate_pattern(&Caller::new(guest.clone()), id, &quiet).await);
    assert_eq!(refused.0, "denied");
    assert!(!w.mnemic.inject(&guest, &of_person()).await.unwrap().text.is_empty());
    for (patch, named) in [
        (json!({"telemetry": {"holdout": 1.5}}), "settings.telemetry.holdout"),
        (json!({"telemetry": {"sequences": 0}}), "settings.telemetry.sequences"),
        (json!({"telemetry": {"confidence_percent": 19}}), "settings.telemetry.confidence_percent"),
        (json!({"telemetry": {"window_days": 0}}), "settings.telemetry.window_days"),
    ] {
        let refused = seen(w.mnemic.update_settings(&w.operator, &patch).await);
        assert!(refused.1.starts_with(named), "{refused:?}");
    }
}

pub(crate) async fn what_comes_of_a_warning_is_measured(w: World) {
    w.does_often("fail", 5, FAILS).await;
    w.mine().await;
    let id = w.pattern(FAILS).await.unwrap().pattern.id;
    let of = |session: &str| Injection { session_id: Some(session.to_owned()), ..of_person() };
    let effect = async || w.mnemic.get_pattern(&w.operator, id).await.unwrap().effect;
    let tally = async || w.store().tally_showings(w.operator.scope(), None, None).await.unwrap();
    // One is told, told again, and heeds it; one does not; one does nothing.
    for session in ["heeds", "ignores", "idles"] {
        w.does(session, &[("graph_query", "person", "")]).await;
        assert!(!w.warned(&of(session)).await.text.is_empty());
    }
    w.does("heeds", &[("graph_query", "person", "")]).await;
    w.warned(&of("heeds")).await;
    w.does("heeds", &[OK]).await;
    w.does("ignores", &[FAILS]).await;
    w.run("sequences").await;
    w.run("patterns").await;
    assert_eq!(effect().await.shown.of, 0, "nothing has ended yet");
    w.mine().await;
    let found = effect().await;
    assert_eq!((found.shown.hits, found.shown.of, found.held_out.of), (1, 2, 0));
    assert_eq!(found.difference(), None, "nothing to compare with");
    assert_eq!(tally().await, (2, 1));
    // Nobody is told any more, and what they do is compared.
    w.set(json!({"telemetry": {"holdout": 1.0}})).await;
    for session in ["untold-1", "untold-2", "untold-3"] {
        let told = w.warned(&of(session)).await;
        assert_eq!((told.held_out, told.text.as_str()), (true, ""));
        w.does(session, &[FAILS]).await;
    }
    assert!(!w.warned(&of_person()).await.held_out, "without a session nothing is measured");
    w.mine().await;
    let found = effect().await;
    assert_eq!((found.shown.of, found.held_out.hits, found.held_out.of), (2, 0, 3));
    let difference = found.difference().unwrap();
    assert!((difference.delta - 0.5).abs() < 1e-12);
    assert!(difference.low < 0.0 && difference.high > difference.delta, "too few to tell");
    assert_eq!(tally().await, (2, 1), "those who were held out were not warned");
    let late = w.store().tally_showings(w.operator.scope(), Some(w.now()), None).await.unwrap();
    assert_eq!(late, (0, 0));
}

/// Two who mine at once, and one who annotates meanwhile, neither lose nor double anything.
pub(crate) async fn patterns_are_mined_once_and_notes_are_not_lost(w: World) {
    w.does_often("fail", 5, FAILS).await;
    w.mine().await;
    let id = w.pattern(FAILS).await.unwrap().pattern.id;
    for round in 0..5 {
        w.does(&format!("more-{round}"), &[FAILS]).await;
        w.clock.forward(MINUTE * 6);
        w.run("sequences").await;
        let note = PatternPatch {
            annotation: Some(Some(format!("note {round}"))),
            ..PatternPatch::default()
        };
        let caller = w.as_operator();
        let (annotated, mined) = tokio::join!(
            w.mnemic.annotate_pattern(&caller, id, &note),
            w.mnemic.run_job(&w.operator, "patterns", false)
        );
        annotated.unwrap();
        assert_eq!(mined.unwrap().changed, 1);
        let pattern = w.pattern(FAILS).await.unwrap().pattern;
        assert_eq!(pattern.share.samples, 6 + round);
        assert_eq!(pattern.annotation, Some(format!("note {round}")));
    }
}

pub(crate) async fn patterns_are_listed_in_every_order(w: World) {
    w.does_often("one", 9, ("alpha", "a", "")).await;
    w.does_often("one", 1, ("alpha", "a", "SomeError")).await;
    w.does_often("two", 6, ("beta", "b", "SomeError")).await;
    w.clock.forward(DAY * 31);
    w.does_often("three", 5, ("gamma", "c", "")).await;
    w.mine().await;
    for (sort, expected) in [
        (PatternSort::Confidence, ["gamma", "beta", "alpha"]),
        (PatternSort::Samples, ["alpha", "beta", "gamma"]),
        (PatternSort::LastSeen, ["gamma", "beta", "alpha"]),
    ] {
        let mut request = PageRequest { limit: Some(1), cursor: None };
        let mut found = Vec::new();
        loop {
            let filter = PatternFilter::default();
            let page = w.mnemic.list_patterns(&w.operator, &filter, sort, &request).await.unwrap();
            found.extend(page.items.into_iter().map(|it| it.pattern.key.action_type));
            request.cursor = page.next_cursor;
            if request.cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{sort:?}");
    }
    let failures = PatternFilter { outcome: Some(Outcome::Failure), ..PatternFilter::default() };
    assert_eq!(keys(&w.patterns(&failures).await), ["beta:b:SomeError"]);
    let of_c = PatternFilter { node_type: Some("c".to_owned()), ..PatternFilter::default() };
    assert_eq!(keys(&w.patterns(&of_c).await), ["gamma:c:None"]);
}
