//! Chats through the proxy, and models under it, against an endpoint that behaves well, badly and
//! worse.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod expansion;
mod faults;
mod house;
mod key;
mod proxy;
mod turns;
