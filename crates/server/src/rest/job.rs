//! Work by hand: jobs, and the doctor's look at the store. Both may take long, so they have a
//! time limit of their own.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use mnemic_core::principal::{ADMIN, Principal};
use mnemic_core::{Error, Mnemic};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Auth, Body, Name, NoParameters, OptionalJson, Query};
use super::parameters::WorkspacePath;
use super::responses::{BodyFaults, ReadFaults};
use crate::http::problem::Result;
use crate::wire::PageResponse;
use crate::wire::health::DoctorResponse;
use crate::wire::job::{JobReportResponse, JobResponse, RunJobRequest};

pub(super) fn router() -> OpenApiRouter<Arc<Mnemic>> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(run)).routes(routes!(doctor))
}

/// The jobs, and how they stand in this workspace.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/jobs", tag = "jobs", operation_id = "list_jobs",
    params(WorkspacePath),
    responses((status = 200, body = PageResponse<JobResponse>), ReadFaults),
)]
async fn list(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(NoParameters {}): Query<NoParameters>,
) -> Result<Answer<PageResponse<JobResponse>>> {
    let items = mnemic.list_jobs(&principal).await?.into_iter().map(Into::into).collect();
    Ok(Answer(PageResponse { items, next_cursor: None }))
}

#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "describes a path for the OpenAPI document")]
struct JobPath {
    /// The workspace's id, or `current` for the token's own.
    #[param(example = "current")]
    ws: String,
    /// The job's name.
    #[param(example = "reembed")]
    name: String,
}

/// Runs a job and answers when it is done.
///
/// While somebody else runs it, the answer is 409. Jobs go on where they were interrupted, so
/// running one again is harmless and `Idempotency-Key` has no effect.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/jobs/{name}/run", tag = "jobs", operation_id = "run_job",
    params(JobPath), request_body = Option<RunJobRequest>,
    responses((status = 200, body = JobReportResponse), BodyFaults),
)]
async fn run(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Name(name): Name,
    Body(OptionalJson(RunJobRequest { dry_run })): Body<OptionalJson<RunJobRequest>>,
) -> Result<Answer<JobReportResponse>> {
    Ok(Answer(mnemic.run_job(&principal, &name, dry_run).await?.into()))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DoctorParameters {
    /// Read all of the store, which takes long if it is large.
    #[serde(default)]
    #[param(required = false)]
    thorough: bool,
}

/// Checks the store and the model part by part. For admins and operators.
#[utoipa::path(
    get, path = "/v1/doctor", tag = "health", operation_id = "doctor",
    params(DoctorParameters),
    responses((status = 200, body = DoctorResponse), ReadFaults),
)]
async fn doctor(
    State(mnemic): State<Arc<Mnemic>>,
    Auth(principal): Auth,
    Query(parameters): Query<DoctorParameters>,
) -> Result<Answer<DoctorResponse>> {
    may_examine(&principal)?;
    let findings = mnemic.check(parameters.thorough).await?;
    Ok(Answer(DoctorResponse { findings: findings.into_iter().map(Into::into).collect() }))
}

fn may_examine(principal: &Principal) -> Result<(), Error> {
    if principal.operator || principal.role == ADMIN {
        return Ok(());
    }
    Err(Error::denied("only an admin or an operator may look the store over"))
}
