//! Sequences: what follows from the times of actions, however they come.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{NewAction, Outcome};
use mnemic_core::ids::ActionId;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::sequence::{Sequence, SequenceFilter, TallyFilter, Unmined, day_of};
use mnemic_core::store::Change;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use uuid::Uuid;

use crate::action::{done, failed};
use crate::model::HashModel;
use crate::world::{DAY, TICK, World, eventually};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const GAP: SignedDuration = SignedDuration::from_mins(5);

impl World {
    async fn group(&self, who: &Principal) -> u64 {
        self.mnemic.run_job(who, "sequences", false).await.unwrap().changed
    }

    async fn sequences(&self, who: &Principal, filter: &SequenceFilter) -> Vec<Sequence> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_sequences(who, filter, &page).await.unwrap().items
    }

    async fn all(&self) -> Vec<Sequence> {
        self.sequences(&self.operator, &SequenceFilter::default()).await
    }

    /// How many sequences have a pair, and how many of them each outcome of it.
    async fn tallies(&self, action_type: &str) -> (i64, Vec<(String, i64)>) {
        let scope = self.operator.scope();
        let (total, keys) =
            self.store().key_tallies(scope, action_type, "", i64::MIN).await.unwrap();
        (total, keys.into_iter().map(|it| (it.error_code, it.sequences)).collect())
    }
}

fn at(new: NewAction, at: Timestamp) -> NewAction {
    NewAction { at: Some(at), ..new }
}

fn counts(sequences: &[Sequence]) -> Vec<i64> {
    sequences.iter().map(|sequence| sequence.action_count).collect()
}

pub(crate) async fn a_pause_of_more_than_five_minutes_begins_a_new_one(w: World) {
    let start = w.now() - DAY;
    for (session, pause, expected) in [
        ("exact", GAP, vec![2]),
        ("beyond", GAP + TICK, vec![1, 1]),
        ("same", SignedDuration::ZERO, vec![2]),
    ] {
        w.act(&w.operator, &[at(done(session, "a"), start), at(done(session, "b"), start + pause)])
            .await;
        w.group(&w.operator).await;
        let filter =
            SequenceFilter { session_id: Some(session.to_owned()), ..SequenceFilter::default() };
        assert_eq!(counts(&w.sequences(&w.operator, &filter).await), expected, "{session}");
    }
    // Another session at the same time is another sequence.
    assert_eq!(w.all().await.len(), 4);
}

pub(crate) async fn a_sequence_closes_when_the_gap_has_passed(w: World) {
    w.act(&w.operator, &[done("s", "a"), failed("s", "b", "KeyError")]).await;
    assert_eq!(w.group(&w.operator).await, 2);
    w.clock.forward(GAP);
    assert_eq!(w.group(&w.operator).await, 0, "exactly five minutes is not past");
    let open = &w.all().await[0];
    assert_eq!((open.closed_at, open.counted_day, &open.intent_summary), (None, None, &None));
    assert_eq!(w.tallies("b").await, (0, vec![]), "what is open is not counted");
    w.clock.forward(TICK);
    let preview = w.mnemic.run_job(&w.operator, "sequences", true).await.unwrap();
    assert_eq!(preview.changed, 1);
    assert_eq!(w.group(&w.operator).await, 1);
    let closed = &w.all().await[0];
    assert_eq!(closed.closed_at, Some(w.now()));
    assert_eq!(closed.counted_day, Some(day_of(closed.last_at)));
    assert_eq!(closed.intent_summary.as_deref(), Some("a, b failed with KeyError"));
    assert_eq!((closed.outcome, closed.action_count), (Outcome::Failure, 2));
    assert_eq!(w.tallies("b").await, (1, vec![("KeyError".to_owned(), 1)]));
    assert_eq!(w.group(&w.operator).await, 0, "and once only");
    assert_eq!(w.tallies("b").await.0, 1);
}

