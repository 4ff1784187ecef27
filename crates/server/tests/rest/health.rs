//! Probes, metrics and the doctor.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request};
use mnemic_core::embed::EmbedderState;
use serde_json::{Value, json};

use crate::house::{House, Reply};

async fn metrics_for(house: &House, peer: &str, forwarded: bool) -> Reply {
    let mut request = Request::get("/metrics").header("host", "localhost");
    if forwarded {
        request = request.header("x-forwarded-for", "192.0.2.1");
    }
    let peer: SocketAddr = peer.parse().unwrap();
    house.send(request.extension(ConnectInfo(peer)).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn probes_answer_without_a_token() {
    let house = House::new().await;
    let live = house.call(Method::GET, "/livez", None, None).await;
    assert_eq!(live.headers["x-content-type-options"], "nosniff");
    assert_eq!(live.expect(200), json!({"status": "ok", "instance": "instance-1"}));
    for (state, word) in [
        (EmbedderState::Off, "off"),
        (EmbedderState::Loading("3 of 90 MB".to_owned()), "loading"),
        (EmbedderState::Failed("/home/me/secret is gone".to_owned()), "failed"),
    ] {
        house.embedder.set(state);
        let ready = house.call(Method::GET, "/readyz", None, None).await.expect(200);
        let expected = json!({
            "status": "ready", "vectors": false, "embedder": word, "slots": "ready",
        });
        assert_eq!(ready, expected);
    }
    let page = house.call(Method::GET, "/docs/errors", None, None).await;
    assert!(page.text.contains("id=\"not_found\""));
}

#[tokio::test]
async fn metrics_are_for_this_machine_and_name_nobody() {
    let house = House::new().await;
    let memory = house.remember("the secret word").await;
    house.get(&format!("/v1/workspaces/current/memories/{}", crate::house::id_of(&memory))).await;
    house.get("/v1/workspaces/current/memories?q=secret").await.expect(200);
    let shown = metrics_for(&house, "127.0.0.1:5", false).await;
    assert_eq!(shown.status, 200);
    let text = shown.text;
    for expected in [
        "mnemic_http_requests_total{",
        "route=\"/v1/workspaces/{ws}/memories/{id}\"",
        "mnemic_http_request_seconds_bucket{",
        "mnemic_http_requests_in_flight",
        &format!("mnemic_records{{workspace=\"{}\",type=\"memory\"}} 1", house.workspace),
    ] {
        assert!(text.contains(expected), "{expected} is missing in {text}");
    }
    for hidden in ["secret", crate::house::id_of(&memory), &house.operator[..16]] {
        assert!(!text.contains(hidden), "{hidden} is in {text}");
    }
    let unknown = house.call(Method::GET, "/nowhere", None, None).await;
    for (peer, forwarded) in [("192.0.2.1:5", false), ("127.0.0.1:5", true)] {
        let refused = metrics_for(&house, peer, forwarded).await;
        refused.refused(404, "not_found");
        assert_eq!(refused.text, unknown.text);
    }
}

#[tokio::test]
async fn the_doctor_reports_part_by_part() {
    let house = House::new().await;
    for path in ["/v1/doctor", "/v1/doctor?thorough=true"] {
        let report = house.get(path).await.expect(200);
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.len() > 1 && findings.iter().all(|f| f["ok"] == true), "{report}");
    }
}

fn job<'j>(jobs: &'j Value, name: &str) -> &'j Value {
    let mut jobs = jobs["items"].as_array().unwrap().iter();
    jobs.find(|job| job["name"] == name).unwrap()
}

#[tokio::test]
async fn jobs_are_listed_and_run() {
    let house = House::new().await;
    let jobs = house.get("/v1/workspaces/current/jobs").await.expect(200);
    assert_eq!(job(&jobs, "reembed")["last_run"], json!(null));
    let dry = house
        .post("/v1/workspaces/current/jobs/cleanup/run", &json!({"dry_run": true}))
        .await
        .expect(200);
    assert_eq!(dry, json!({"name": "cleanup", "dry_run": true, "changed": 0}));
    house.act("/v1/workspaces/current/jobs/cleanup/run").await.expect(200);
    let jobs = house.get("/v1/workspaces/current/jobs").await.expect(200);
    let cleanup = job(&jobs, "cleanup");
    assert_eq!(cleanup["cadence_seconds"], 86_400);
    assert_eq!(cleanup["last_run"]["error"], json!(null));
    assert!(cleanup["next_run_at"].is_string() && cleanup["running_since"].is_null(), "{cleanup}");
    let run = house.act("/v1/workspaces/current/jobs/reembed/run").await;
    run.refused(503, "model_unavailable");
}
