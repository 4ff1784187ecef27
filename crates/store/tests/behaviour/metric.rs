//! Metrics: what they look at, what they come to, and who can change what of them.

use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{NewAction, Outcome};
use mnemic_core::ids::MetricId;
use mnemic_core::metric::{
    Aggregation, BuiltIn, Comparison, Evaluation, EventFilter, METRICS_MAX, Metric, MetricPatch,
    NewMetric, Window,
};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};

use crate::world::{DAY, TICK, World, at_once, keyed, seen};

const SUCCESS: &str = "outcome == 'success'";
/// Longer than sequences wait for another action.
const REST: SignedDuration = SignedDuration::from_mins(6);

/// A session of an agent, from its first action to its last.
#[derive(Clone, Copy)]
pub(crate) struct Session<'s> {
    pub(crate) name: &'s str,
    pub(crate) action_type: &'s str,
    pub(crate) node_type: Option<&'s str>,
    pub(crate) actions: usize,
    pub(crate) success: bool,
    /// When the last action was.
    pub(crate) last_at: Timestamp,
}

impl Session<'_> {
    pub(crate) fn reported(&self) -> Vec<NewAction> {
        let last = self.actions - 1;
        let action = |place: usize| {
            let failed = place == last && !self.success;
            let before = SignedDuration::from_secs(i64::try_from(last - place).unwrap());
            NewAction {
                node_type: self.node_type.map(str::to_owned),
                outcome: if failed { Outcome::Failure } else { Outcome::Success },
                error_code: failed.then(|| "PaymentError".to_owned()),
                at: Some(self.last_at - before),
                ..NewAction::new(self.name, self.action_type)
            }
        };
        (0..self.actions).map(action).collect()
    }
}

impl World {
    pub(crate) fn session<'s>(&self, name: &'s str, actions: usize, success: bool) -> Session<'s> {
        let (action_type, node_type) = ("graph_query", None);
        Session { name, action_type, node_type, actions, success, last_at: self.now() }
    }

    pub(crate) async fn play(&self, who: &Principal, session: Session<'_>) {
        let caller = Caller::new(who.clone());
        self.mnemic.record_actions(&caller, &session.reported()).await.unwrap();
    }

    /// Lets every session come to its end.
    pub(crate) async fn come_to_rest(&self, who: &Principal) {
        self.clock.forward(REST);
        self.mnemic.run_job(who, "sequences", false).await.unwrap();
    }

    pub(crate) async fn measured(&self, new: &NewMetric) -> Evaluation {
        self.mnemic.preview_metric(&self.operator, new).await.unwrap()
    }

    pub(crate) async fn metrics(&self, who: &Principal, active: Option<bool>) -> Vec<Metric> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_metrics(who, active, &page).await.unwrap().items
    }

    pub(crate) async fn make_metric(&self, new: &NewMetric) -> Metric {
        self.mnemic.create_metric(&self.as_operator(), new).await.unwrap()
    }
}

pub(crate) fn metric(name: &str, condition: &str) -> NewMetric {
    NewMetric {
        name: name.to_owned(),
        success_condition: condition.to_owned(),
        ..NewMetric::default()
    }
}

fn names(metrics: &[Metric]) -> Vec<&str> {
    metrics.iter().map(|metric| metric.name.as_str()).collect()
}

fn switch(active: bool) -> MetricPatch {
    MetricPatch { active: Some(active), ..MetricPatch::default() }
}

