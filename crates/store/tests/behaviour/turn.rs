//! What was said is found again: by words, by meaning, by who said it, when, and beside what.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mnemic_core::ask::AskRequest;
use mnemic_core::conversation::{NewConversation, NewTurn, RollUp, TurnSpan};
use mnemic_core::ids::TurnId;
use mnemic_core::memory::NewMemory;
use mnemic_core::recall::{Feature, Part, RecallRequest, RecalledTurn, Spoken, Technique};
use mnemic_core::store::Change;

use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{World, contents, fact, query};

const DAY: SignedDuration = SignedDuration::from_hours(24);

fn said(speaker: &str, at: Timestamp, content: &str) -> NewTurn {
    NewTurn {
        role: "user".to_owned(),
        speaker: Some(speaker.to_owned()),
        content: content.to_owned(),
        at: Some(at),
        ..NewTurn::default()
    }
}

fn ask(query: &str) -> RecallRequest {
    RecallRequest {
        query: query.to_owned(),
        include: Some(vec![Part::Turns]),
        techniques: Some(vec![Technique::Words]),
        ..RecallRequest::default()
    }
}

impl World {
    async fn converse(&self, conversation: &str, channel: &str, news: &[NewTurn]) {
        let new = NewConversation {
            id: Some(conversation.to_owned()),
            channel: Some(channel.to_owned()),
            ..NewConversation::default()
        };
        let caller = self.as_operator();
        self.mnemic.create_conversation(&caller, &new).await.unwrap();
        self.mnemic.add_turns(&caller, conversation, news).await.unwrap();
    }

    async fn heard(&self, request: &RecallRequest) -> Vec<RecalledTurn> {
        let bundle = self.mnemic.recall(&self.operator, request).await.unwrap();
        assert!(bundle.items.is_empty(), "no memories were asked for");
        bundle.turns
    }

    async fn words_heard(&self, request: &RecallRequest) -> Vec<String> {
        self.heard(request).await.into_iter().map(|found| found.turn.content).collect()
    }
}

/// A boat is bought in one session and another matter is spoken of a week later.
async fn boat_talk(w: &World) {
    let start = w.now() - DAY * 30;
    let later = start + DAY * 7;
    let minute = SignedDuration::from_mins(1);
    w.converse(
        "harbour",
        "sailing",
        &[
            said("Ana", start, "Did you buy the boat in the end?"),
            said("Bo", start + minute, "Yes! Nine hundred all in all, and it needs paint."),
            said("Ana", start + minute * 2, "That is a bargain."),
            said("Bo", later, "My sister moved to Porto for her new job."),
            said("Ana", later + minute, "Give her my best, please."),
        ],
    )
    .await;
}

pub(crate) async fn an_answer_is_found_beside_its_question(w: World) {
    boat_talk(&w).await;
    let found = w.words_heard(&ask("How much did Bo pay for the boat?")).await;
    assert_eq!(found[0], "Yes! Nine hundred all in all, and it needs paint.");
    assert!(!found.contains(&"Give her my best, please.".to_owned()), "{found:?}");
    let found = w.words_heard(&ask("Whose sister went to Porto?")).await;
    assert_eq!(found[0], "My sister moved to Porto for her new job.");
}

pub(crate) async fn words_alone_reach_as_far_as_a_talk_stays_with_them(w: World) {
    let (start, minute) = (w.now() - DAY, SignedDuration::from_mins(1));
    let mut talk = vec![said("Ana", start, "Tell me about the boat.")];
    let more = ["One", "Two", "Three", "Four", "Five", "Six", "Seven"];
    talk.extend(more.iter().zip(1..).map(|(it, n)| said("Bo", start + minute * n, it)));
    w.converse("harbour", "sailing", &talk).await;
    let mut found = w.words_heard(&ask("the boat")).await;
    found.sort();
    assert_eq!(found, ["Five", "Four", "One", "Six", "Tell me about the boat.", "Three", "Two"]);
    talk.truncate(4);
    talk.push(said("Bo", start + DAY, "Something else by now."));
    w.converse("quay", "rowing", &talk).await;
    let there = RecallRequest { channel: Some("rowing".to_owned()), ..ask("the boat") };
    let found = w.words_heard(&there).await;
    assert_eq!(found.len(), 4, "another day is another matter: {found:?}");
}