pub(crate) async fn a_late_action_opens_alters_and_joins(w: World) {
    let start = w.now() - DAY;
    let minute = |n: i32| start + MINUTE * n;
    w.act(&w.operator, &[at(done("s", "a"), minute(0)), at(done("s", "a"), minute(8))]).await;
    w.group(&w.operator).await;
    let before = w.all().await;
    assert_eq!(counts(&before), [1, 1]);
    assert_eq!(w.tallies("a").await, (2, vec![(String::new(), 2)]));
    // Between the two, within five minutes of each: they become one, and the older row stays.
    w.act(&w.operator, &[at(failed("s", "b", "KeyError"), minute(4))]).await;
    w.group(&w.operator).await;
    let joined = w.all().await;
    assert_eq!(counts(&joined), [3]);
    let one = &joined[0];
    assert_eq!(one.id, before.iter().map(|it| it.id).min().unwrap());
    assert_eq!((one.first_at, one.last_at), (minute(0), minute(8)));
    assert_eq!(one.outcome, Outcome::Success, "of the last action, not of the latest to come");
    assert_eq!(one.intent_summary.as_deref(), Some("a, b failed with KeyError, a"));
    assert!(one.closed_at.is_some());
    assert_eq!(w.tallies("a").await, (1, vec![(String::new(), 1)]), "counted once");
    assert_eq!(w.tallies("b").await, (1, vec![("KeyError".to_owned(), 1)]));
    // A later end that fails changes the outcome, and may move it to another day.
    w.act(&w.operator, &[at(failed("s", "a", "KeyError"), minute(13))]).await;
    w.group(&w.operator).await;
    let altered = &w.all().await[0];
    assert_eq!((altered.outcome, altered.action_count), (Outcome::Failure, 4));
    let both = vec![(String::new(), 1), ("KeyError".to_owned(), 1)];
    assert_eq!(w.tallies("a").await, (1, both), "one sequence that has both");
    let of = w.store().list_actions_of(w.operator.scope(), altered.id, None, 9).await.unwrap();
    assert_eq!(of.len(), 4, "all actions are its own");
    assert!(of.is_sorted_by_key(|action| (action.at, action.id)));
}

pub(crate) async fn a_sequence_past_midnight_is_counted_on_one_day(w: World) {
    let midnight: Timestamp = "2026-02-20T00:00:00Z".parse().unwrap();
    w.act(&w.operator, &[at(done("s", "a"), midnight - MINUTE)]).await;
    w.group(&w.operator).await;
    let scope = w.operator.scope();
    let pairs = async |day| w.store().list_pairs(scope, day, day).await.unwrap().len();
    let day = day_of(midnight);
    assert_eq!((pairs(day - 1).await, pairs(day).await), (1, 0));
    w.act(&w.operator, &[at(done("s", "a"), midnight + MINUTE)]).await;
    w.group(&w.operator).await;
    assert_eq!((pairs(day - 1).await, pairs(day).await), (0, 1), "moved, not doubled");
    let (total, keys) = w.store().key_tallies(scope, "a", "", day).await.unwrap();
    assert_eq!((total, keys.len(), keys[0].last_at), (1, 1, midnight + MINUTE));
    assert_eq!(w.store().key_tallies(scope, "a", "", day + 1).await.unwrap(), (0, vec![]));
}

