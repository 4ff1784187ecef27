//! Probes and metrics, for whoever keeps the server running. None needs a token, so none says
//! anything about what is stored, and paths and addresses in findings stay inside.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json as Answer;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use mnemic_core::embed::{EmbedderSlot, EmbedderState};
use mnemic_core::ids::WorkspaceId;
use mnemic_core::{Code, Mnemic};
use tokio::sync::Mutex;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::responses::{ProbeFaults, ReadyFaults};
use crate::http::metrics;
use crate::http::peer::Peer;
use crate::http::problem::{Problem, Result};
use crate::wire::health::{EmbedderWire, LiveResponse, ReadyResponse, SlotsWire};

const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Anyone can ask whether the server is ready; the store is asked at most this often.
const READY_AGE_MAX: Duration = Duration::from_secs(1);
/// A probe must not be late because what keeps slots does not answer.
const SLOTS_PATIENCE: Duration = Duration::from_millis(250);
const SIZES_AGE_MAX: Duration = Duration::from_secs(15);

type Sizes = Vec<(WorkspaceId, u64)>;

/// What the probes look at.
pub(crate) struct Health {
    mnemic: Arc<Mnemic>,
    embedder: EmbedderSlot,
    instance: String,
    ready: Mutex<Option<(Instant, bool)>>,
    slots: Mutex<Option<(Instant, bool)>>,
    sizes: Mutex<Option<(Instant, Sizes)>>,
}

impl Health {
    pub(crate) fn new(mnemic: Arc<Mnemic>, embedder: EmbedderSlot, instance: String) -> Self {
        Self {
            mnemic,
            embedder,
            instance,
            ready: Mutex::default(),
            slots: Mutex::default(),
            sizes: Mutex::default(),
        }
    }

    /// Whether the store answers. Looking for damage is `doctor`'s, because that reads all of it;
    /// and the model does not count: words serve alone.
    async fn store_answers(&self) -> bool {
        let mut ready = self.ready.lock().await;
        if let Some((at, well)) = *ready
            && at.elapsed() < READY_AGE_MAX
        {
            return well;
        }
        let answer = self.mnemic.ping().await;
        if let Err(error) = &answer {
            tracing::warn!(%error, "the store does not answer");
        }
        let well = answer.is_ok();
        *ready = Some((Instant::now(), well));
        well
    }

    async fn slots_answer(&self) -> bool {
        let mut known = self.slots.lock().await;
        if let Some((at, well)) = *known
            && at.elapsed() < READY_AGE_MAX
        {
            return well;
        }
        let answer = tokio::time::timeout(SLOTS_PATIENCE, self.mnemic.ping_slots()).await;
        let well = matches!(answer, Ok(Ok(())));
        *known = Some((Instant::now(), well));
        well
    }

    async fn sizes(&self) -> Sizes {
        let mut sizes = self.sizes.lock().await;
        if let Some((at, known)) = &*sizes
            && at.elapsed() < SIZES_AGE_MAX
        {
            return known.clone();
        }
        match self.mnemic.sizes().await {
            Ok(counted) => {
                *sizes = Some((Instant::now(), counted.clone()));
                counted
            }
            Err(error) => {
                tracing::warn!(%error, "the sizes of the workspaces are not known");
                vec![]
            }
        }
    }
}

pub(super) fn router(health: Arc<Health>) -> OpenApiRouter {
    OpenApiRouter::default()
        .routes(routes!(livez))
        .routes(routes!(readyz))
        .routes(routes!(show_metrics))
        .with_state(health)
}

/// Whether the process runs.
#[utoipa::path(
    get, path = "/livez", tag = "health", operation_id = "livez", security(()),
    responses((status = 200, body = LiveResponse), ProbeFaults),
)]
async fn livez(State(health): State<Arc<Health>>) -> Answer<LiveResponse> {
    Answer(LiveResponse { status: "ok".to_owned(), instance: health.instance.clone() })
}

/// Whether it can serve: 503 while the store does not answer.
///
/// A model that is still loading or missing does not stop it: words alone serve meanwhile. Nor
/// do slots that are away: everything else serves.
#[utoipa::path(
    get, path = "/readyz", tag = "health", operation_id = "readyz", security(()),
    responses((status = 200, body = ReadyResponse), ReadyFaults),
)]
async fn readyz(State(health): State<Arc<Health>>) -> Result<Answer<ReadyResponse>> {
    if !health.store_answers().await {
        let detail = "the store does not answer; `mnemic doctor` says what is wrong";
        return Err(Problem::new(Code::StoreUnavailable, detail));
    }
    let embedder = match health.embedder.state() {
        EmbedderState::Off => EmbedderWire::Off,
        EmbedderState::Loading(_) => EmbedderWire::Loading,
        EmbedderState::Ready(_) => EmbedderWire::Ready,
        EmbedderState::Failed(_) => EmbedderWire::Failed,
    };
    let vectors = embedder == EmbedderWire::Ready;
    let slots = if health.slots_answer().await { SlotsWire::Ready } else { SlotsWire::Away };
    Ok(Answer(ReadyResponse { status: "ready".to_owned(), vectors, embedder, slots }))
}

/// Metrics in Prometheus' text form, for processes of this machine only.
#[utoipa::path(
    get, path = "/metrics", tag = "health", operation_id = "metrics", security(()),
    responses(
        (status = 200, description = "Prometheus' text form", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8"),
        (status = 404, description = "Asked from elsewhere",
            body = crate::http::problem::ProblemBody, content_type = "application/problem+json"),
        ProbeFaults,
    ),
)]
async fn show_metrics(State(health): State<Arc<Health>>, peer: Peer) -> Result<Response> {
    let text = if peer.is_local { metrics::render() } else { None };
    let mut text = text.ok_or_else(Problem::no_such_address)?;
    text.push_str("# HELP mnemic_records Records kept, by workspace and type\n");
    text.push_str("# TYPE mnemic_records gauge\n");
    for (workspace, count) in health.sizes().await {
        let _ =
            writeln!(text, "mnemic_records{{workspace=\"{workspace}\",type=\"memory\"}} {count}");
    }
    Ok(([(CONTENT_TYPE, METRICS_TYPE)], text).into_response())
}
