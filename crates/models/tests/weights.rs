//! The chain that the weights come through, as far as it can be tried without fetching again.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mnemic_core::error::{Code, Error, Kind};
use mnemic_models::{ModelFiles, WeightsSource, default_cache, obtain};

async fn from(path: Option<&Path>, cache: &Path) -> Result<ModelFiles, Error> {
    let source =
        WeightsSource { path: path.map(Into::into), cache: cache.to_owned(), offline: true };
    obtain(&source, Arc::new(|_| {})).await
}

/// The directory in which the chain left the files.
async fn fetched() -> std::path::PathBuf {
    support::model_files().await;
    let entries = fs::read_dir(default_cache()).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("model.safetensors").exists())
        .expect("the cache has the weights")
}

#[tokio::test]
async fn a_path_serves_as_directory_and_as_file() {
    let dir = fetched().await;
    let nowhere = tempfile::tempdir().unwrap();
    for path in [dir.clone(), dir.join("model.safetensors")] {
        let files = from(Some(&path), nowhere.path()).await.unwrap();
        assert!(files.hash().starts_with("53aa51172d14"));
    }
}

#[tokio::test]
async fn a_wrong_path_is_an_error_although_the_cache_would_serve() {
    support::model_files().await;
    let empty = tempfile::tempdir().unwrap();
    let error = from(Some(empty.path()), &default_cache()).await.err().unwrap();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(error.to_string().contains("model.safetensors"), "{error}");
}

#[tokio::test]
async fn damaged_files_in_the_cache_are_not_used() {
    let dir = fetched().await;
    let root = tempfile::tempdir().unwrap();
    let copy = root.path().join(dir.file_name().unwrap());
    fs::create_dir(&copy).unwrap();
    let mut bytes = fs::read(dir.join("model.safetensors")).unwrap();
    fs::copy(dir.join("vocab.txt"), copy.join("vocab.txt")).unwrap();
    fs::write(copy.join("model.safetensors"), &bytes).unwrap();
    from(None, root.path()).await.unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(copy.join("model.safetensors"), &bytes).unwrap();
    let error = from(None, root.path()).await.err().unwrap();
    assert!(error.to_string().contains("wrong sha256"), "{error}");
}

#[tokio::test]
async fn the_error_says_what_was_tried_and_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let error = from(None, empty.path()).await.err().unwrap();
    assert_eq!(error.code(), Code::ModelUnavailable);
    for part in ["the cache", "fetching is switched off", "set the model path"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
