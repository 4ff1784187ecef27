//! What is made of a question before it is searched for, on the wire.

use jiff::Timestamp;
use mnemic_core::recall::Guess;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::memory::KindWire;
use super::recall::millis;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct StretchWire {
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// No part of it.
    #[schema(value_type = String, format = DateTime)]
    pub until: Timestamp,
}

/// What a language model made of a question. It is made up, and says only what was looked for.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ExpansionWire {
    /// The question as the statement that would answer it.
    pub statement: String,
    /// As the answer might stand in memory.
    pub passage: String,
    pub keywords: Vec<String>,
    /// The time that is asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// The kind of memory that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindWire>,
    /// The model that made it.
    pub by: String,
    pub took_ms: f64,
}

impl From<(Timestamp, Timestamp)> for StretchWire {
    fn from((since, until): (Timestamp, Timestamp)) -> Self {
        Self { since, until }
    }
}

impl From<Guess> for ExpansionWire {
    fn from(guess: Guess) -> Self {
        let Guess { statement, passage, keywords, since, until, kind, by, took } = guess;
        let (kind, took_ms) = (kind.map(Into::into), millis(took));
        Self { statement, passage, keywords, since, until, kind, by, took_ms }
    }
}
