//! Real servers for tests: fetched once, started in temporary directories, stopped and removed
//! when the test process ends, however it ends.
//!
//! For development only; nothing that ships may depend on it. A server that cannot be had is a
//! failure of the test that asked for it, never a reason to skip it.

#![expect(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

mod postgres;
mod redis;
mod tools;
mod upstream;
mod user;

pub use postgres::{Postgres, postgres};
pub use redis::{Redis, redis};
pub use upstream::{Asked, Behaviour, Upstream};
