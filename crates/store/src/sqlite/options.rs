//! Settings of the SQLite engine, each with its limit and its reason.

use std::time::Duration;

/// How an engine is opened; the defaults suit a machine with few cores.
#[derive(Debug, Clone)]
pub struct Options {
    /// Connections that read at the same time.
    pub readers_max: usize,
    /// Batches that share one commit at most, which bounds how long the first of them waits.
    pub group_batches_max: usize,
    /// Batches that wait for the writer at most; further callers wait to be let in.
    pub queue_batches_max: usize,
    /// How long a lock held by another process is waited for.
    pub busy_timeout: Duration,
    /// Page cache of each connection.
    pub cache_kib: u32,
    /// Prepared statements that each connection keeps.
    pub statements_cached_max: usize,
    /// A limit to the size of the database, in pages; none by default.
    pub pages_max: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers_max: 4,
            group_batches_max: 256,
            queue_batches_max: 1_024,
            busy_timeout: Duration::from_secs(5),
            cache_kib: 16 * 1_024,
            statements_cached_max: 256,
            pages_max: None,
        }
    }
}
