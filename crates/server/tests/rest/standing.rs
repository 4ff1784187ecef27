//! Whom a server remembers counts only while the database says the same, whichever server changed it.

use axum::http::Method;
use serde_json::{Value, json};

use crate::house::{House, Reply, id_of};

const ACTIONS: &str = "/v1/workspaces/current/actions";
const SETTINGS: &str = "/v1/workspaces/current/settings";

fn report() -> Value {
    json!({"session_id": "run-1", "action_type": "book", "outcome": "success"})
}

/// Two servers of one database, and the token of a member whom the first has met.
struct Scene {
    here: House,
    there: House,
    token: String,
    token_id: String,
}

impl Scene {
    async fn new() -> Self {
        let here = House::on_postgres().await;
        let there = here.beside().await;
        let made = there.post("/v1/tokens", &json!({"role": "member"})).await.expect(201);
        let (token, token_id) =
            (made["token"].as_str().unwrap().to_owned(), id_of(&made).to_owned());
        let scene = Self { here, there, token, token_id };
        // Looked up the first time, remembered the second.
        scene.report().await.expect(201);
        scene.report().await.expect(201);
        scene
    }

    async fn report(&self) -> Reply {
        self.send(&report()).await
    }

    async fn send(&self, body: &Value) -> Reply {
        self.here.call(Method::POST, ACTIONS, Some(&self.token), Some(body)).await
    }

    async fn reported(&self) -> usize {
        let listed = self.there.get(ACTIONS).await.expect(200);
        listed["items"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_writes_nothing() {
    let scene = Scene::new().await;
    scene.there.delete(&format!("/v1/tokens/{}", scene.token_id)).await.expect(204);
    let unknown = scene.here.call(Method::POST, ACTIONS, Some("mnemic_"), Some(&json!({}))).await;
    for body in [report(), json!({"session_id": 7})] {
        let refused = scene.send(&body).await;
        refused.refused(401, "unauthenticated");
        assert_eq!(refused.text, unknown.text, "every reason looks the same");
    }
    assert_eq!(scene.reported().await, 2);
}

#[tokio::test]
async fn the_master_toggle_counts_at_once() {
    let scene = Scene::new().await;
    let toggle = |on: bool| json!({"memory": {"enabled": on}});
    scene.there.put(SETTINGS, &toggle(false)).await.expect(200);
    assert_eq!(scene.report().await.json()["code"], "memory_disabled");
    assert_eq!(scene.reported().await, 2);
    scene.there.put(SETTINGS, &toggle(true)).await.expect(200);
    scene.report().await.expect(201);
    assert_eq!(scene.reported().await, 3);
}

#[tokio::test]
async fn other_settings_and_grants_count_at_once_and_write_once() {
    let scene = Scene::new().await;
    let audited = async || {
        let path = "/v1/workspaces/current/audit?operation=action.record";
        scene.there.get(path).await.expect(200)["items"].as_array().unwrap().len()
    };
    assert_eq!(audited().await, 2);
    scene.there.put(SETTINGS, &json!({"audit": {"level": "off"}})).await.expect(200);
    scene.report().await.expect(201);
    assert_eq!((scene.reported().await, audited().await), (3, 2));
    let grant = json!({"role": "member", "domain": "law", "permission": "read"});
    scene.there.put("/v1/workspaces/current/grants", &json!([grant])).await.expect(200);
    scene.report().await.expect(201);
    assert_eq!((scene.reported().await, audited().await), (4, 2));
    // Of which a request asks nothing.
    scene.there.put(SETTINGS, &json!({"telemetry": {"holdout": 0.5}})).await.expect(200);
    scene.report().await.expect(201);
    assert_eq!((scene.reported().await, audited().await), (5, 2));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_to_who_may_know() {
    let scene = Scene::new().await;
    scene.send(&json!({"session_id": "run-1"})).await.refused(400, "invalid_field");
    scene.report().await.expect(201);
    assert_eq!(scene.reported().await, 3);
}

#[tokio::test]
async fn a_deleted_workspace_takes_nothing_more() {
    let here = House::on_postgres().await;
    let there = here.beside().await;
    let (workspace, token) = there.neighbour("neighbours").await;
    let body = report();
    for _ in 0..2 {
        here.call(Method::POST, ACTIONS, Some(&token), Some(&body)).await.expect(201);
    }
    there.delete(&format!("/v1/workspaces/{workspace}")).await.expect(200);
    let refused = here.call(Method::POST, ACTIONS, Some(&token), Some(&body)).await;
    refused.refused(401, "unauthenticated");
}
