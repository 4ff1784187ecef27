//! Benchmarks: one for each active metric and day, and the trend that they make.

use jiff::SignedDuration;
use mnemic_core::action::CONTAINS;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::BuiltIn;
use mnemic_core::metric::benchmark::{Benchmark, Day, Days};
use mnemic_core::node::{Direction, Traversal};
use mnemic_core::page::PageRequest;
use mnemic_core::pattern::{Injection, PatternFilter};
use mnemic_core::principal::Principal;
use mnemic_store::Statement;

use crate::metric::metric;
use crate::world::{DAY, World, at_once, seen};

static ROWS: Statement = Statement::workspace(
    "test.benchmarks",
    "SELECT count(*) AS rows FROM benchmarks WHERE workspace_id = $1",
);

impl World {
    async fn run_benchmarks(&self) -> u64 {
        self.mnemic.run_job(&self.operator, "benchmarks", false).await.unwrap().changed
    }

    async fn trend(&self, who: &Principal, id: MetricId) -> Vec<Benchmark> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_benchmarks(who, id, Days::default(), &page).await.unwrap().items
    }
}

pub(crate) async fn a_day_has_one_benchmark_of_each_active_metric(w: World) {
    let rate = BuiltIn::TaskSuccessRate.id();
    w.play(&w.operator, w.session("a", 2, false)).await;
    w.come_to_rest(&w.operator).await;
    let dry = w.mnemic.run_job(&w.operator, "benchmarks", true).await.unwrap();
    assert_eq!((dry.changed, w.count(&w.operator, &ROWS).await), (3, 0));
    assert_eq!(w.run_benchmarks().await, 3);
    assert_eq!(w.run_benchmarks().await, 0, "what says the same is not written again");
    assert_eq!(w.mnemic.run_job(&w.operator, "benchmarks", true).await.unwrap().changed, 0);
    let first = w.trend(&w.operator, rate).await;
    assert_eq!((first.len(), first[0].value, first[0].sample_count), (1, Some(0.0), 1));
    assert_eq!((first[0].baseline_value, first[0].delta_vs_baseline), (Some(0.0), Some(0.0)));
    assert_eq!((first[0].day, first[0].window_days), (Day::of(w.now()), 7));

    w.play(&w.operator, w.session("b", 2, true)).await;
    w.come_to_rest(&w.operator).await;
    assert_eq!(w.run_benchmarks().await, 2, "utilisation has not moved");
    let again = w.trend(&w.operator, rate).await;
    assert_eq!((again.len(), again[0].id), (1, first[0].id), "in the place of the first");
    assert_eq!((again[0].value, again[0].sample_count), (Some(0.5), 2));
    assert_eq!(again[0].created_at, w.now());

    w.clock.forward(DAY);
    let own = w.make_metric(&metric("own", "action_count < 9")).await;
    w.mnemic.delete_metric(&w.as_operator(), BuiltIn::EfficiencyDelta.id()).await.unwrap();
    assert_eq!(w.run_benchmarks().await, 3, "one was switched off and one was made");
    let days: Vec<_> = w.trend(&w.operator, rate).await.iter().map(|it| it.day.0).collect();
    assert_eq!(days, [again[0].day.0 + 1, again[0].day.0], "the latest first");
    let efficiency = w.trend(&w.operator, BuiltIn::EfficiencyDelta.id()).await;
    assert_eq!(efficiency.len(), 1, "what was measured stays");
    assert_eq!(w.trend(&w.operator, own.id).await[0].value, Some(1.0));
    w.mnemic.delete_metric(&w.as_operator(), own.id).await.unwrap();
    assert_eq!(w.count(&w.operator, &ROWS).await, 5, "its benchmark went with it");
    let page = PageRequest::default();
    let gone = w.mnemic.list_benchmarks(&w.operator, own.id, Days::default(), &page).await;
    assert_eq!(seen(gone).0, "not_found");
    let stranger = w.workspace("elsewhere").await;
    assert!(w.trend(&stranger, rate).await.is_empty());
}

