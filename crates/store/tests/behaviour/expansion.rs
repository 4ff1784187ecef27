//! What a question is made of before it is searched for: times that its words name, and what a
//! language model makes of it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mnemic_core::Mnemic;
use mnemic_core::conversation::{NewConversation, NewTurn};
use mnemic_core::memory::{Kind, NewMemory};
use mnemic_core::recall::{Bundle, Feature, Part, RecallRequest, Technique};
use serde_json::{Value, json};

use crate::learning::Scripted;
use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{DAY, World, by, contents, fact, query, text};

const FIRST: &str = "the colour of the boat was decided to be red";
const SECOND: &str = "the colour of the boat was decided to be green";
const THIRD: &str = "the colour of the boat was decided to be blue";

/// Three decisions: on Sunday 1 March, on Wednesday of the week behind it, and a week later, which
/// is now.
async fn decisions(w: &World) {
    w.remember(&w.operator, FIRST).await;
    w.clock.forward(DAY * 3);
    w.remember(&w.operator, SECOND).await;
    w.clock.forward(DAY * 7);
    w.remember(&w.operator, THIRD).await;
}

fn memories(asked: &str) -> RecallRequest {
    RecallRequest { include: Some(vec![Part::Memories]), explain: true, ..query(asked) }
}

fn share(bundle: &Bundle, place: usize, feature: Feature) -> f64 {
    let shares = &bundle.items[place].why.as_ref().unwrap().shares;
    shares.iter().filter(|(it, _)| *it == feature).map(|(_, share)| share).sum()
}

pub(crate) async fn memories_of_the_time_that_is_asked_about_go_first(mut w: World) {
    decisions(&w).await;
    for with_vectors in [false, true] {
        if with_vectors {
            w.embed_with(HashModel::new("small")).await;
            all_have_vectors(&w, &w.operator).await;
        }
        let timeless = w.recall(&w.operator, &memories("which colour was decided?")).await;
        for (when, wanted) in [
            ("last week", SECOND),
            ("this week", THIRD),
            ("today", THIRD),
            ("seven days ago", SECOND),
            ("since Monday", THIRD),
            ("on 1 March", FIRST),
            ("on 2026-03-04", SECOND),
        ] {
            let request = memories(&format!("which colour was decided {when}?"));
            let bundle = w.recall(&w.operator, &request).await;
            assert_eq!(contents(&bundle)[0], wanted, "{when}");
            assert_eq!(bundle.items.len(), 3, "nothing is left out: {when}");
            assert!(share(&bundle, 0, Feature::Date) > 0.0, "{when}");
            assert_eq!(bundle.times.len(), 1, "{when}");
            let (sure, usual) = (bundle.confidence, timeless.confidence);
            assert!(sure > usual - 0.02, "nobody need have said {when}: {sure} {usual}");
            let without = RecallRequest { without: vec![Feature::Date], ..request };
            let bundle = w.recall(&w.operator, &without).await;
            assert!((0..3).all(|place| share(&bundle, place, Feature::Date) == 0.0), "{when}");
        }
        let plain = w.recall(&w.operator, &memories("which colour was decided recently?")).await;
        assert!(plain.times.is_empty() && share(&plain, 0, Feature::Date) == 0.0);
    }
}

pub(crate) async fn times_are_seen_from_the_moment_that_is_asked_for(w: World) {
    decisions(&w).await;
    let then = w.now();
    w.clock.forward(DAY * 300);
    let asked = memories("which colour was decided last week?");
    let now = w.recall(&w.operator, &asked).await;
    assert!((0..3).all(|place| share(&now, place, Feature::Date) == 0.0));
    let bundle = w.recall(&w.operator, &RecallRequest { as_of: Some(then), ..asked }).await;
    assert_eq!(contents(&bundle)[0], SECOND);
}

