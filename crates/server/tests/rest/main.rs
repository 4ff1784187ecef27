//! The REST surface on a real store, called as a client would.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod access;
mod canary;
mod erasure;
mod errors;
mod goal;
mod health;
mod house;
mod idempotency;
mod limits;
mod matrix;
mod memory;
mod metric;
mod node;
mod openapi;
mod pattern;
mod procedure;
mod review;
mod run;
mod slot;
mod standing;
mod telemetry;
mod token;
mod workspace;
