//! The index beside the rows: built when somebody asks, or before; dropped for want of room; always
//! with the same answers.

use std::collections::BTreeSet;
use std::time::Duration;

use mnemic_core::memory::MemoryPatch;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::recall::{Part, RecallRequest, Technique};

use crate::model::HashModel;
use crate::recall::all_have_vectors;
use crate::world::{World, by, query};

/// An index may take longer to build than somebody waits for it.
pub(crate) async fn who_leaves_while_an_index_is_built_leaves_it_to_the_next(w: World) {
    for number in 0..20 {
        w.remember(&w.operator, &format!("kettle {number}")).await;
        // It goes with the first poll that has to wait.
        let asked = query("kettle");
        let left = tokio::time::timeout(Duration::ZERO, w.mnemic.recall(&w.operator, &asked)).await;
        drop(left);
    }
    let request = RecallRequest { limit: Some(50), ..query("kettle") };
    let found = BTreeSet::from_iter(w.found(&w.operator, &request).await);
    assert_eq!(found, (0..20).map(|number| format!("kettle {number}")).collect());
}

pub(crate) async fn evicted_indexes_come_back_with_the_same_answers(w: World) {
    let both = [w.workspace("acme").await, w.workspace("globex").await];
    for round in 0..10 {
        for (number, who) in both.iter().enumerate() {
            w.remember(who, &format!("umbrella {round} of {number}")).await;
            let include = Some(vec![Part::Memories]);
            let request = RecallRequest { limit: Some(50), include, ..query("umbrella") };
            let found = BTreeSet::from_iter(w.found(who, &request).await);
            let expected = (0..=round).map(|round| format!("umbrella {round} of {number}"));
            assert_eq!(found, expected.collect(), "round {round}");
        }
    }
    let index = index_of(&w).await;
    assert!(index.starts_with("1 workspaces, 10 items"), "{index}");
}

pub(crate) async fn searches_are_made_ready_before_anybody_asks(w: World) {
    let who = w.workspace("acme").await;
    w.remember(&who, "the umbrella is in the hall").await;
    let w = w.reopen().await;
    w.mnemic.prepare_searches().await;
    let index = index_of(&w).await;
    // A database keeps nothing beside its rows.
    if index.ends_with("in memory") {
        assert!(index.starts_with("2 workspaces, 1 items"), "{index}");
    }
    assert_eq!(w.found(&who, &query("umbrella")).await, ["the umbrella is in the hall"]);
}

pub(crate) async fn without_room_nothing_is_made_ready(w: World) {
    let who = w.workspace("acme").await;
    w.remember(&who, "the umbrella is in the hall").await;
    w.mnemic.prepare_searches().await;
    let index = index_of(&w).await;
    assert!(index.starts_with("0 workspaces, 0 items"), "{index}");
}

/// What a check says of the index.
async fn index_of(w: &World) -> String {
    let findings = w.mnemic.check(false).await.unwrap();
    findings.into_iter().find(|finding| finding.part == "index").unwrap().detail
}

pub(crate) async fn an_index_built_anew_answers_as_the_one_that_grew(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.workspace("acme").await;
    let caller = Caller::new(who.clone());
    let subjects = ["elephants", "umbrellas", "Zürich", "会议", "teapots"];
    for number in 0..60 {
        let subject = subjects[number % subjects.len()];
        let other = subjects[(number / 5) % subjects.len()];
        let memory = w.remember(&who, &format!("{subject} and {other}, note {number}")).await;
        match number % 6 {
            0 => w.mnemic.forget_memory(&caller, memory.id).await.unwrap(),
            1 => drop(w.mnemic.promote_memory(&caller, memory.id).await.unwrap()),
            2 => {
                let content = format!("{other} replaces {subject} in note {number}");
                w.mnemic.supersede_memory(&caller, memory.id, content).await.unwrap();
            }
            3 => {
                let content = Some(format!("{other} corrected, note {number}"));
                let patch = MemoryPatch { content, ..MemoryPatch::default() };
                w.mnemic.update_memory(&caller, memory.id, &patch).await.unwrap();
            }
            4 => drop(w.mnemic.erase_memory(&caller, memory.id).await.unwrap()),
            _ => {}
        }
    }
    all_have_vectors(&w, &who).await;
    let grown = answers(&w, &who, &subjects).await;
    let mut w = w.reopen().await;
    w.embed_with(HashModel::new("small")).await;
    let built = answers(&w, &who, &subjects).await;
    assert_eq!(built, grown);
    assert!(grown.iter().all(|answer| !answer.is_empty()));
}

async fn answers(w: &World, who: &Principal, queries: &[&str]) -> Vec<Vec<(String, String)>> {
    let mut answers = Vec::new();
    for asked in queries {
        for technique in [Technique::Words, Technique::Vectors] {
            let request = RecallRequest { limit: Some(100), explain: true, ..by(technique, asked) };
            let bundle = w.recall(who, &request).await;
            let item = |item: &mnemic_core::recall::Recalled| {
                let score = item.why.as_ref().unwrap().found_by[0].score;
                (item.memory.content.clone(), format!("{score:.4}"))
            };
            answers.push(bundle.items.iter().map(item).collect());
        }
    }
    answers
}
