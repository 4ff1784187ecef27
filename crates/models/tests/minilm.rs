//! The forward pass against vectors that an independent implementation gave in double precision.

mod support;

use mnemic_core::embed::{Embedder, Purpose};
use mnemic_models::MiniLm;
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
    let model = MiniLm::load(&support::model_files().await, 2).unwrap();
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