pub(crate) async fn what_was_measured_is_in_the_graph(w: World) {
    w.play(&w.operator, w.session("a", 2, true)).await;
    w.come_to_rest(&w.operator).await;
    let own = w.make_metric(&metric("own", "action_count < 9")).await;
    w.run_benchmarks().await;
    w.clock.forward(DAY);
    w.run_benchmarks().await;
    for (id, name) in
        [(own.id, "metric own"), (BuiltIn::TaskSuccessRate.id(), "metric task_success_rate")]
    {
        let trend = w.trend(&w.operator, id).await;
        let (met, graph) = w.walked(&[id.0], &[CONTAINS], Direction::Out).await;
        let days = ["_mem:benchmark 2026-03-01 1.0000", "_mem:benchmark 2026-03-02 1.0000"];
        assert_eq!(met, days, "{name}");
        let mut reached: Vec<_> = graph.edges.iter().map(|edge| edge.target_id).collect();
        let mut kept: Vec<_> = trend.iter().map(|it| it.id).collect();
        reached.sort();
        kept.sort();
        assert_eq!(reached, kept);
        assert!(graph.edges.iter().all(|edge| edge.source_id == id.0));
        let (met, back) = w.walked(&[trend[0].id], &[], Direction::In).await;
        assert_eq!(met, [name], "and back");
        assert!(graph.edges.contains(&back.edges[0]), "an edge is one");
        let few = Traversal { ids: vec![id.0], depth: 1, limit: Some(2), ..Traversal::default() };
        let few = w.mnemic.traverse(&w.operator, &few).await.unwrap();
        assert!(few.truncated && few.nodes.len() == 2, "{few:?}");
    }
    let stranger = w.workspace("elsewhere").await;
    let theirs = |ids| Traversal { ids, depth: 1, ..Traversal::default() };
    let ids = vec![own.id.0, w.trend(&w.operator, own.id).await[0].id];
    assert!(w.mnemic.traverse(&stranger, &theirs(ids)).await.unwrap().nodes.is_empty());
}