pub(crate) async fn what_was_just_said_is_found_by_its_meaning(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    boat_talk(&w).await;
    let who = w.operator.clone();
    all_have_vectors(&w, &who).await;
    let by_meaning = RecallRequest {
        techniques: Some(vec![Technique::Vectors]),
        explain: true,
        ..ask("moving sisters, new jobs")
    };
    let bundle = w.recall(&who, &by_meaning).await;
    let reports: Vec<_> = bundle.turn_techniques.iter().map(|it| (it.technique, it.hits)).collect();
    assert_eq!(reports, [(Technique::Vectors, 5)]);
    assert!(!bundle.turn_techniques[0].took.is_zero() && bundle.techniques.is_empty());
    let found = bundle.turns;
    assert_eq!(found[0].turn.content, "My sister moved to Porto for her new job.");
    let why = found[0].why.as_ref().unwrap();
    assert_eq!(why.found_by[0].technique, Technique::Vectors);
    assert!(why.shares.iter().any(|(feature, share)| *feature == Feature::Meaning && *share > 0.0));
    assert!(why.shares.iter().all(|(feature, _)| *feature != Feature::Words));
}

pub(crate) async fn what_stands_around_turns_is_in_order_and_told_once(w: World) {
    let (scope, start) = (w.operator.scope(), w.now() - DAY);
    let words = ["one", "two", "three", "four", "five", "six", "seven"];
    for name in ["b", "a"] {
        w.converse(name, "sailing", &words.map(|word| said("Ana", start, word))).await;
    }
    let ids = async |conversation: &str| {
        let turns = w.store().list_turns(scope, conversation, TurnSpan::From(0), 100).await;
        turns.unwrap().into_iter().map(|turn| turn.id).collect::<Vec<_>>()
    };
    let (a, b) = (ids("a").await, ids("b").await);
    let around = async |ids: &[TurnId], reach| {
        let spoken = w.store().said_around(scope, ids, reach).await.unwrap();
        let told = |it: &Arc<Spoken>| format!("{} {}", it.conversation_id, it.content);
        spoken.iter().map(told).collect::<Vec<_>>()
    };
    let found = around(&[b[6], a[3], a[1], b[6]], 1).await;
    let expected = ["a one", "a two", "a three", "a four", "a five", "b six", "b seven"];
    assert_eq!(found, expected);
    assert_eq!(around(&[a[0], b[0]], 0).await, ["a one", "b one"]);
    let spoken = w.store().said_around(scope, &a[..1], 0).await.unwrap().remove(0);
    let turn = w.store().lookup_turns(scope, &a[..1]).await.unwrap().remove(0);
    assert_eq!((spoken.id, spoken.index, spoken.at), (turn.id, turn.index, turn.at));
    assert_eq!(spoken.speaker.as_deref(), Some("Ana"));
    w.mnemic.add_turns(&w.as_operator(), "b", &[said("Bo", start, "eight")]).await.unwrap();
    assert_eq!(around(&b[6..], 1).await, ["b six", "b seven", "b eight"]);
    w.mnemic.erase_conversation(&w.as_operator(), "a").await.unwrap();
    assert!(around(&a, 2).await.is_empty(), "what is gone is told no more");
    let other = w.workspace("elsewhere").await;
    let foreign = w.store().said_around(other.scope(), &b, 1).await.unwrap();
    assert!(foreign.is_empty());
}