pub(crate) async fn what_became_true_then_counts_whenever_it_was_recorded(w: World) {
    let last_week = w.now() - DAY * 10;
    let told = NewMemory { valid_from: Some(last_week), ..text("the mill has a new owner: Bo") };
    w.create(&w.operator, told).await.unwrap();
    w.clock.forward(DAY * 3);
    w.remember(&w.operator, "the mill has a new owner: Cy").await;
    let asked = memories("who became owner of the mill two weeks ago?");
    let bundle = w.recall(&w.operator, &asked).await;
    assert_eq!(contents(&bundle)[0], "the mill has a new owner: Bo");
    assert!(share(&bundle, 0, Feature::Date) > 0.0 && share(&bundle, 1, Feature::Date) == 0.0);
}

/// Of more than a technique looks at, those of the time that is asked about are found too.
pub(crate) async fn memories_of_that_time_are_found_among_many(w: World) {
    w.remember(&w.operator, "as to the harbour, among other things: it stays closed").await;
    w.clock.forward(DAY * 10);
    for number in 0..110 {
        w.remember(&w.operator, &format!("harbour harbour {number}")).await;
    }
    let found = async |asked: &str| {
        let request = RecallRequest { limit: Some(100), ..by(Technique::Words, asked) };
        w.found(&w.operator, &request).await
    };
    let is_there = |found: &[String]| found.iter().any(|it| it.contains("stays closed"));
    assert!(!is_there(&found("harbour").await));
    assert!(is_there(&found("harbour, ten days ago").await));
}

async fn talk(w: &World, conversation: &str, lines: &[(Timestamp, &str)]) {
    let new = NewConversation { id: Some(conversation.to_owned()), ..NewConversation::default() };
    let said = |(at, content): &(Timestamp, &str)| NewTurn {
        role: "user".to_owned(),
        speaker: Some("Ana".to_owned()),
        content: (*content).to_owned(),
        at: Some(*at),
        ..NewTurn::default()
    };
    let caller = w.as_operator();
    w.mnemic.create_conversation(&caller, &new).await.unwrap();
    let news: Vec<_> = lines.iter().map(said).collect();
    w.mnemic.add_turns(&caller, conversation, &news).await.unwrap();
}

pub(crate) async fn turns_of_the_time_that_is_asked_about_go_first(w: World) {
    let today = w.now();
    let at = |days: i64| today - SignedDuration::from_hours(24 * days);
    talk(
        &w,
        "plans",
        &[
            (at(40), "We decided that the boat gets red paint."),
            (at(10), "We decided that the boat gets green paint."),
            (at(0), "We decided that the boat gets blue paint."),
        ],
    )
    .await;
    for (when, wanted) in [
        ("last week", "green"),
        ("in January", "red"),
        ("today", "blue"),
        ("in the last three days", "blue"),
        ("two weeks ago", "green"),
        ("2026-01", "red"),
    ] {
        let request = RecallRequest {
            include: Some(vec![Part::Turns]),
            explain: true,
            ..by(Technique::Words, &format!("what paint did we decide on {when}?"))
        };
        let bundle = w.recall(&w.operator, &request).await;
        assert!(bundle.turns[0].turn.content.contains(wanted), "{when}");
        assert_eq!(bundle.turns.len(), 3, "nothing is left out: {when}");
        let dated = |bundle: &Bundle| {
            let shares = bundle.turns.iter().flat_map(|it| &it.why.as_ref().unwrap().shares);
            shares.filter(|(feature, _)| *feature == Feature::Date).count()
        };
        assert_eq!(dated(&bundle), 1, "{when}");
        let without = RecallRequest { without: vec![Feature::Date], ..request };
        assert_eq!(dated(&w.recall(&w.operator, &without).await), 0, "{when}");
    }
}

