//! The process's metrics in Prometheus' text form.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// From the fastest lookups to the longest that a request may take.
const BUCKETS_SECONDS: [f64; 16] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 60.0,
];
const UPKEEP_SECONDS: u64 = 10;

static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Starts recording. There is one recorder for a process, however many servers it runs; if
/// somebody else has installed another, metrics go there and none are shown here.
pub fn install() {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS_SECONDS)
            .ok()?;
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        describe();
        Some(handle)
    });
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("mnemic_http_requests_total", "Requests answered, by route and status");
    describe_histogram!("mnemic_http_request_seconds", "Time to the head of the answer, by route");
    describe_gauge!("mnemic_http_requests_in_flight", "Requests being worked on");
    describe_histogram!("mnemic_recall_seconds", "Time of a whole recall");
    describe_histogram!("mnemic_recall_technique_seconds", "Time of one technique in a recall");
    describe_gauge!("mnemic_embedding_queue", "Texts that wait for their vectors");
    describe_counter!("mnemic_embedded_total", "Texts that were given vectors");
}

/// What has been recorded so far, or nothing if it is recorded elsewhere.
pub fn render() -> Option<String> {
    HANDLE.get().and_then(Option::as_ref).map(PrometheusHandle::render)
}

/// Sorts samples into their buckets every now and then, so that they do not pile up while
/// nobody reads the metrics.
pub fn upkeep() {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    static DONE_AT_SECOND: AtomicU64 = AtomicU64::new(0);
    let Some(Some(handle)) = HANDLE.get() else { return };
    let now = STARTED.get_or_init(Instant::now).elapsed().as_secs();
    let last = DONE_AT_SECOND.load(Ordering::Relaxed);
    let mine =
        || DONE_AT_SECOND.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if now >= last + UPKEEP_SECONDS && mine() {
        handle.run_upkeep();
    }
}