pub(crate) async fn built_in_metrics_are_switched_off_and_not_deleted(w: World) {
    let all = ["efficiency_delta", "pattern_utilization", "task_success_rate"];
    assert_eq!(names(&w.metrics(&w.operator, None).await), all);
    let id = BuiltIn::TaskSuccessRate.id();
    let removed = w.mnemic.delete_metric(&w.as_operator(), id).await.unwrap();
    assert!(removed.deactivated);
    assert_eq!(names(&w.metrics(&w.operator, None).await), all, "it is still there");
    assert_eq!(names(&w.metrics(&w.operator, Some(true)).await), all[..2]);
    assert_eq!(names(&w.metrics(&w.operator, Some(false)).await), all[2..]);
    let stranger = w.workspace("elsewhere").await;
    assert_eq!(w.metrics(&stranger, Some(true)).await.len(), 3, "elsewhere it is measured");
    let patch = MetricPatch { window_days: Some(30), ..switch(true) };
    let changed = w.mnemic.update_metric(&w.as_operator(), id, &patch).await.unwrap();
    assert_eq!((changed.active, changed.definition.window_days), (true, 30));
    let w = w.reopen().await;
    let known = w.metrics(&w.operator, Some(true)).await.into_iter().find(|it| it.id == id);
    assert_eq!(known.unwrap(), changed);
    let fixed = MetricPatch { success_condition: Some(SUCCESS.to_owned()), ..switch(true) };
    let refused = seen(w.mnemic.update_metric(&w.as_operator(), id, &fixed).await);
    assert_eq!(refused.0, "invalid_field");
    assert!(refused.1.starts_with("success_condition: task_success_rate is built in"));
}

pub(crate) async fn a_metric_is_made_changed_and_deleted(w: World) {
    let new = NewMetric {
        event_filter: EventFilter {
            action_types: vec!["ontology_mutation".to_owned()],
            node_types: vec!["person".to_owned()],
        },
        aggregation: Aggregation::P95,
        window_days: Some(14),
        description: Some("how long merges take".to_owned()),
        ..metric("Merge length", "outcome==\"success\" and action_count<90")
    };
    let made = w.make_metric(&new).await;
    let condition = made.definition.success_condition.as_ref().unwrap().to_string();
    assert_eq!(condition, "outcome == 'success' and action_count < 90");
    let find = |all: Vec<Metric>| all.into_iter().find(|it| it.id == made.id);
    assert_eq!(find(w.metrics(&w.operator, None).await).unwrap(), made);
    for taken in ["merge  LENGTH", "Task_Success_Rate"] {
        let refused = w.mnemic.create_metric(&w.as_operator(), &metric(taken, SUCCESS)).await;
        assert_eq!(seen(refused).0, "conflict");
    }
    let patch = MetricPatch {
        name: Some("merge length".to_owned()),
        description: Some(None),
        aggregation: Some(Aggregation::Rate),
        ..switch(false)
    };
    let changed = w.mnemic.update_metric(&w.as_operator(), made.id, &patch).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.active), ("merge length", false));
    assert_eq!((changed.description.as_ref(), changed.definition.window_days), (None, 14));
    assert_eq!(find(w.metrics(&w.operator, None).await).unwrap(), changed);
    let stranger = Caller::new(w.workspace("elsewhere").await);
    assert_eq!(seen(w.mnemic.delete_metric(&stranger, made.id).await).0, "not_found");
    assert_eq!(seen(w.mnemic.update_metric(&stranger, made.id, &patch).await).0, "not_found");
    let key = keyed(&w.operator, "k", "f");
    let removed = w.mnemic.delete_metric(&key, made.id).await.unwrap();
    assert!(!removed.deactivated);
    assert_eq!(w.mnemic.delete_metric(&key, made.id).await.unwrap(), removed, "the same request");
    assert_eq!(seen(w.mnemic.delete_metric(&w.as_operator(), made.id).await).0, "not_found");
    assert!(find(w.metrics(&w.operator, None).await).is_none());
    w.make_metric(&new).await;
}

pub(crate) async fn what_is_wrong_with_a_metric_is_named(w: World) {
    let types = |count: usize| vec!["x".to_owned(); count];
    let filter = |action_types, node_types| EventFilter { action_types, node_types };
    let good = || metric("x", SUCCESS);
    w.measured(&NewMetric { event_filter: filter(types(8), types(8)), ..good() }).await;
    for (new, named) in [
        (metric("", SUCCESS), "name: must not be empty"),
        (metric("x", "outcome == success"), "success_condition: at character 12: expected"),
        (metric("x", ""), "success_condition: at character 1: expected"),
        (NewMetric { window_days: Some(0), ..good() }, "window_days: 0 is not between 1 and 365"),
        (NewMetric { window_days: Some(366), ..good() }, "window_days: 366"),
        (NewMetric { description: Some(" ".to_owned()), ..good() }, "description: "),
        (
            NewMetric { event_filter: filter(types(9), vec![]), ..good() },
            "event_filter.action_types: 9",
        ),
        (
            NewMetric { event_filter: filter(vec![], types(9)), ..good() },
            "event_filter.node_types: 9",
        ),
        (
            NewMetric { event_filter: filter(vec![], vec![" a".to_owned()]), ..good() },
            "event_filter.node_types[0]: ",
        ),
    ] {
        let refused = seen(w.mnemic.create_metric(&w.as_operator(), &new).await);
        assert_eq!(refused.0, "invalid_field");
        assert!(refused.1.starts_with(named), "{}", refused.1);
    }
    assert_eq!(w.metrics(&w.operator, None).await.len(), 3);
}