/// "Last month" says where to look, and not what for.
pub(crate) async fn words_that_say_when_are_not_searched_for(mut w: World) {
    w.remember(&w.operator, "invoices go out on the first of each month").await;
    talk(&w, "bills", &[(w.now(), "That was the last bill of this month.")]).await;
    let asked = "which colour was decided last month?";
    let words = w.recall(&w.operator, &by(Technique::Words, asked)).await;
    assert!(words.items.is_empty() && words.turns.is_empty(), "{:?}", contents(&words));
    w.embed_with(HashModel::new("small")).await;
    decisions(&w).await;
    all_have_vectors(&w, &w.operator).await;
    let share_of_words = async |asked: &str| {
        let bundle = w.recall(&w.operator, &memories(asked)).await;
        let invoice = contents(&bundle).iter().position(|it| it.starts_with("invoices")).unwrap();
        let matched = &bundle.items[invoice].why.as_ref().unwrap().matched_words;
        assert_eq!(matched.is_empty(), share(&bundle, invoice, Feature::Words) == 0.0);
        share(&bundle, invoice, Feature::Words)
    };
    assert!(share_of_words(asked).await.abs() < 1e-9);
    assert!(share_of_words("which colour is of this month and of that?").await.abs() < 1e-9);
    assert!(share_of_words("what happens each month?").await > 0.0, "that is what is asked for");
}

/// Whoever asks may count other days than those of UTC, so the neighbouring one counts as well.
pub(crate) async fn the_very_day_goes_before_the_one_beside_it(w: World) {
    let hours = SignedDuration::from_hours;
    talk(
        &w,
        "paint",
        &[
            (w.now() - hours(24), "So the hull of the boat gets green."),
            (w.now(), "And the mast of that boat gets a blue, the hull is done, the boat shines."),
        ],
    )
    .await;
    let asked = "what is it that the hull of the boat and the mast gets";
    let first = async |when: &str| {
        let request = RecallRequest {
            include: Some(vec![Part::Turns]),
            ..by(Technique::Words, &format!("{asked} {when}?"))
        };
        w.recall(&w.operator, &request).await.turns.remove(0).turn.content
    };
    assert!(first("").await.contains("blue"), "it is more alike");
    assert!(first("yesterday").await.contains("green"));
    assert!(first("today").await.contains("blue"));
}

/// What was told later of that time is of that time, too.
pub(crate) async fn what_a_turn_tells_of_that_time_counts(w: World) {
    let today = w.now();
    talk(
        &w,
        "plans",
        &[
            (today, "The boat was painted green ten days ago."),
            (today, "The boat was painted blue two years ago."),
        ],
    )
    .await;
    let request = RecallRequest {
        include: Some(vec![Part::Turns]),
        explain: true,
        ..by(Technique::Words, "how was the boat painted last week?")
    };
    let bundle = w.recall(&w.operator, &request).await;
    assert!(bundle.turns[0].turn.content.contains("green"));
    let shares = &bundle.turns[0].why.as_ref().unwrap().shares;
    assert!(shares.iter().any(|(feature, _)| *feature == Feature::SpokenDate), "{shares:?}");
}

fn guess(more: &Value) -> String {
    let mut guess = json!({
        "statement": "The kettle is beside the stove.",
        "passage": "the kettle hangs beside the stove",
        "keywords": ["kettle", "stove"], "since": null, "until": null, "kind": null,
    });
    guess.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    guess.to_string()
}

const KETTLE: &str = "the kettle hangs beside the stove";
const ASKED: &str = "where would one find something for boiling water?";

async fn kitchen(w: &World) {
    for told in [KETTLE, "lunch is at noon", "the garden shed is green", "Bo collects stamps"] {
        w.remember(&w.operator, told).await;
    }
    talk(w, "kitchen", &[(w.now(), "My kettle is on the stove again."), (w.now(), "I see.")]).await;
}

async fn expanded(w: &World, mnemic: &Mnemic, request: RecallRequest) -> Bundle {
    let request = RecallRequest { expand: Some(true), explain: true, ..request };
    mnemic.recall(&w.operator, &request).await.unwrap()
}

fn model(w: &World, answers: &[&str]) -> Arc<Mnemic> {
    Arc::new(w.with_model(Scripted::new(answers)))
}

pub(crate) async fn the_words_of_a_guess_are_searched_for(w: World) {
    kitchen(&w).await;
    let asked = by(Technique::Words, ASKED);
    let mnemic = model(&w, &[&guess(&json!({}))]);
    let plain = mnemic.recall(&w.operator, &asked).await.unwrap();
    assert!(!contents(&plain).contains(&KETTLE.to_owned()) && plain.guess.is_none());
    let bundle = expanded(&w, &mnemic, asked).await;
    assert_eq!(contents(&bundle)[0], KETTLE);
    assert!(share(&bundle, 0, Feature::Statement) > 0.0);
    let turn = &bundle.turns[0];
    assert_eq!(turn.turn.content, "My kettle is on the stove again.");
    let shares = &turn.why.as_ref().unwrap().shares;
    assert!(shares.iter().any(|(it, share)| *it == Feature::Statement && *share > 0.0));
    assert_eq!(bundle.guess.unwrap().by, "test:scripted");
}

