//! Citations count once per run.

use serde_json::json;

use crate::house::{House, id_of};

#[tokio::test]
async fn a_run_counts_each_citation_once() {
    let house = House::new().await;
    let made = house.remember("cited").await;
    let id = id_of(&made);
    let body =
        json!({"text": format!("[mem:{id}] and [mem:{id}] and [mem:x]"), "outcome": "success"});
    let path = "/v1/workspaces/current/runs/run-1/finish";
    let first = house.post(path, &body).await.expect(200);
    assert_eq!(first["counted"], json!([id]));
    assert_eq!(first["ignored"], json!([{"id": "x", "reason": "malformed"}]));
    let again = house.post(path, &body).await.expect(200);
    assert_eq!(again["counted"], json!([]));
    let memory = house.get(&format!("/v1/workspaces/current/memories/{id}")).await.expect(200);
    assert_eq!(memory["times_referenced"], 1);
    house.post("/v1/workspaces/current/runs/%20/finish", &body).await.refused(400, "invalid_field");
}