pub(crate) async fn one_name_at_sixteen_hands_is_one_metric(w: World) {
    let made = at_once(16, |_| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move { mnemic.create_metric(&caller, &metric("the one", SUCCESS)).await }
    })
    .await;
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 1);
    assert!(made.into_iter().filter(Result::is_err).all(|it| seen(it).0 == "conflict"));
    let id = BuiltIn::EfficiencyDelta.id();
    at_once(16, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let days = Some(u32::try_from(number).unwrap() + 1);
        let patch = MetricPatch { window_days: days, ..MetricPatch::default() };
        async move { mnemic.update_metric(&caller, id, &patch).await.unwrap() }
    })
    .await;
    let last = w.mnemic.update_metric(&w.as_operator(), id, &switch(true)).await.unwrap();
    assert_eq!(last.revision, 17, "every change counts");
}

pub(crate) async fn metrics_have_a_limit_and_are_listed_page_by_page(w: World) {
    for number in 0..METRICS_MAX {
        w.make_metric(&metric(&format!("m{number:03}"), SUCCESS)).await;
    }
    let refused = seen(w.mnemic.create_metric(&w.as_operator(), &metric("more", SUCCESS)).await);
    assert_eq!(refused.0, "conflict");
    assert!(refused.1.contains("100 metrics of its own"), "{}", refused.1);
    let mut page = PageRequest { limit: Some(40), cursor: None };
    let mut all = Vec::new();
    loop {
        let found = w.mnemic.list_metrics(&w.operator, None, &page).await.unwrap();
        all.extend(found.items);
        page.cursor = found.next_cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(all.len(), METRICS_MAX + 3);
    assert!(names(&all).is_sorted_by(|a, b| a < b));
}

pub(crate) async fn a_value_is_of_the_window_and_the_filter(w: World) {
    let nothing = w.measured(&metric("", SUCCESS)).await;
    assert_eq!(nothing, Evaluation::default(), "without a sequence there is no value");
    let person = |it: Session<'static>| Session { node_type: Some("person"), ..it };
    let writing = |it: Session<'static>| Session { action_type: "ontology_mutation", ..it };
    w.play(&w.operator, w.session("a", 2, true)).await;
    w.play(&w.operator, person(w.session("b", 4, false))).await;
    w.play(&w.operator, writing(w.session("c", 6, true))).await;
    w.play(&w.operator, person(writing(w.session("d", 8, true)))).await;
    assert_eq!(w.measured(&metric("", SUCCESS)).await.sample_count, 0, "they go on");
    w.come_to_rest(&w.operator).await;
    let of = |action_types: &[&str], node_types: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        EventFilter { action_types: owned(action_types), node_types: owned(node_types) }
    };
    for (event_filter, aggregation, condition, value, count) in [
        (of(&[], &[]), Aggregation::Rate, SUCCESS, Some(0.75), 4),
        (of(&["graph_query"], &[]), Aggregation::Rate, SUCCESS, Some(0.5), 2),
        (of(&["graph_query", "ontology_mutation"], &[]), Aggregation::Rate, SUCCESS, Some(0.75), 4),
        (of(&[], &["person"]), Aggregation::Rate, SUCCESS, Some(0.5), 2),
        (of(&["graph_query"], &["person"]), Aggregation::Rate, SUCCESS, Some(0.0), 1),
        (of(&["other"], &[]), Aggregation::Rate, SUCCESS, None, 0),
        (of(&[], &[]), Aggregation::Average, SUCCESS, Some(16.0 / 3.0), 3),
        (of(&[], &[]), Aggregation::Average, "action_count < 2", None, 0),
        (of(&[], &[]), Aggregation::Average, "action_count < 3", Some(2.0), 1),
        (of(&[], &[]), Aggregation::P95, "outcome == 'failure'", Some(4.0), 1),
        (of(&[], &[]), Aggregation::P95, "action_count > 0", Some(8.0), 4),
    ] {
        let place = format!("{event_filter:?} {aggregation:?} {condition}");
        let new = NewMetric { event_filter, aggregation, ..metric("", condition) };
        let found = w.measured(&new).await;
        assert_eq!((found.value, found.sample_count), (value, count), "{place}");
        assert_eq!(found.baseline_value, value, "the first are all there are: {place}");
        assert_eq!(found.delta_vs_baseline, value.map(|_| 0.0), "{place}");
    }
}