pub(crate) async fn turns_stay_within_their_borders(w: World) {
    boat_talk(&w).await;
    let (now, boat) = (w.now(), "the boat");
    w.converse("office", "work", &[said("Cy", now, "The boat on the poster is ours.")]).await;
    let count = async |request: RecallRequest| w.heard(&request).await.len();
    let everywhere = count(ask(boat)).await;
    assert!(everywhere >= 4, "{everywhere}");
    let in_work = RecallRequest { channel: Some("work".to_owned()), ..ask(boat) };
    assert_eq!(w.words_heard(&in_work).await, ["The boat on the poster is ours."]);
    let here = RecallRequest { conversation_id: Some("harbour".to_owned()), ..ask(boat) };
    assert_eq!(count(here).await, everywhere - 1);
    let recent = RecallRequest { since: Some(now - DAY), ..ask(boat) };
    assert_eq!(w.words_heard(&recent).await, ["The boat on the poster is ours."]);
    let long_ago = RecallRequest { until: Some(now - DAY * 29), ..ask(boat) };
    assert_eq!(count(long_ago).await, 3, "neighbours are within the window, too");
    let stranger = w.workspace("strangers").await;
    let bundle = w.mnemic.recall(&stranger, &ask(boat)).await.unwrap();
    assert!(bundle.turns.is_empty());
}

pub(crate) async fn what_is_put_away_is_not_found_until_it_is_spoken_in_again(w: World) {
    boat_talk(&w).await;
    let conversation = w.mnemic.get_conversation(&w.operator, "harbour").await.unwrap();
    let mut put_away = conversation.clone();
    put_away.archived_at = Some(w.now());
    put_away.revision += 1;
    let changes = vec![
        Change::UpdateConversation(put_away),
        Change::PutAwayTurns { conversation: "harbour".to_owned(), at: Some(w.now()) },
    ];
    assert!(!w.words_heard(&ask("the boat")).await.is_empty());
    w.store().commit(w.operator.scope(), changes).await.unwrap();
    assert!(w.words_heard(&ask("the boat")).await.is_empty());
    let again = said("Bo", w.now(), "About that boat again.");
    w.mnemic.add_turns(&w.as_operator(), "harbour", &[again]).await.unwrap();
    assert_eq!(w.words_heard(&ask("boats")).await[0], "About that boat again.");
    assert!(w.words_heard(&ask("the boat")).await.len() > 3);
}

pub(crate) async fn what_was_rolled_up_is_found_no_more(w: World) {
    boat_talk(&w).await;
    let all = RollUp { retain_last: Some(0), max_age_days: Some(1) };
    let made = w.mnemic.summarize_conversation(&w.as_operator(), "harbour", all).await.unwrap();
    assert_eq!(made.len(), 1);
    assert!(w.words_heard(&ask("the boat")).await.is_empty());
}

/// Many turns that differ in one word, and memories of something else that everything lifts.
async fn batch_and_house_rules(w: &World) {
    let start = w.now() - DAY;
    let number = |n: i64| {
        let at = start + SignedDuration::from_secs(n);
        said("Ana", at, &format!("batch turn number {n} about zebra{n}"))
    };
    w.converse("batch", "_global", &(700..800).map(number).collect::<Vec<_>>()).await;
    let rules = [
        "Deploys happen on Tuesday",
        "Coffee comes from the corner shop",
        "The spare key hangs beside the oven",
        "Invoices go out monthly",
        "Lunch is at noon",
    ];
    for rule in rules {
        w.create(&w.operator, NewMemory { pinned: true, ..fact(rule) }).await.unwrap();
    }
}

/// What goes first: the best turn and the best memory with their scores.
async fn firsts(w: &World, asked: &str) -> ((String, f64), (String, f64)) {
    let request = RecallRequest { limit: Some(50), ..query(asked) };
    let bundle = w.mnemic.recall(&w.operator, &request).await.unwrap();
    let turn = bundle.turns.first().map(|it| (it.turn.content.clone(), it.score));
    let memory = bundle.items.first().map(|it| (it.memory.content.clone(), it.score));
    (turn.unwrap_or_default(), memory.unwrap_or_default())
}

