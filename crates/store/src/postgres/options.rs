//! Settings of the PostgreSQL engine, each with its limit and its reason.

use std::time::Duration;

/// How an engine is opened; the defaults suit a server beside others.
#[derive(Debug, Clone)]
pub struct Options {
    /// Connections at most; the database's own limit is shared by all servers.
    pub connections_max: usize,
    /// How long a connection is waited for when all are in use.
    pub wait_timeout: Duration,
    /// How long a new connection may take.
    pub connect_timeout: Duration,
    /// How long a statement may run before the database stops it.
    pub statement_timeout: Duration,
    /// How long a batch is tried again while others change the same.
    pub contention_timeout: Duration,
    /// Up to so many rows that pass a filter are scanned for the nearest; among more, a graph is
    /// walked. At 384 dimensions the two cost about the same here.
    pub scanned_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections_max: 16,
            wait_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            contention_timeout: Duration::from_secs(10),
            scanned_max: 20_000,
        }
    }
}
