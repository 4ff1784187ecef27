//! The MCP surface on a real store, called as clients of either era would.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capture;
mod edge;
mod eras;
mod house;
mod metrics;
mod patterns;
mod prompts;
mod resources;
mod shape;
mod slots;
mod tools;
