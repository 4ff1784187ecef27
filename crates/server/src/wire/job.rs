//! Jobs on the wire.

use mnemic_core::job::JobReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct JobResponse {
    pub name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct JobReportResponse {
    pub name: String,
    /// How many records it changed.
    pub changed: u64,
}

impl From<JobReport> for JobReportResponse {
    fn from(JobReport { name, changed }: JobReport) -> Self {
        Self { name, changed }
    }
}