/// A window has its beginning and not its end.
pub(crate) async fn a_sequence_counts_until_its_window_has_passed(w: World) {
    w.play(&w.operator, w.session("a", 1, true)).await;
    let acted = w.now();
    w.come_to_rest(&w.operator).await;
    for (days, window_days) in [(7, None), (1, Some(1)), (365, Some(365))] {
        let new = NewMetric { window_days, ..metric("", SUCCESS) };
        w.clock.forward((acted + DAY * days).duration_since(w.now()));
        assert_eq!(w.measured(&new).await.sample_count, 1, "after {days} days");
        w.clock.forward(TICK);
        let passed = w.measured(&new).await;
        assert_eq!((passed.value, passed.sample_count), (None, 0), "behind {days} days");
        assert_eq!(passed.baseline_value, Some(1.0), "the beginnings stay");
        assert_eq!(passed.delta_vs_baseline, None);
        w.clock.forward(acted.duration_since(w.now()));
    }
}

pub(crate) async fn the_baseline_is_the_first_fifty(w: World) {
    let act = async |number: usize, actions, success| {
        let name = format!("s{number:03}");
        w.play(&w.operator, w.session(&name, actions, success)).await;
        w.clock.forward(SignedDuration::from_secs(1));
    };
    for number in 0..49 {
        act(number, 4, number % 7 == 0).await;
    }
    act(49, 4, true).await;
    w.come_to_rest(&w.operator).await;
    let first = w.measured(&metric("", SUCCESS)).await;
    assert_eq!((first.baseline_value, first.sample_count), (Some(0.16), 50));
    for number in 50..150 {
        act(number, 2, true).await;
    }
    w.come_to_rest(&w.operator).await;
    let later = w.measured(&metric("", SUCCESS)).await;
    assert_eq!((later.value, later.sample_count), (Some(108.0 / 150.0), 150));
    assert_eq!(later.baseline_value, Some(0.16), "the fifty-first is none of them");
    assert_eq!(later.delta_vs_baseline, Some(108.0 / 150.0 - 0.16));
    let id = BuiltIn::EfficiencyDelta.id();
    let ids = [id, BuiltIn::TaskSuccessRate.id()];
    let both = Comparison::Metrics(ids, None);
    let both = w.mnemic.compare_benchmarks(&w.operator, both).await.unwrap();
    let efficiency = both.first.evaluation;
    let delta = 400.0 / 150.0 - 4.0;
    assert_eq!(efficiency.value, Some(delta), "less than 0 is fewer actions");
    assert_eq!((efficiency.baseline_value, efficiency.delta_vs_baseline), (Some(0.0), Some(delta)));
    assert_eq!(both.second.evaluation, later);
    assert_eq!(both.difference, None, "an average and a rate have none");
}

