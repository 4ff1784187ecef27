//! How well the server is, on the wire.

use mnemic_core::store::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct LiveResponse {
    /// `ok`.
    pub status: String,
    /// Names this process, so that others can tell whom they reached.
    pub instance: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct ReadyResponse {
    /// `ready`.
    pub status: String,
    /// Whether recall finds by meaning; otherwise words alone serve.
    pub vectors: bool,
    pub embedder: EmbedderWire,
    /// Whether slots can be used; everything else serves without them.
    pub slots: SlotsWire,
}

/// How far the embedding model is from serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmbedderWire {
    Off,
    Loading,
    Ready,
    Failed,
}

/// Whether what keeps slots answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlotsWire {
    Ready,
    Away,
}

/// What was looked at, part by part.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct DoctorResponse {
    pub findings: Vec<FindingResponse>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct FindingResponse {
    pub part: String,
    pub ok: bool,
    /// What is so, or what is wrong and what to do.
    pub detail: String,
}

impl From<Finding> for FindingResponse {
    fn from(Finding { part, ok, detail }: Finding) -> Self {
        Self { part, ok, detail }
    }
}
