//! The store: the engine port, its implementations, and the statements that run on them.
//!
//! Databases differ in few things, and those few are the methods of [`Engine`]. Everything else
//! is plain SQL that both speak. Nothing outside this crate may know which engine runs, and
//! nothing in it may decide what memory means.

mod batch;
mod cell;
#[cfg(test)]
mod conformance;
mod engine;
mod migration;
mod row;
pub mod scope_check;
pub mod sqlite;
mod statement;
mod value;

pub use batch::{Batch, Expect, Step, Touched};
pub use engine::{CheckDepth, Engine, Finding};
pub use migration::Migration;
pub use row::{Column, Fields, Row};
pub use statement::{Scope, Statement, StatementScope};
pub use value::Value;