pub(crate) async fn a_trend_is_cut_into_pages_and_by_days(w: World) {
    let rate = BuiltIn::TaskSuccessRate.id();
    let start = Day::of(w.now()).0;
    for _ in 0..25 {
        w.run_benchmarks().await;
        w.clock.forward(DAY);
    }
    let mut page = PageRequest { limit: Some(10), cursor: None };
    let (mut days, mut pages) = (Vec::new(), 0);
    loop {
        let found = w.mnemic.list_benchmarks(&w.operator, rate, Days::default(), &page).await;
        let found = found.unwrap();
        days.extend(found.items.iter().map(|it| it.day.0 - start));
        pages += 1;
        page.cursor = found.next_cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!((pages, days), (3, (0..25).rev().collect()));
    let some = Days { since: Some(Day(start + 3)), until: Some(Day(start + 5)) };
    let page = PageRequest::default();
    let found = w.mnemic.list_benchmarks(&w.operator, rate, some, &page).await.unwrap();
    let found: Vec<_> = found.items.iter().map(|it| it.day.0 - start).collect();
    assert_eq!(found, [5, 4, 3], "both days are among them");
}

/// However late a run comes, the next one is at the beginning of the next day.
pub(crate) async fn no_night_is_passed_over(w: World) {
    let rate = BuiltIn::TaskSuccessRate.id();
    let start = Day::of(w.now()).0;
    for hours in [0, 11, 1, 23, 24, 25] {
        w.clock.forward(SignedDuration::from_hours(hours));
        w.mnemic.run_due_jobs().await.unwrap();
        let jobs = w.mnemic.list_jobs(&w.operator).await.unwrap();
        let job = jobs.into_iter().find(|job| job.name == "benchmarks").unwrap();
        let next = job.next_run_at.unwrap();
        assert_eq!(Day::of(next).0, Day::of(w.now()).0 + 1);
        assert_eq!(next.as_second() % 86_400, 0);
        assert_eq!(job.cadence_seconds, Some(86_400));
    }
    let days: Vec<_> = w.trend(&w.operator, rate).await.iter().map(|it| it.day.0 - start).collect();
    assert_eq!(days, [4, 2, 1, 0], "one on each day that was looked at");
    let off = serde_json::json!({"memory": {"enabled": false}});
    w.mnemic.update_settings(&w.operator, &off).await.unwrap();
    w.clock.forward(DAY);
    w.mnemic.run_due_jobs().await.unwrap();
    assert_eq!(w.trend(&w.operator, rate).await.len(), 4, "nothing is captured, so none is due");
    assert_eq!(w.run_benchmarks().await, 3, "but it can be called for");
}

pub(crate) async fn two_servers_write_a_benchmark_once(w: World) {
    let (other, _) = w.another_server();
    let servers = [w.mnemic.clone(), other];
    let operator = w.operator.clone();
    let runs = at_once(8, |number| {
        let (mnemic, operator) = (servers[number % 2].clone(), operator.clone());
        async move { mnemic.run_job(&operator, "benchmarks", false).await.unwrap().changed }
    })
    .await;
    assert_eq!(runs.iter().sum::<u64>(), 3);
    assert_eq!(w.count(&w.operator, &ROWS).await, 3);
}

pub(crate) async fn utilization_is_of_sequences_that_were_warned(w: World) {
    let id = BuiltIn::PatternUtilization.id();
    let fails = ("edit", "person", "NodeNotFoundError");
    for number in 0..50 {
        w.does(&format!("fail-{number}"), &[fails]).await;
    }
    w.mine().await;
    w.run_benchmarks().await;
    let before = w.trend(&w.operator, id).await.remove(0);
    assert_eq!((before.value, before.sample_count), (None, 0), "nobody was warned");
    assert_eq!((before.baseline_value, before.delta_vs_baseline), (None, None));
    for (session, step) in [("heeds", ("edit", "person", "")), ("ignores", fails)] {
        let warning = Injection {
            node_types: vec!["person".to_owned()],
            session_id: Some(session.to_owned()),
            ..Injection::default()
        };
        let told = w.mnemic.inject(&w.operator, &warning).await.unwrap();
        assert!(told.text.contains("NodeNotFoundError"), "{}", told.text);
        w.does(session, &[step]).await;
    }
    w.mine().await;
    w.run_benchmarks().await;
    let after = w.trend(&w.operator, id).await.remove(0);
    assert_eq!((after.value, after.sample_count), (Some(0.5), 2));
    assert_eq!(after.baseline_value, None, "none of the first fifty was warned");
    let rate = w.trend(&w.operator, BuiltIn::TaskSuccessRate.id()).await.remove(0);
    assert_eq!((rate.value, rate.baseline_value), (Some(1.0 / 52.0), Some(0.0)));
    w.clock.forward(DAY * 8);
    w.run_benchmarks().await;
    assert_eq!(w.trend(&w.operator, id).await[0].value, None, "it was long ago");
}

pub(crate) async fn the_night_lets_patterns_go_before_it_measures(w: World) {
    for number in 0..5 {
        w.does(&format!("fail-{number}"), &[("edit", "person", "NodeNotFoundError")]).await;
    }
    w.mine().await;
    w.clock.forward(DAY * (30 + 15 * 7) - SignedDuration::from_hours(1));
    assert_eq!(w.run_benchmarks().await, 3, "a fifth is left of the pattern");
    w.clock.forward(SignedDuration::from_hours(1));
    let dry = w.mnemic.run_job(&w.operator, "benchmarks", true).await.unwrap().changed;
    let moved = w.run_benchmarks().await;
    assert_eq!((dry, moved % 3), (moved, 1), "the pattern, and what the day asks for");
    assert!(w.patterns(&PatternFilter::default()).await.is_empty());
}