pub(crate) async fn what_fits_goes_first_be_it_a_turn_or_a_memory(mut w: World) {
    for with_model in [false, true] {
        if with_model {
            w.embed_with(HashModel::new("small")).await;
            all_have_vectors(&w, &w.operator).await;
        } else {
            batch_and_house_rules(&w).await;
        }
        let exact = "batch turn number 777 about zebra777";
        let (turn, memory) = firsts(&w, "zebra777").await;
        assert_eq!(turn.0, exact);
        assert!(turn.1 > memory.1, "{turn:?} {memory:?}");
        let (turn, memory) = firsts(&w, "which number has zebra777 around noon?").await;
        assert_eq!(turn.0, exact);
        assert!(turn.1 > memory.1, "one word that is not the point: {turn:?} {memory:?}");
        let (turn, memory) = firsts(&w, "Where is the spare key?").await;
        assert_eq!(memory.0, "The spare key hangs beside the oven");
        assert!(memory.1 > turn.1, "{turn:?} {memory:?}");
        let few = RecallRequest { limit: Some(3), ..query("zebra777") };
        let bundle = w.mnemic.recall(&w.operator, &few).await.unwrap();
        assert_eq!(bundle.turns[0].turn.content, exact, "{:?}", contents(&bundle));
    }
}

/// A name leads to much that is about something else.
pub(crate) async fn what_shares_only_a_name_goes_behind_what_answers(mut w: World) {
    let (start, minute) = (w.now() - DAY, SignedDuration::from_mins(1));
    let talk = [
        said("Bo", start, "How was the market on Saturday?"),
        said("Ana", start + minute, "Crowded, as always, and the bread was gone."),
        said("Ana", start + DAY / 2, "The launch moves to May, because the boat needs paint."),
        said("Bo", start + DAY / 2 + minute, "Good to know, I will tell the others."),
    ];
    w.converse("harbour", "sailing", &talk).await;
    let entities = vec!["Ana".to_owned()];
    w.create(&w.operator, NewMemory { entities, ..fact("Ana prefers tea") }).await.unwrap();
    for with_model in [false, true] {
        if with_model {
            w.embed_with(HashModel::new("small")).await;
            all_have_vectors(&w, &w.operator).await;
        }
        let (turn, memory) = firsts(&w, "what did Ana say about the launch?").await;
        assert!(turn.0.starts_with("The launch moves"), "{turn:?}");
        assert!(turn.1 > memory.1, "{turn:?} {memory:?}");
        let (turn, memory) = firsts(&w, "which tea does Ana prefer?").await;
        assert_eq!(memory.0, "Ana prefers tea");
        assert!(memory.1 > turn.1, "{turn:?} {memory:?}");
    }
}

/// Where nothing is asked but what somebody said, there is nothing to search by.
pub(crate) async fn what_is_asked_of_a_time_alone_is_there_if_anything_was_said_then(mut w: World) {
    let now = w.now();
    let all = [said("Ana", now - DAY * 9, "Oars up."), said("Ben", now - DAY, "Rain again.")];
    w.converse("weather", "harbour", &all).await;
    // There are no words to search by.
    w.embed_with(HashModel::new("small")).await;
    all_have_vectors(&w, &w.operator).await;
    let sure = async |asked: &str| {
        let request = RecallRequest { channel: Some("harbour".to_owned()), ..query(asked) };
        let bundle = w.mnemic.recall(&w.operator, &request).await.unwrap();
        (bundle.turns[0].turn.content.clone(), bundle.confidence)
    };
    let day = (now - DAY * 9).strftime("%Y-%m-%d").to_string();
    for (asked, first) in [
        ("what happened yesterday?".to_owned(), "Rain again."),
        (format!("what did everybody say on {day}?"), "Oars up."),
    ] {
        let (said, confidence) = sure(&asked).await;
        assert_eq!(said, first, "{asked}");
        assert!(confidence > 0.5, "{asked}: {confidence}");
    }
    let (_, confidence) = sure("what happened three days ago?").await;
    assert!(confidence < 0.3, "{confidence}");
}

