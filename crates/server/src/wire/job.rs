//! Jobs on the wire.

use jiff::Timestamp;
use mnemic_core::job::{JobReport, JobState, LastRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunJobRequest {
    /// Change nothing, and say how much would have been changed.
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct JobResponse {
    pub name: String,
    /// How often it runs by itself; absent if only when it is called for.
    pub cadence_seconds: Option<u64>,
    /// Since when it runs, if it does.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub running_since: Option<Timestamp>,
    pub last_run: Option<LastRunResponse>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_run_at: Option<Timestamp>,
    /// How far it is behind its schedule.
    pub lag_seconds: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct LastRunResponse {
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub finished_at: Timestamp,
    pub changed: u64,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct JobReportResponse {
    pub name: String,
    /// Nothing was changed; `changed` is what would have been.
    pub dry_run: bool,
    /// How many records it changed.
    pub changed: u64,
}

impl From<JobState> for JobResponse {
    fn from(state: JobState) -> Self {
        let JobState { name, cadence_seconds, running_since, last_run, next_run_at, lag_seconds } =
            state;
        let last_run = last_run.map(|LastRun { started_at, finished_at, changed, error }| {
            LastRunResponse { started_at, finished_at, changed, error }
        });
        Self { name, cadence_seconds, running_since, last_run, next_run_at, lag_seconds }
    }
}

impl From<JobReport> for JobReportResponse {
    fn from(JobReport { name, dry_run, changed }: JobReport) -> Self {
        Self { name, dry_run, changed }
    }
}
