//! What makes a memory go before another, and how sure it is that there is an answer at all.

use jiff::SignedDuration;
use mnemic_core::conversation::{NewConversation, NewTurn};
use mnemic_core::embed::{Embedder as _, Purpose};
use mnemic_core::recall::{
    Bundle, Feature, ItemKind, Part, RecallRequest, SearchFilter, Technique,
};

use uuid::Uuid;

use crate::model::{HashModel, Telling};
use crate::recall::all_have_vectors;
use crate::world::{World, by, contents, query};

const KITCHEN: [&str; 6] = [
    "the spare key hangs beside the oven",
    "the oven needs a new key part and a new door and a new lamp",
    "oven oven oven",
    "lunch is at noon",
    "the door of the garden shed is green",
    "a key question of the meeting was the budget",
];

async fn kitchen(w: &World) {
    for told in KITCHEN {
        w.remember(&w.operator, told).await;
    }
}

fn memories(asked: &str) -> RecallRequest {
    RecallRequest { include: Some(vec![Part::Memories]), explain: true, ..query(asked) }
}

fn shares(bundle: &Bundle, place: usize) -> Vec<(Feature, f64)> {
    bundle.items[place].why.as_ref().unwrap().shares.clone()
}

pub(crate) async fn words_alone_rank_memories_as_their_search_does(w: World) {
    kitchen(&w).await;
    let (who, all) = (w.operator.clone(), SearchFilter::default());
    for asked in ["spare key of the oven", "a new oven door", "the key", "garden budget door"] {
        let hits = w.store().search_words(who.scope(), ItemKind::Memory, asked, &all, 10).await;
        let hits: Vec<_> = hits.unwrap().iter().map(|hit| hit.id).collect();
        let bundle = w.recall(&who, &by(Technique::Words, asked)).await;
        let ranked: Vec<_> = bundle.items.iter().map(|item| item.memory.id.0).collect();
        assert_eq!(ranked, hits, "{asked}");
        let scores: Vec<_> = bundle.items.iter().map(|item| item.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
}

pub(crate) async fn a_word_that_is_asked_twice_counts_twice(w: World) {
    for told in ["the walrus sleeps", "the heron sleeps", "the tiger sleeps"] {
        w.remember(&w.operator, told).await;
    }
    let first = async |asked: &str| w.found(&w.operator, &by(Technique::Words, asked)).await;
    assert_eq!(first("walrus or heron, heron?").await[0], "the heron sleeps");
    assert_eq!(first("walrus, heron: a walrus!").await[0], "the walrus sleeps");
}

pub(crate) async fn memories_are_weighed_by_their_pieces(mut w: World) {
    w.embed_with(Telling(HashModel::new("small"))).await;
    kitchen(&w).await;
    all_have_vectors(&w, &w.operator).await;
    let asked = "spare keys";
    let bundle = w.recall(&w.operator, &memories(asked)).await;
    assert_eq!(contents(&bundle)[0], KITCHEN[0]);
    let of = |place: usize, feature: Feature| {
        let shares = shares(&bundle, place);
        shares.iter().find(|(it, _)| *it == feature).map_or(0.0, |(_, share)| *share)
    };
    assert!(of(0, Feature::Pieces) > 0.2, "{:?}", shares(&bundle, 0));
    let others = (1..bundle.items.len()).map(|place| of(place, Feature::Pieces));
    assert!(
        others.clone().all(|other| of(0, Feature::Pieces) > other),
        "{:?}",
        others.collect::<Vec<_>>()
    );
    let why = bundle.items[0].why.as_ref().unwrap();
    assert!((why.factors.relevance - 1.0).abs() < 1e-9);
    assert!((bundle.items[0].score - why.factors.product()).abs() < 1e-9);
}

/// An engine need not hold the pieces of long texts, and tells of them all the same.
pub(crate) async fn pieces_of_short_and_long_texts_are_compared(mut w: World) {
    let model = Telling(HashModel::new("small"));
    let (stamp, asked) = (model.stamp().clone(), "spare");
    let seen = model.see(vec![asked.to_owned()], Purpose::Query).await.unwrap().remove(0);
    w.embed_with(model).await;
    let long: Vec<_> = (0..99).map(|n| format!("word{n}")).collect();
    let texts = ["a spare key".to_owned(), format!("{} spare", long.join(" ")), long.join(" ")];
    let mut ids = Vec::new();
    for text in &texts {
        ids.push(w.remember(&w.operator, text).await.id.0);
    }
    all_have_vectors(&w, &w.operator).await;
    ids.push(Uuid::nil());
    let (scope, kind) = (w.operator.scope(), ItemKind::Memory);
    let found = w.store().piece_likeness(scope, kind, &stamp, &seen.pieces, &ids).await.unwrap();
    let counts: Vec<_> = found.iter().map(|it| it.as_ref().map(|it| it.pieces)).collect();
    assert_eq!(counts, [Some(3), Some(100), Some(99), None]);
    let near: Vec<_> = found.iter().flatten().map(|it| it.nearest[0]).collect();
    assert!(near[0] > 0.999 && near[1] > 0.999 && near[2] < 0.999, "{near:?}");
}

pub(crate) async fn every_share_of_a_memory_can_be_left_out(mut w: World) {
    w.embed_with(Telling(HashModel::new("small"))).await;
    kitchen(&w).await;
    all_have_vectors(&w, &w.operator).await;
    for feature in [Feature::Words, Feature::Meaning, Feature::Alike, Feature::Pieces] {
        let whole = memories("where is the spare key?");
        let has = |bundle: &Bundle| {
            let mut all = (0..bundle.items.len()).flat_map(|place| shares(bundle, place));
            all.any(|(it, _)| it == feature)
        };
        assert!(has(&w.recall(&w.operator, &whole).await), "{feature:?}");
        let left = RecallRequest { without: vec![feature], ..whole };
        assert!(!has(&w.recall(&w.operator, &left).await), "{feature:?}");
    }
}

pub(crate) async fn what_was_never_told_gets_less_confidence(mut w: World) {
    kitchen(&w).await;
    for with_model in [false, true] {
        if with_model {
            w.embed_with(Telling(HashModel::new("small"))).await;
            all_have_vectors(&w, &w.operator).await;
        }
        let sure = async |asked: &str| w.recall(&w.operator, &query(asked)).await.confidence;
        let told = sure("where does the spare key hang?").await;
        let untold = sure("which submarine did Quentin paint?").await;
        assert!(told > untold + 0.1, "{told} {untold}");
        assert!(told < 1.0 && untold >= 0.0, "{told} {untold}");
        let partly = sure("where does the spare submarine hang?").await;
        assert!(partly < told, "{partly} {told}");
    }
}

pub(crate) async fn what_the_other_one_said_gets_less_confidence(w: World) {
    let start = w.now() - SignedDuration::from_hours(24);
    let lines = [
        ("Ana", "I bought a red sailing boat in the harbour"),
        ("Bo", "How nice"),
        ("Ana", "The boat needs a new sail before summer"),
        ("Bo", "My knees hurt whenever it rains"),
        ("Ana", "See a doctor about that"),
        ("Bo", "Tomorrow, perhaps"),
    ];
    let said = |(place, (speaker, content)): (usize, (&str, &str))| NewTurn {
        role: "user".to_owned(),
        speaker: Some(speaker.to_owned()),
        content: content.to_owned(),
        at: Some(start + SignedDuration::from_secs(i64::try_from(place).unwrap())),
        ..NewTurn::default()
    };
    let news: Vec<_> = lines.into_iter().enumerate().map(said).collect();
    let new = NewConversation { id: Some("harbour".to_owned()), ..NewConversation::default() };
    let caller = w.as_operator();
    w.mnemic.create_conversation(&caller, &new).await.unwrap();
    w.mnemic.add_turns(&caller, "harbour", &news).await.unwrap();
    let sure = async |asked: &str| {
        let request =
            RecallRequest { include: Some(vec![Part::Turns]), ..by(Technique::Words, asked) };
        w.mnemic.recall(&w.operator, &request).await.unwrap().confidence
    };
    let own = sure("Which boat did Ana buy in the harbour?").await;
    let other = sure("Which boat did Bo buy in the harbour?").await;
    let nobody = sure("Which submarine did Bo paint?").await;
    assert!(own > other + 0.2 && own > nobody + 0.2, "{own} {other} {nobody}");
}

pub(crate) async fn of_an_empty_memory_nothing_is_expected(mut w: World) {
    for with_model in [false, true] {
        if with_model {
            w.embed_with(HashModel::new("small")).await;
        }
        let bundle = w.mnemic.recall(&w.operator, &query("where is the key?")).await.unwrap();
        assert!(bundle.items.is_empty() && bundle.confidence.abs() < 1e-9);
    }
}