pub(crate) async fn what_somebody_said_last_is_found_among_many(mut w: World) {
    batch_and_house_rules(&w).await;
    let (now, hour) = (w.now(), SignedDuration::from_hours(1));
    let bens = [
        said("Ben", now - DAY * 9, "Oars up."),
        said("Ben", now - DAY, "Rain again."),
        said("Ana", now - DAY + hour, "Rain it is."),
        said("Ben", now - hour, "Sun at last."),
    ];
    w.converse("weather", "sailing", &bens).await;
    w.converse("elsewhere", "rowing", &[said("Ben", now, "Not here.")]).await;
    w.create(&w.operator, fact("Ben prefers tea")).await.unwrap();
    for with_model in [false, true] {
        if with_model {
            w.embed_with(HashModel::new("small")).await;
            all_have_vectors(&w, &w.operator).await;
        }
        let first = async |asked: &str, channel: &str| {
            let channel = Some(channel.to_owned());
            let request = RecallRequest { channel, explain: true, ..query(asked) };
            let bundle = w.mnemic.recall(&w.operator, &request).await.unwrap();
            let best = bundle.items.first().map_or(0.0, |item| item.score);
            assert!(bundle.turns[0].score > best, "{asked}: {best}");
            assert!(bundle.confidence > 0.5, "{asked}: {}", bundle.confidence);
            bundle.turns.into_iter().map(|it| it.turn.content).collect::<Vec<_>>()
        };
        let newest = ["Sun at last.", "Rain again.", "Oars up."];
        assert_eq!(first("what did Ben say?", "sailing").await, newest);
        let dated = ["Rain again.", "Sun at last.", "Oars up."];
        assert_eq!(first("what did Ben say yesterday?", "sailing").await, dated);
        assert_eq!(first("what has Ben said last week?", "sailing").await[0], "Oars up.");
        assert_eq!(first("what did Ben talk about?", "rowing").await, ["Not here."]);
    }
}

pub(crate) async fn an_answer_begins_with_what_fits(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    batch_and_house_rules(&w).await;
    all_have_vectors(&w, &w.operator).await;
    let first = async |question: &str| {
        let request = AskRequest { question: question.to_owned(), channel: None };
        let answered = w.mnemic.ask(&w.operator, &request).await.unwrap();
        answered.citations[0].text.clone()
    };
    assert_eq!(first("zebra777").await, "Ana: batch turn number 777 about zebra777");
    assert_eq!(first("When do deploys happen?").await, "Deploys happen on Tuesday");
}

pub(crate) async fn an_explanation_says_how_well_a_memory_fits(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    batch_and_house_rules(&w).await;
    all_have_vectors(&w, &w.operator).await;
    let fits = async |asked: &str| {
        let include = Some(vec![Part::Memories]);
        let request = RecallRequest { explain: true, include, ..query(asked) };
        let bundle = w.mnemic.recall(&w.operator, &request).await.unwrap();
        assert_eq!(bundle.items.len(), 5, "what does not fit is told, too");
        let fit = |it: &mnemic_core::recall::Recalled| it.why.as_ref().unwrap().factors.fit;
        bundle.items.iter().map(fit).collect::<Vec<_>>()
    };
    let known = fits("Deploys happen on Tuesday").await;
    assert!((known[0] - 1.0).abs() < 1e-6 && known[1..].iter().all(|fit| *fit < 0.5), "{known:?}");
    let unknown = fits("zebra777").await;
    assert!(unknown.iter().all(|fit| *fit > 0.0 && *fit < 0.5), "{unknown:?}");
}