pub(crate) async fn two_windows_and_two_metrics_are_compared(w: World) {
    let start = w.now();
    for (name, success) in [("a", false), ("b", false), ("c", true), ("d", false)] {
        w.play(&w.operator, w.session(name, 2, success)).await;
    }
    w.clock.forward(DAY);
    for (name, success) in [("e", true), ("f", true), ("g", true), ("h", false)] {
        w.play(&w.operator, w.session(name, 2, success)).await;
    }
    w.come_to_rest(&w.operator).await;
    let id = BuiltIn::TaskSuccessRate.id();
    let day = |number: i32| {
        let since = start + DAY * number;
        Window { since, until: since + DAY }
    };
    let windows = Comparison::Windows(id, [day(0), day(1)]);
    let compared = w.mnemic.compare_benchmarks(&w.operator, windows).await.unwrap();
    let (first, second) = (compared.first.evaluation, compared.second.evaluation);
    assert_eq!((first.value, second.value), (Some(0.25), Some(0.75)));
    assert_eq!((first.sample_count, second.sample_count), (4, 4), "each action in one window");
    assert_eq!(compared.difference, Some(0.5));
    assert_eq!((compared.first.window, compared.second.window), (day(0), day(1)));
    let failures = w.make_metric(&metric("failures", "outcome == 'failure'")).await.id;
    for (window, values) in [(None, (0.5, 0.5)), (Some(day(1)), (0.75, 0.25))] {
        let both = Comparison::Metrics([id, failures], window);
        let compared = w.mnemic.compare_benchmarks(&w.operator, both).await.unwrap();
        let (first, second) = (compared.first.evaluation, compared.second.evaluation);
        assert_eq!((first.value, second.value), (Some(values.0), Some(values.1)));
        assert_eq!(compared.difference, Some(values.1 - values.0));
    }
    let empty = Window { since: start, until: start };
    let refused = Comparison::Windows(id, [day(0), empty]);
    let refused = seen(w.mnemic.compare_benchmarks(&w.operator, refused).await);
    assert!(refused.1.starts_with("windows[1]: since"), "{}", refused.1);
    let absent = Comparison::Metrics([id, MetricId(uuid::Uuid::from_u128(7))], None);
    assert_eq!(seen(w.mnemic.compare_benchmarks(&w.operator, absent).await).0, "not_found");
    let stranger = w.workspace("elsewhere").await;
    let foreign = Comparison::Metrics([failures, id], None);
    assert_eq!(seen(w.mnemic.compare_benchmarks(&stranger, foreign).await).0, "not_found");
}

/// The same actions in another order, in other portions, with repetitions and with runs of the
/// jobs in between, measure the same.
pub(crate) async fn the_way_that_actions_come_in_moves_no_metric(w: World) {
    let start = w.now();
    let mut actions = Vec::new();
    for number in 0..24_usize {
        let name = format!("s{}", number % 5);
        let session = Session {
            name: &name,
            last_at: start + SignedDuration::from_mins(i64::try_from(number * 37 % 61).unwrap()),
            ..w.session("", 1 + number % 4, number % 3 != 0)
        };
        for mut action in session.reported() {
            action.id = Some(mnemic_core::ids::ActionId(uuid::Uuid::now_v7()));
            actions.push(action);
        }
    }
    w.clock.forward(SignedDuration::from_hours(2));
    let conditions = [SUCCESS, "action_count < 3", "outcome == 'failure' or action_count >= 4"];
    let mut seen = Vec::new();
    for (stride, portion) in [(1, 100), (7, 1), (11, 5), (17, 3)] {
        let who = w.workspace(&format!("w{stride}")).await;
        let caller = Caller::new(who.clone());
        let count = actions.len();
        assert!(count % stride != 0 || stride == 1, "every action has its turn");
        let mixed: Vec<_> = (0..count).map(|i| actions[i * stride % count].clone()).collect();
        for (i, portion) in mixed.chunks(portion).enumerate() {
            w.mnemic.record_actions(&caller, portion).await.unwrap();
            if i % 3 == 0 {
                w.mnemic.record_actions(&caller, portion).await.unwrap();
                w.mnemic.run_job(&who, "sequences", false).await.unwrap();
            }
        }
        w.mnemic.run_job(&who, "sequences", false).await.unwrap();
        let mut values = Vec::new();
        for condition in conditions {
            for aggregation in Aggregation::ALL {
                let new = NewMetric { aggregation, ..metric("", condition) };
                values.push(w.mnemic.preview_metric(&who, &new).await.unwrap());
            }
        }
        seen.push(values);
    }
    assert!(seen[0].iter().any(|it| it.sample_count > 4), "{:?}", seen[0]);
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}
