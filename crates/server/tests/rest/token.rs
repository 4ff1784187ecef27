//! Tokens are shown once, listed without their secrets, and refused once revoked.

use axum::http::Method;
use serde_json::json;

use crate::house::{House, id_of};

#[tokio::test]
async fn a_secret_is_shown_once() {
    let house = House::new().await;
    let wish = json!({"role": "agent", "agent": "helper"});
    let made = house.post("/v1/tokens", &wish).await.expect(201);
    let secret = made["token"].as_str().unwrap();
    let listed = house.get("/v1/tokens").await;
    assert!(!listed.text.contains(secret));
    let listed = listed.expect(200);
    assert!(listed["items"].as_array().unwrap().iter().any(|t| t["id"] == made["id"]));
    let path = format!("/v1/tokens/{}", id_of(&made));
    house.delete(&path).await.expect(204);
    house.delete(&path).await.expect(204);
    let reply = house.call(Method::GET, "/v1/workspaces/current", Some(secret), None).await;
    reply.refused(401, "unauthenticated");
}

#[tokio::test]
async fn admins_manage_their_own_workspace_only() {
    let house = House::new().await;
    let (_, admin) = house.neighbour("neighbours").await;
    let ask = |wish| {
        let (house, admin) = (&house, &admin);
        async move { house.call(Method::POST, "/v1/tokens", Some(admin), Some(&wish)).await }
    };
    ask(json!({"role": "member"})).await.expect(201);
    ask(json!({"role": "admin", "operator": true})).await.refused(403, "denied");
    let foreign = ask(json!({"role": "member", "workspace": "default"})).await;
    let absent = ask(json!({"role": "member", "workspace": "nowhere"})).await;
    foreign.refused(404, "not_found");
    assert_eq!(foreign.text, absent.text);
    let path = "/v1/workspaces";
    let made = house.call(Method::POST, path, Some(&admin), Some(&json!({"name": "x"}))).await;
    made.refused(403, "denied");
}
