//! The forward pass against vectors that an independent implementation gave in double precision.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use mnemic_core::embed::{Embedder, Purpose, Question};
use mnemic_models::MiniLm;
use mnemic_models::minilm::{Memory, Precision, TEXTS};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
    vector: Vec<f32>,
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn equals_the_reference_alone_and_packed() {
    let model = MiniLm::load(&support::model_files().await, 2, Precision::F32).unwrap();
    let cases: Vec<Case> = serde_json::from_str(include_str!("fixtures/vectors.json")).unwrap();
    let texts: Vec<String> = cases.iter().map(|case| case.text.clone()).collect();
    let packed = model.embed(texts.clone(), Purpose::Document).await.unwrap();
    assert_eq!(packed.len(), cases.len());
    for ((case, packed), text) in cases.iter().zip(&packed).zip(texts) {
        let alone = model.embed(vec![text], Purpose::Query).await.unwrap().remove(0);
        for vector in [packed, &alone] {
            let similarity = cosine(vector, &case.vector);
            assert!(similarity > 0.99999, "{similarity} for {:?}", case.text);
            assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
        }
    }
}

/// Small integers are close enough to be compared with floating point, whatever the text; where
/// the processor has no instructions for them, the two are the same.
#[tokio::test(flavor = "multi_thread")]
async fn small_integers_give_nearly_the_same_vectors() {
    let files = support::model_files().await;
    let full = MiniLm::load(&files, 1, Precision::F32).unwrap();
    let auto = MiniLm::load(&files, 1, Precision::Auto).unwrap();
    assert_eq!(full.int8(), None);
    let mut memory = Memory::default();
    let mut cosines = Vec::new();
    for text in TEXTS.lines() {
        let (a, b) = (full.see_here(text, &mut memory), auto.see_here(text, &mut memory));
        assert_eq!(a.pieces.len(), b.pieces.len());
        assert!(auto.int8().is_some() || a == b, "{text}");
        cosines.push(cosine(&a.vector, &b.vector));
        assert!(cosines.iter().all(|&cosine| cosine > 0.99), "{cosines:?} for {text}");
    }
    let mean = cosines.iter().sum::<f32>() / f32::from(u16::try_from(cosines.len()).unwrap());
    assert!(mean > 0.995, "{mean}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_list_is_an_empty_answer() {
    let model = MiniLm::load(&support::model_files().await, 1, Precision::F32).unwrap();
    assert!(model.embed(Vec::new(), Purpose::Query).await.unwrap().is_empty());
    let stamp = model.stamp();
    assert_eq!((stamp.name.as_str(), stamp.dimensions), ("all-MiniLM-L6-v2", 384));
}

/// Each takes one thread some 70 ms.
fn pile(count: usize) -> Vec<String> {
    vec!["many long documents are embedded here while somebody asks ".repeat(40); count]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_overtakes_documents() {
    let model = Arc::new(MiniLm::load(&support::model_files().await, 1, Precision::F32).unwrap());
    let documents = tokio::spawn({
        let model = Arc::clone(&model);
        async move { model.embed(pile(20), Purpose::Document).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    for _ in 0..2 {
        let query = vec!["who asks".to_owned()];
        assert_eq!(model.embed(query, Purpose::Query).await.unwrap().len(), 1);
        assert!(!documents.is_finished(), "the query came after the documents");
    }
    let vectors = documents.await.unwrap().unwrap();
    assert!(vectors.len() == 20 && vectors.iter().all(|vector| vector.len() == 384));
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_nobody_waits_for_is_dropped() {
    let model = MiniLm::load(&support::model_files().await, 1, Precision::F32).unwrap();
    let gone = model.embed(pile(2000), Purpose::Document);
    assert!(tokio::time::timeout(Duration::from_millis(50), gone).await.is_err());
    let next = model.embed(vec!["still there".to_owned()], Purpose::Document);
    // All of the pile would take minutes.
    let vectors = tokio::time::timeout(Duration::from_secs(20), next).await.unwrap().unwrap();
    assert_eq!(vectors.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_aside_is_seen_beside_the_text_and_not_in_it() {
    let model = MiniLm::load(&support::model_files().await, 1, Precision::F32).unwrap();
    let question = |words: &str, aside: &str| Question {
        whole: String::new(),
        words: words.to_owned(),
        aside: aside.to_owned(),
    };
    let words = "When did paint the boat?";
    let alone = model.see(vec![words.to_owned()], Purpose::Query).await.unwrap().remove(0);
    let asked = model.see_question(question(words, "Caroline's")).await.unwrap();
    assert!(cosine(&asked.words.vector, &alone.vector) > 0.99999);
    assert_eq!(asked.words.pieces.len(), alone.pieces.len());
    let mut pieces = asked.words.pieces.chunks(384).zip(alone.pieces.chunks(384));
    assert!(pieces.all(|(asked, alone)| cosine(asked, alone) > 0.99999));
    assert!((cosine(&asked.whole.vector, &asked.whole.vector) - 1.0).abs() < 1e-5);
    assert!(asked.whole.pieces.len() > asked.words.pieces.len(), "names have pieces, too");
    assert!(asked.whole.pieces.starts_with(&asked.words.pieces));
    let named = ["Caroline painted the boat", "Melanie painted the boat"].map(str::to_owned);
    let named = model.embed(named.to_vec(), Purpose::Document).await.unwrap();
    let nearer = |vector: &[f32]| cosine(vector, &named[0]) - cosine(vector, &named[1]);
    assert!(
        nearer(&asked.whole.vector) > nearer(&alone.vector) + 0.1,
        "{}",
        nearer(&asked.whole.vector)
    );
    let nobody = model.see_question(question(words, "")).await.unwrap();
    assert_eq!(nobody.whole, nobody.words);
    let long = question(&"long ".repeat(300), &"Ana ".repeat(90));
    let long = model.see_question(long).await.unwrap();
    assert!(cosine(&long.whole.vector, &named[0]).is_finite());
}