pub(crate) async fn changed_counts_wait_to_be_mined(w: World) {
    let start = w.now() - DAY;
    let scope = w.operator.scope();
    let unmined = async || w.store().list_unmined(scope, 10).await.unwrap();
    w.act(&w.operator, &[at(done("s", "a"), start), at(done("s", "b"), start)]).await;
    assert!(unmined().await.is_empty());
    w.group(&w.operator).await;
    let waiting = unmined().await;
    let names: Vec<_> = waiting.iter().map(|it| it.action_type.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    w.act(&w.operator, &[at(done("t", "a"), start)]).await;
    w.group(&w.operator).await;
    let mined = waiting.into_iter().map(|Unmined { action_type, node_type, revision }| {
        Change::ForgetUnmined { action_type, node_type, revision }
    });
    w.store().commit(scope, mined.collect()).await.unwrap();
    let left = unmined().await;
    assert_eq!(left.len(), 1, "what changed meanwhile is mined again");
    assert_eq!(left[0].action_type, "a");
}

pub(crate) async fn sequences_are_tallied_by_what_they_have(w: World) {
    let start = w.now() - DAY;
    let on = |node: &str, new| NewAction { node_type: Some(node.to_owned()), ..new };
    for number in 0..3 {
        let session = format!("s{number}");
        let begin = start + MINUTE * number;
        w.act(
            &w.operator,
            &[
                at(on("person", done(&session, "read")), begin),
                at(on("email", failed(&session, "write", "KeyError")), begin + MINUTE),
            ],
        )
        .await;
    }
    w.act(&w.operator, &[at(on("email", done("other", "read")), start + MINUTE * 10)]).await;
    w.group(&w.operator).await;
    let scope = w.operator.scope();
    let filter = |types: &[&str], nodes: &[&str]| TallyFilter {
        action_types: types.iter().map(ToString::to_string).collect(),
        node_types: nodes.iter().map(ToString::to_string).collect(),
    };
    let failures = (Outcome::Failure, 2, 3);
    let success = (Outcome::Success, 1, 1);
    for (wanted, expected) in [
        (filter(&[], &[]), vec![failures, success]),
        (filter(&["read"], &["person"]), vec![failures]),
        (filter(&["read"], &["email"]), vec![success]),
        (filter(&["read", "write"], &["email"]), vec![failures, success]),
        (filter(&["nothing"], &[]), vec![]),
    ] {
        let found = w.store().tally_sequences(scope, &wanted, None, None).await.unwrap();
        assert_eq!(found, expected, "{wanted:?}");
    }
    let any = filter(&[], &[]);
    let until = Some(start + MINUTE * 2);
    let early = w.store().tally_sequences(scope, &any, Some(start + MINUTE), until).await.unwrap();
    assert_eq!(early, [(Outcome::Failure, 2, 1)], "from the beginning to before the end");
    let first = w.store().tally_first(scope, &any, 2).await.unwrap();
    assert_eq!(first, [(Outcome::Failure, 2, 2)]);
    let by = |outcome, action_type: Option<&str>, node_type: Option<&str>| SequenceFilter {
        outcome,
        action_type: action_type.map(str::to_owned),
        node_type: node_type.map(str::to_owned),
        ..SequenceFilter::default()
    };
    for (filter, expected) in [
        (by(Some(Outcome::Success), None, None), 1),
        (by(None, Some("read"), Some("person")), 3),
        (by(None, Some("write"), Some("person")), 0),
        (SequenceFilter { closed: Some(false), ..SequenceFilter::default() }, 0),
    ] {
        assert_eq!(w.sequences(&w.operator, &filter).await.len(), expected, "{filter:?}");
    }
}

pub(crate) async fn runs_are_found_by_what_they_were_about(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let start = w.now() - DAY;
    for (session, types) in [
        ("s1", ["search_flight", "book"]),
        ("s2", ["search_flight", "book"]),
        ("s3", ["send", "mail"]),
    ] {
        let news = types.map(|action_type| at(done(session, action_type), start));
        w.act(&w.operator, &news).await;
    }
    w.group(&w.operator).await;
    let scope = w.operator.scope();
    let found = w.mnemic.find_intents(&w.operator, "book a flight", 5).await.unwrap();
    assert_eq!(found.items.first().map(|it| it.intent.text.as_str()), Some("search_flight, book"));
    let runs = w.store().list_sequences_of(scope, found.items[0].intent.id, 5).await.unwrap();
    assert_eq!(runs.len(), 2, "what reads the same is one intent");
    eventually("intents have vectors", async || {
        let model = HashModel::new("small");
        let stamp = mnemic_core::embed::Embedder::stamp(&model);
        w.store().count_unembedded(scope, stamp).await.unwrap() == 0
    })
    .await;
    let found = w.mnemic.find_intents(&w.operator, "mail", 5).await.unwrap();
    assert!(found.degraded.is_empty(), "{:?}", found.degraded);
    assert_eq!(found.items[0].intent.text, "send, mail");
}

/// What the same actions come to in any order and in any portions.
pub(crate) async fn neither_order_nor_portions_matter(w: World) {
    let mut runner = TestRunner::deterministic();
    for case in 0..6 {
        let actions = actions().new_tree(&mut runner).unwrap().current();
        let mut outcomes = Vec::new();
        for way in 0..4 {
            let who = w.workspace(&format!("case-{case}-{way}")).await;
            let order = Just(actions.clone()).prop_shuffle().new_tree(&mut runner).unwrap();
            let mut rest = order.current();
            while !rest.is_empty() {
                let size = (1..=rest.len()).new_tree(&mut runner).unwrap().current();
                // One comes twice, as retries do.
                let portion: Vec<_> = rest.drain(..size).collect();
                w.act(&who, &portion[..1]).await;
                w.act(&who, &portion).await;
                if size.is_multiple_of(2) {
                    w.group(&who).await;
                }
            }
            w.group(&who).await;
            outcomes.push(told(&w, &who).await);
        }
        assert!(!outcomes[0].0.is_empty());
        for outcome in &outcomes {
            assert_eq!(outcome, &outcomes[0], "case {case}");
        }
        assert_eq!(outcomes[0].0, expected(&actions), "case {case}");
    }
}

/// Actions of few types in few sessions, many of them close to five minutes apart.
fn actions() -> impl Strategy<Value = Vec<NewAction>> {
    let start: Timestamp = "2026-02-19T23:40:00Z".parse().unwrap();
    let one = (0..2_u8, 0..12_i64, -1..=1_i64, 0..3_u8, 0..3_u8);
    prop::collection::vec(one, 1..25).prop_map(move |drawn| {
        let drawn = drawn.into_iter().enumerate();
        drawn.map(|(number, it)| drawn_action(start, number, it)).collect()
    })
}

fn drawn_action(start: Timestamp, number: usize, drawn: (u8, i64, i64, u8, u8)) -> NewAction {
    let (session, steps, micros, kind, fate) = drawn;
    let time = start + SignedDuration::from_secs(150 * steps) + SignedDuration::from_micros(micros);
    let (session, kind) = (format!("s{session}"), format!("type{kind}"));
    let new = match fate {
        0 => failed(&session, &kind, "KeyError"),
        _ => done(&session, &kind),
    };
    NewAction { id: Some(ActionId(Uuid::from_u128(number as u128 + 1))), ..at(new, time) }
}

type Told = (String, Timestamp, Timestamp, ActionId, i64, Outcome, Option<String>);
type Tallies = BTreeMap<String, (i64, Vec<(String, i64, Timestamp)>)>;

/// All that is derived from actions, but for the ids that it is kept under.
async fn told(w: &World, who: &Principal) -> (Vec<Told>, Tallies) {
    let sequences = w.sequences(who, &SequenceFilter::default()).await;
    assert!(sequences.iter().all(|it| it.closed_at.is_some()));
    let mut all: Vec<Told> = sequences
        .into_iter()
        .map(|s| {
            let Sequence { first_at, last_at, last_action_id, action_count, outcome, .. } = s;
            let ends = (s.session_id, first_at, last_at, last_action_id);
            (ends.0, ends.1, ends.2, ends.3, action_count, outcome, s.intent_summary)
        })
        .collect();
    all.sort();
    let mut tallies = Tallies::new();
    for kind in ["type0", "type1", "type2"] {
        let (total, keys) = w.store().key_tallies(who.scope(), kind, "", i64::MIN).await.unwrap();
        let keys = keys.into_iter().map(|it| (it.error_code, it.sequences, it.last_at)).collect();
        tallies.insert(kind.to_owned(), (total, keys));
    }
    (all, tallies)
}

/// The same by the plainest way there is.
fn expected(actions: &[NewAction]) -> Vec<Told> {
    let mut sorted = actions.to_vec();
    sorted.sort_by_key(|it| (it.session_id.clone(), it.at, it.id));
    let runs = sorted.chunk_by(|a, b| {
        a.session_id == b.session_id && b.at.unwrap().duration_since(a.at.unwrap()) <= GAP
    });
    let mut all: Vec<Told> = runs
        .map(|run| {
            let (first, last) = (run.first().unwrap(), run.last().unwrap());
            let steps =
                run.chunk_by(|a, b| (&a.action_type, a.outcome) == (&b.action_type, b.outcome));
            let steps: Vec<_> = steps
                .map(|step| {
                    let times =
                        if step.len() > 1 { format!(" ×{}", step.len()) } else { String::new() };
                    let failed = step[0].outcome == Outcome::Failure;
                    let failed = if failed { " failed with KeyError" } else { "" };
                    format!("{}{times}{failed}", step[0].action_type)
                })
                .collect();
            (
                first.session_id.clone(),
                first.at.unwrap(),
                last.at.unwrap(),
                last.id.unwrap(),
                i64::try_from(run.len()).unwrap(),
                last.outcome,
                Some(steps.join(", ")),
            )
        })
        .collect();
    all.sort();
    all
}

pub(crate) async fn grouping_at_two_servers_counts_once(w: World) {
    let (other, _) = w.another_server();
    let start = w.now() - DAY;
    for number in 0..20 {
        let session = format!("s{}", number % 4);
        w.act(&w.operator, &[at(done(&session, "a"), start + MINUTE * (number / 4))]).await;
        let caller = Caller::new(w.operator.clone());
        let here = w.mnemic.run_job(&w.operator, "sequences", false);
        let there = other.run_job(&caller.principal, "sequences", false);
        let (here, there) = tokio::join!(here, there);
        here.unwrap();
        there.unwrap();
    }
    assert_eq!(counts(&w.all().await), [5, 5, 5, 5]);
    assert_eq!(w.tallies("a").await, (4, vec![(String::new(), 4)]));
}

impl World {
    /// Nobody says when it was, so it was when the server heard of it.
    async fn do_now(&self, new: NewAction) -> Timestamp {
        self.act(&self.operator, &[new]).await;
        self.now()
    }

    async fn types_of(&self, sequence: &Sequence) -> Vec<String> {
        let scope = self.operator.scope();
        let of = self.store().list_actions_of(scope, sequence.id, None, 99).await.unwrap();
        of.into_iter().map(|action| action.action_type).collect()
    }
}

pub(crate) async fn a_clock_set_back_by_little_changes_no_order(w: World) {
    for (session, back) in [("tick", TICK), ("minutes", MINUTE * 3), ("gap", GAP)] {
        // Away from what the time stood still at for the session before.
        w.clock.forward(DAY);
        let begun = w.do_now(done(session, "first")).await;
        w.clock.back(back);
        w.do_now(done(session, "second")).await;
        w.do_now(failed(session, "third", "KeyError")).await;
        w.group(&w.operator).await;
        let filter =
            SequenceFilter { session_id: Some(session.to_owned()), ..SequenceFilter::default() };
        let [one] = &w.sequences(&w.operator, &filter).await[..] else { panic!("{session}") };
        assert_eq!(w.types_of(one).await, ["first", "second", "third"], "{session}");
        assert_eq!((one.first_at, one.last_at, one.outcome), (begun, begun, Outcome::Failure));
        // Once the clock has come so far again, time goes on.
        w.clock.forward(back + MINUTE);
        let ended = w.do_now(done(session, "fourth")).await;
        w.group(&w.operator).await;
        let one = &w.sequences(&w.operator, &filter).await[0];
        assert_eq!((one.action_count, one.last_at, ended), (4, ended, begun + MINUTE));
    }
}

pub(crate) async fn a_clock_set_back_by_much_is_believed(w: World) {
    let hour = MINUTE * 60;
    let early = w.do_now(done("s", "before")).await;
    w.group(&w.operator).await;
    w.clock.back(hour);
    let begun = w.do_now(done("s", "after")).await;
    assert_eq!(begun, early - hour);
    w.clock.forward(MINUTE);
    let ended = w.do_now(failed("s", "after", "KeyError")).await;
    w.group(&w.operator).await;
    let [before, after] = &w.all().await[..] else { panic!("the times are an hour apart") };
    assert_eq!((before.first_at, before.last_at, before.action_count), (early, early, 1));
    assert_eq!((after.first_at, after.last_at, after.action_count), (begun, ended, 2));
    assert_eq!((before.outcome, after.outcome), (Outcome::Success, Outcome::Failure));
    // What goes on by the new clock closes by it, and what was before waits for its time.
    w.clock.forward(GAP + TICK);
    assert_eq!(w.group(&w.operator).await, 1);
    let closed: Vec<_> = w.all().await.iter().map(|it| it.closed_at).collect();
    assert_eq!(closed, [None, Some(w.now())]);
    w.clock.forward(hour);
    assert_eq!(w.group(&w.operator).await, 1);
    assert_eq!(w.tallies("before").await, (1, vec![(String::new(), 1)]));
    let both = vec![(String::new(), 1), ("KeyError".to_owned(), 1)];
    assert_eq!(w.tallies("after").await, (1, both));
}

pub(crate) async fn a_clock_that_was_ahead_for_a_while_parts_nothing(w: World) {
    let first = w.do_now(done("s", "a")).await;
    w.group(&w.operator).await;
    w.clock.forward(DAY);
    let ahead = w.do_now(done("s", "b")).await;
    w.group(&w.operator).await;
    let closed: Vec<_> = w.all().await.iter().map(|it| it.closed_at.is_some()).collect();
    assert_eq!(closed, [false, true], "a day has passed for all that is known");
    w.clock.back(DAY - MINUTE);
    let last = w.do_now(failed("s", "a", "KeyError")).await;
    assert_eq!((last, ahead), (first + MINUTE, first + DAY));
    w.group(&w.operator).await;
    let [strayed, one] = &w.all().await[..] else { panic!("one run, and what strayed from it") };
    assert_eq!((one.first_at, one.last_at, one.action_count), (first, last, 2));
    assert_eq!((one.outcome, one.closed_at), (Outcome::Failure, None), "it is open again");
    assert_eq!((strayed.first_at, strayed.action_count), (ahead, 1));
    assert_eq!(w.tallies("a").await, (0, vec![]), "and no longer counted");
    w.clock.forward(GAP + TICK);
    w.group(&w.operator).await;
    let both = vec![(String::new(), 1), ("KeyError".to_owned(), 1)];
    assert_eq!(w.tallies("a").await, (1, both));
}

pub(crate) async fn sequences_close_by_themselves_after_the_clock_was_set_back(w: World) {
    w.mnemic.run_due_jobs().await.unwrap();
    w.clock.back(DAY * 30);
    w.do_now(done("s", "a")).await;
    assert!(w.mnemic.run_due_jobs().await.unwrap() > 0, "not in thirty days, but now");
    assert_eq!(w.mnemic.run_due_jobs().await.unwrap(), 0, "and once only");
    w.clock.forward(GAP + MINUTE);
    w.mnemic.run_due_jobs().await.unwrap();
    let all = w.all().await;
    assert_eq!(all.iter().map(|it| it.closed_at).collect::<Vec<_>>(), [Some(w.now())]);
}
