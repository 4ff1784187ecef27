//! The binary as processes: what people type, what agents start, and what happens when any of
//! them dies. Everything here runs the real program on real files and sockets.

#![expect(unreachable_pub, reason = "nothing of a test can be reached from outside")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

mod access;
mod archive;
mod backup;
mod bench;
mod cli;
mod database;
mod erase;
mod fault;
mod hand_over;
mod kill;
mod many;
mod migrate;
mod model;
mod procedure;
mod rollup;
mod secret;
mod serve;
mod setting;
mod slot;
mod support;
