//! The files from Hugging Face, at the pinned revision.
//!
//! The hub answers large files with a redirect to its storage, so redirects are followed here,
//! to https only; the address is a constant and the hash decides what is accepted.

use std::time::Duration;

use super::cache::Cache;
use super::pinned::{FETCHED, REPOSITORY, REVISION};
use super::{OnProgress, Progress};
use crate::http::{Client, ClientOptions, describe};

/// Short, because where the hub cannot be reached the next carrier should have its turn at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest silence within a download.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const REDIRECTS_MAX: usize = 5;

pub(super) async fn fetch(cache: &Cache, progress: &OnProgress) -> Result<(), String> {
    let client = Client::new(&ClientOptions {
        connect_timeout: CONNECT_TIMEOUT,
        read_timeout: READ_TIMEOUT,
        redirects_max: REDIRECTS_MAX,
        // Through a proxy, which may well have a private address, the proxy resolves names.
        allow_private: has_proxy(),
    })
    .map_err(|e| e.to_string())?;
    let total = FETCHED.iter().map(|file| file.bytes).sum();
    let mut done = 0;
    for file in FETCHED {
        let name = file.name;
        let url = format!("https://huggingface.co/{REPOSITORY}/resolve/{REVISION}/{name}");
        let url = url.parse().map_err(|_| format!("{url} is not an address"))?;
        let request = client.get(&url).map_err(|e| e.to_string())?;
        let mut response = request.send().await.map_err(|e| describe(&e))?;
        if !response.status().is_success() {
            return Err(format!("{name}: status {}", response.status().as_u16()));
        }
        let mut incoming = cache.begin(file)?;
        while let Some(chunk) = response.chunk().await.map_err(|e| describe(&e))? {
            incoming.write(&chunk)?;
            done += chunk.len() as u64;
            progress(Progress {
                step: format!("fetching {name}"),
                bytes_done: done,
                bytes_total: Some(total),
            });
        }
        super::blocking(move || incoming.finish().map_err(Failure)).await.map_err(|e| e.0)?;
    }
    Ok(())
}

/// Lets text pass where the helper wants to be able to add an error of its own.
pub(super) struct Failure(pub(super) String);

impl From<mnemic_core::error::Error> for Failure {
    fn from(error: mnemic_core::error::Error) -> Self {
        Self(error.to_string())
    }
}

fn has_proxy() -> bool {
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
