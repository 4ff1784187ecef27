//! Workspaces, their settings and the toggle.

use axum::http::Method;
use serde_json::json;

use crate::house::House;

const SETTINGS: &str = "/v1/workspaces/current/settings";

#[tokio::test]
async fn the_toggle_is_one_value_on_every_path() {
    let house = House::new().await;
    let enabled = async || {
        let own = house.get("/v1/workspaces/current").await.expect(200);
        let settings = house.get(SETTINGS).await.expect(200);
        assert_eq!(own["settings"], settings);
        settings["memory"]["enabled"].as_bool().unwrap()
    };
    assert!(enabled().await);
    house.act("/v1/workspaces/current/memory/disable").await.expect(200);
    assert!(!enabled().await);
    house.act("/v1/workspaces/current/memory/enable").await.expect(200);
    assert!(enabled().await);
    house.put(SETTINGS, &json!({"memory": {"enabled": false}})).await.expect(200);
    assert!(!enabled().await);
    let merged = house.put(SETTINGS, &json!({"memory": {"injection": false}})).await.expect(200);
    assert_eq!(merged["memory"]["enabled"], false);
    let wrong = house.put(SETTINGS, &json!({"memory": {"enable": true}})).await;
    assert!(wrong.refused(400, "invalid_field").contains("memory.enable"));
}

#[tokio::test]
async fn operators_delete_other_workspaces_by_id_and_nobody_else_does() {
    let house = House::new().await;
    let (id, admin) = house.neighbour("neighbours").await;
    let path = format!("/v1/workspaces/{id}");
    house.get(&path).await.refused(404, "not_found");
    let own = format!("/v1/workspaces/{}", house.workspace);
    house.call(Method::DELETE, &own, Some(&admin), None).await.refused(404, "not_found");
    house.delete(&path).await.expect(200);
    house.call(Method::GET, "/v1/workspaces/current", Some(&admin), None).await.expect(401);
    let erased = house.delete(&format!("{path}?hard=true")).await.expect(200);
    assert_eq!((&erased["hard"], &erased["remaining"]), (&json!(true), &json!(0)));
    house.delete(&format!("{path}?hard=true")).await.refused(404, "not_found");
    house.delete("/v1/workspaces/nonsense").await.refused(404, "not_found");
}

#[tokio::test]
async fn names_are_unique() {
    let house = House::new().await;
    let body = json!({"name": "default"});
    house.post("/v1/workspaces", &body).await.refused(409, "conflict");
    let body = json!({"name": "second"});
    let made = house.post_keyed("/v1/workspaces", "k", &body).await.expect(201);
    assert_eq!(made, house.post_keyed("/v1/workspaces", "k", &body).await.expect(201));
    let listed = house.get("/v1/workspaces").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}
