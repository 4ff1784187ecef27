//! Whole runs replayed: what is mined is what a straightforward count finds, whatever the order and
//! the portions in which the actions come.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::SignedDuration;
use mnemic_core::action::NewAction;
use mnemic_core::pattern::{Injection, PatternFilter};
use mnemic_core::principal::{Caller, Principal};
use serde::Deserialize;

use crate::pattern::action;
use crate::world::World;

/// Names the folder with data that is not ours to keep here.
const DATA: &str = "MNEMIC_TEST_DATA";
const RUNS: &str = "tau_bench/actions.jsonl";

/// A step of a run: its type, the type of what it is done to, and how it failed if it did.
type Step = (String, String, String);
type Runs = BTreeMap<String, Vec<Step>>;
/// A pattern by its key, with how many sequences have it, of how many.
type Counted = BTreeSet<(Step, i64, i64)>;

/// As plain as can be, and nothing of it shared with what is tested.
fn count(runs: &Runs) -> Counted {
    let mut pairs = BTreeMap::<(String, String), BTreeSet<&str>>::new();
    let mut keys = BTreeMap::<Step, BTreeSet<&str>>::new();
    for (session, steps) in runs {
        for step in steps {
            let pair = (step.0.clone(), step.1.clone());
            pairs.entry(pair).or_default().insert(session);
            keys.entry(step.clone()).or_default().insert(session);
        }
    }
    let mut patterns = Counted::new();
    for (step, sessions) in keys {
        let all = pairs[&(step.0.clone(), step.1.clone())].len();
        if sessions.len() >= 5 && 100 * sessions.len() >= 60 * all {
            let number = |n: usize| i64::try_from(n).unwrap();
            patterns.insert((step, number(sessions.len()), number(all)));
        }
    }
    patterns
}

/// Numbers that look random and are the same each time.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}

impl World {
    /// Each run an hour after the other, ten seconds between its steps.
    fn replayed(&self, runs: &Runs) -> Vec<NewAction> {
        let hours = i64::try_from(runs.len()).unwrap();
        let start = self.now() - SignedDuration::from_hours(hours);
        let mut actions = Vec::new();
        for (number, (session, steps)) in (0..).zip(runs) {
            for (place, step) in (0..).zip(steps) {
                let into = SignedDuration::from_secs(3_600 * number + 10 * place);
                actions.push(action(session, (&step.0, &step.1, &step.2), start + into));
            }
        }
        actions
    }

    /// Sends actions in any order and portions, mines them, and says what was found.
    async fn mined(
        &self,
        who: &Principal,
        mut actions: Vec<NewAction>,
        noise: &mut Noise,
    ) -> Counted {
        noise.shuffle(&mut actions);
        let mut rest = &actions[..];
        while !rest.is_empty() {
            let (portion, behind) = rest.split_at((1 + noise.below(200)).min(rest.len()));
            self.mnemic.record_actions(&Caller::new(who.clone()), portion).await.unwrap();
            if noise.below(3) == 0 {
                self.mnemic.run_job(who, "sequences", false).await.unwrap();
            }
            rest = behind;
        }
        self.clock.forward(SignedDuration::from_mins(6));
        self.mnemic.run_job(who, "sequences", false).await.unwrap();
        self.mnemic.run_job(who, "patterns", false).await.unwrap();
        let page = mnemic_core::page::PageRequest { limit: Some(200), cursor: None };
        let (filter, sort) = (PatternFilter::default(), mnemic_core::pattern::PatternSort::Newest);
        let found = self.mnemic.list_patterns(who, &filter, sort, &page).await.unwrap();
        assert!(found.next_cursor.is_none());
        let counted = found.items.into_iter().map(|it| {
            let (key, share) = (it.pattern.key, it.pattern.share);
            let part = Option::unwrap_or_default;
            let step = (key.action_type, part(key.node_type), part(key.error_code));
            (step, share.samples, share.total)
        });
        counted.collect()
    }
}

/// Runs of a few actions that fail more or less often, each in its own way.
fn made_up(noise: &mut Noise) -> Runs {
    let errors = ["", "NodeNotFoundError", "TimeoutError"];
    let mut runs = Runs::new();
    for number in 0..150 {
        let mut steps = Vec::new();
        for _ in 0..=noise.below(6) {
            let (action, node) = (noise.below(6), noise.below(3));
            let node = ["", "person", "email"][node];
            let failing = noise.below(10) < action + 3;
            let error = if failing { errors[1 + usize::from(noise.below(8) == 0)] } else { "" };
            steps.push((format!("act_{action}"), node.to_owned(), error.to_owned()));
        }
        runs.insert(format!("run-{number:03}"), steps);
    }
    runs
}

pub(crate) async fn patterns_are_those_that_counting_finds_in_any_order(w: World) {
    let mut noise = Noise(7);
    let runs = made_up(&mut noise);
    let expected = count(&runs);
    assert!(expected.len() > 5, "{expected:?}");
    let actions = w.replayed(&runs);
    for name in ["one", "two", "three"] {
        let who = w.workspace(name).await;
        assert_eq!(w.mined(&who, actions.clone(), &mut noise).await, expected, "{name}");
    }
}

#[derive(Deserialize)]
struct Recorded {
    session_id: String,
    tool: String,
    ok: bool,
    error_code: Option<String>,
}

/// The recorded runs. Whoever asks for them has them: nothing here passes without.
fn recorded() -> Runs {
    let folder = std::env::var_os(DATA).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("set {DATA} to the folder that has {RUNS}"));
    let path = folder.join(RUNS);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|e| panic!("{DATA}: {}: {e}", path.display()));
    let mut runs = Runs::new();
    for (number, line) in (1..).zip(text.lines()) {
        let step: Recorded = serde_json::from_str(line)
            .unwrap_or_else(|e| panic!("{}, line {number}: {e}", path.display()));
        let error = step.error_code.unwrap_or_default();
        assert_eq!(step.ok, error.is_empty(), "{line}");
        runs.entry(step.session_id).or_default().push((step.tool, String::new(), error));
    }
    runs
}

/// Needs data that is not kept here, and so is run by name (`cargo xtask test` does where it is).
pub(crate) async fn real_runs_give_the_patterns_that_counting_finds(w: World) {
    let runs = recorded();
    let expected = count(&runs);
    assert!(expected.len() > 5, "{expected:?}");
    let actions = w.replayed(&runs);
    let found = w.mined(&w.operator, actions, &mut Noise(11)).await;
    assert_eq!(found, expected);
    let before = Injection {
        action_type: Some("update_reservation_flights".to_owned()),
        ..Injection::default()
    };
    let told = w.mnemic.inject(&w.operator, &before).await.unwrap();
    assert_eq!(
        told.text,
        "[Mnemic memory — 1 relevant pattern]\n\
         Pattern: update_reservation_flights:None:None (confidence 0.88)\n\
         Recommendation: 88% of update_reservation_flights actions succeed."
    );
}
