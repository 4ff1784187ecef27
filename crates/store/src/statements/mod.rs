//! Every statement, once, in the SQL that both engines speak: one file per noun, with the
//! mapping between rows and core's types beside it.
//!
//! PostgreSQL takes the type of a parameter from its first use, so an optional one is compared
//! before it is tested: `(id < $2 OR $2 IS NULL)`.

pub(crate) mod access;
pub(crate) mod action;
pub(crate) mod answer;
pub(crate) mod audit;
pub(crate) mod benchmark;
pub(crate) mod conversation;
pub(crate) mod edge;
pub(crate) mod entity;
pub(crate) mod episode;
pub(crate) mod erasure;
pub(crate) mod fading;
pub(crate) mod goal;
pub(crate) mod intent;
pub(crate) mod job;
pub(crate) mod memory;
pub(crate) mod metric;
pub(crate) mod node;
pub(crate) mod node_search;
pub(crate) mod participant;
pub(crate) mod pattern;
pub(crate) mod profile;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod scratchpad;
pub(crate) mod secret;
pub(crate) mod sequence;
pub(crate) mod showing;
pub(crate) mod sighting;
pub(crate) mod strategy;
pub(crate) mod tally;
pub(crate) mod timeline;
pub(crate) mod token;
pub(crate) mod tool;
pub(crate) mod turn;
pub(crate) mod vector;
pub(crate) mod walk;
pub(crate) mod workspace;

#[cfg(test)]
mod tests;

use mnemic_core::node::Properties;
use mnemic_core::{Code, Error, Result};

use crate::{Expect, Statement, Step, Value};

/// All of them, for the tests that prepare each on every engine and prove its scope.
pub fn all() -> impl Iterator<Item = &'static Statement> {
    [
        workspace::ALL,
        token::ALL,
        memory::ALL,
        edge::ALL,
        node::ALL,
        node_search::ALL,
        walk::ALL,
        entity::ALL,
        run::ALL,
        answer::ALL,
        vector::ALL,
        job::ALL,
        audit::ALL,
        access::ALL,
        sighting::ALL,
        erasure::ALL,
        conversation::ALL,
        turn::ALL,
        episode::ALL,
        participant::ALL,
        goal::ALL,
        strategy::ALL,
        tool::ALL,
        pattern::ALL,
        showing::ALL,
        profile::ALL,
        scratchpad::ALL,
        timeline::ALL,
        secret::ALL,
        review::ALL,
        fading::ALL,
        action::ALL,
        sequence::ALL,
        intent::ALL,
        tally::ALL,
        metric::ALL,
        benchmark::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
    .chain(workspace::CONTENTS.iter().flat_map(|content| [&content.count, &content.empty]))
}

/// A step that must change exactly one row; otherwise somebody else was faster.
fn exactly_one(statement: &'static Statement, params: Vec<Value>) -> Step {
    Step::new(statement, params)
        .expect(Expect::Rows(1))
        .otherwise(Code::Stale, "the record was changed meanwhile; try again")
}

/// A list of names as it is kept.
fn names(names: &[String]) -> Value {
    Value::Json(names.into())
}

/// How many values a statement takes where any of a few will do.
const WISHES: usize = 8;

/// That many: those asked for, the first of them again and again, or nothing at all.
fn wishes(wanted: &[String]) -> Vec<Value> {
    let first = wanted.first();
    let padding = std::iter::repeat(first);
    wanted.iter().map(Some).chain(padding).take(WISHES).map(|wish| wish.cloned().into()).collect()
}

/// Properties as they are kept.
fn object(properties: &Properties) -> Value {
    Value::Json(properties.clone().into())
}

fn object_from(json: serde_json::Value) -> Result<Properties> {
    match json {
        serde_json::Value::Object(properties) => Ok(properties),
        _ => Err(Error::new(Code::Corrupt, "stored properties are damaged")),
    }
}

/// Limits are checked far below this by core.
fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
