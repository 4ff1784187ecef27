//! Receipts of erasures on the wire.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mnemic_core::erasure::{Files, Receipt};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct SubjectResponse {
    /// `memory`, `stale`, `node`, `connection`, `conversation` or `user`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What was named; null for stale memories.
    pub id: Option<String>,
}

/// What became of the store's own files: `rewritten`, they hold nothing of it; `pending`, they could
/// not be written anew, and are with the next erasure, or with this request sent again;
/// `left_to_database`, they are a database server's, which lets go of deleted rows in its own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilesWire {
    Rewritten,
    Pending,
    LeftToDatabase,
}

impl From<Files> for FilesWire {
    fn from(files: Files) -> Self {
        match files {
            Files::Rewritten => Self::Rewritten,
            Files::Pending => Self::Pending,
            Files::LeftToDatabase => Self::LeftToDatabase,
        }
    }
}

/// The proof of an erasure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ReceiptResponse {
    /// Also named by the audit's entry.
    pub id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    pub erased_at: Timestamp,
    pub subject: SubjectResponse,
    /// What was removed or blanked, by noun; what there was nothing of is left out.
    #[schemars(schema_with = "counts")]
    pub counts: BTreeMap<String, u64>,
    /// How many tombstones were set, which keep it from coming back.
    pub tombstones: u64,
    pub files: FilesWire,
}

/// Names with whole numbers.
fn counts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}})
}

impl From<Receipt> for ReceiptResponse {
    fn from(receipt: Receipt) -> Self {
        let Receipt { id, erased_at, subject, subject_id, counts, tombstones, files } = receipt;
        let kind = subject.as_str().to_owned();
        let subject = SubjectResponse { kind, id: Some(subject_id).filter(|id| !id.is_empty()) };
        Self { id, erased_at, subject, counts, tombstones, files: files.into() }
    }
}

impl ReceiptResponse {
    /// Its counts in words: `3 edges, 1 memories`.
    pub fn summary(&self) -> String {
        let counts = self.counts.iter().map(|(noun, count)| format!("{count} {noun}"));
        let counts: Vec<_> = counts.collect();
        if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
    }
}
