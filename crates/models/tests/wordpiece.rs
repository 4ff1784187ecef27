//! The tokeniser against ids that the reference implementation gave.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use mnemic_models::minilm::{TOKENS_MAX, WordPiece};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
}

/// The fixture, or a larger file of the same form that a developer names.
fn cases() -> Vec<Case> {
    let file = match std::env::var("MNEMIC_TOKEN_CASES") {
        Ok(path) => std::fs::read_to_string(path).unwrap(),
        Err(_) => include_str!("fixtures/tokens.jsonl").to_owned(),
    };
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn equals_the_reference() {
    let files = support::model_files().await;
    let wordpiece = WordPiece::parse(files.vocabulary()).unwrap();
    let cases = cases();
    assert!(cases.len() > 100);
    let mut wrong = 0;
    for case in &cases {
        let ids = wordpiece.encode(&case.text, TOKENS_MAX);
        if ids != case.ids {
            wrong += 1;
            println!("{:?} {:?} {:?}", case.text, ids, case.ids);
        }
    }
    assert_eq!(wrong, 0, "of {} texts", cases.len());
}