pub(crate) async fn the_passage_of_a_guess_moves_the_meaning(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    kitchen(&w).await;
    all_have_vectors(&w, &w.operator).await;
    let asked = by(Technique::Vectors, ASKED);
    let mnemic = model(&w, &[&guess(&json!({})), &guess(&json!({}))]);
    mnemic.adopt_model(Arc::new(HashModel::new("small"))).await.unwrap();
    let bundle = expanded(&w, &mnemic, asked.clone()).await;
    assert_eq!(contents(&bundle)[0], KETTLE);
    assert!(share(&bundle, 0, Feature::Passage) > 0.3, "{:?}", bundle.items[0].why);
    assert!(share(&bundle, 0, Feature::Statement) == 0.0, "words are not asked");
    let turn = &bundle.turns[0];
    assert_eq!(turn.turn.content, "My kettle is on the stove again.");
    let shares = &turn.why.as_ref().unwrap().shares;
    assert!(shares.iter().any(|(it, share)| *it == Feature::Passage && *share > 0.0));
    let without = RecallRequest { without: vec![Feature::Passage], ..asked };
    let bundle = expanded(&w, &mnemic, without).await;
    assert!((0..bundle.items.len()).all(|it| share(&bundle, it, Feature::Passage) == 0.0));
}

pub(crate) async fn a_guess_tells_the_time_and_the_kind(w: World) {
    decisions(&w).await;
    w.create(&w.operator, fact("the colour of the boat was decided to be plain")).await.unwrap();
    let (since, until) = (w.now() - DAY * 11, w.now() - DAY * 9);
    let window = guess(&json!({"since": since, "until": until}));
    let kind = guess(&json!({"kind": "memory"}));
    let mnemic = model(&w, &[&window, &kind]);
    let asked = memories("which colour was decided back then?");
    let bundle = expanded(&w, &mnemic, asked.clone()).await;
    assert_eq!(bundle.times, [(since, until)]);
    assert_eq!(contents(&bundle)[0], FIRST);
    assert!(share(&bundle, 0, Feature::Date) > 0.0);
    assert_eq!(bundle.items.len(), 4, "nothing is left out");
    let kinds = |bundle: &Bundle, kind: Kind| {
        let item = bundle.items.iter().find(|item| item.memory.kind == kind).unwrap();
        item.why.as_ref().unwrap().factors.kind
    };
    assert!(kinds(&bundle, Kind::Fact) > kinds(&bundle, Kind::Memory));
    let bundle = expanded(&w, &mnemic, asked).await;
    assert!((kinds(&bundle, Kind::Fact) - kinds(&bundle, Kind::Memory)).abs() < 1e-9);
}

pub(crate) async fn without_a_usable_guess_the_rules_serve(w: World) {
    kitchen(&w).await;
    let asked = by(Technique::Words, "kettle");
    let nonsense = guess(&json!({"channel": "elsewhere"}));
    for answers in [&["", ""][..], &["{}", "{}"], &[&nonsense, "nothing"], &[]] {
        let bundle = expanded(&w, &model(&w, answers), asked.clone()).await;
        assert_eq!(contents(&bundle)[0], KETTLE, "{answers:?}");
        let said: Vec<_> = bundle.degraded.iter().filter(|it| it.contains("expansion: ")).collect();
        assert_eq!(said.len(), 1, "{answers:?} {:?}", bundle.degraded);
        assert!(bundle.guess.is_none());
    }
    let bundle = expanded(&w, &w.mnemic, asked).await;
    assert_eq!(contents(&bundle)[0], KETTLE);
    assert!(bundle.degraded.iter().any(|it| it.contains("no language model")));
}
