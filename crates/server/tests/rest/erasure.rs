//! Erasure over REST: receipts, and what becomes of what was erased.

use axum::http::Method;
use serde_json::json;

use crate::house::{House, id_of};

const OWN: &str = "/v1/workspaces/current";
const MEMORIES: &str = "/v1/workspaces/current/memories";

#[tokio::test]
async fn an_erased_memory_is_refused_until_it_is_revived() {
    let house = House::new().await;
    let made = house.remember("Tea is at four").await;
    let path = format!("{MEMORIES}/{}?hard=true", id_of(&made));
    let receipt = house.delete(&path).await.expect(200);
    assert_eq!(receipt["subject"], json!({"type": "memory", "id": made["id"]}));
    assert_eq!(receipt["counts"], json!({"memories": 1}));
    assert_eq!((&receipt["tombstones"], &receipt["files"]), (&json!(2), &json!("rewritten")));
    assert!(receipt["id"].is_string() && receipt["erased_at"].is_string(), "{receipt}");
    house.delete(&path).await.refused(404, "not_found");

    let again = json!({"content": "Tea  is at four"});
    let detail = house.post(MEMORIES, &again).await.refused(409, "erased");
    let (second, _) = receipt["erased_at"].as_str().unwrap().split_at(19);
    assert!(detail.contains(second) && detail.contains("revive: true"), "{detail}");
    let other = house.remember("Tea is at five").await;
    let path = format!("{MEMORIES}/{}", id_of(&other));
    house.patch(&path, &again).await.refused(409, "erased");
    house.post(&format!("{path}/supersede"), &again).await.refused(409, "erased");

    let agent = house.token(&json!({"role": "agent"})).await;
    let revive = json!({"content": "Tea is at four", "revive": true});
    let denied = house.call(Method::POST, MEMORIES, Some(&agent), Some(&revive)).await;
    assert!(denied.refused(403, "denied").starts_with("revive: "));
    house.post(MEMORIES, &revive).await.expect(201);
    house.post(MEMORIES, &again).await.expect(201);
}

#[tokio::test]
async fn an_import_can_leave_out_what_was_erased() {
    let house = House::new().await;
    let made = house.remember("b").await;
    let path = format!("{MEMORIES}/{}?hard=true", id_of(&made));
    let receipt = house.delete(&path).await.expect(200);
    let batch = json!([{"content": "a"}, {"content": "b"}, {"content": "c"}]);
    let detail = house.post(MEMORIES, &batch).await.refused(409, "erased");
    assert!(detail.starts_with("[1].content"), "{detail}");
    let skipping = format!("{MEMORIES}?erased=skip");
    let imported = house.post_keyed(&skipping, "k", &batch).await.expect(201);
    let contents: Vec<_> =
        imported["items"].as_array().unwrap().iter().map(|item| &item["content"]).collect();
    assert_eq!(contents, ["a", "c"]);
    let skipped = json!([{"index": 1, "erased_at": receipt["erased_at"]}]);
    assert_eq!(imported["skipped"], skipped);
    assert_eq!(house.post_keyed(&skipping, "k", &batch).await.expect(201), imported);
    house.post(&skipping, &json!({"content": "b"})).await.refused(400, "invalid_field");
    house.post(&format!("{MEMORIES}?erased=keep"), &batch).await.expect(400);
    let plain = house.post(MEMORIES, &json!([{"content": "d"}])).await.expect(201);
    assert!(plain.get("skipped").is_none(), "{plain}");
}

#[tokio::test]
async fn nodes_and_connections_go_with_a_receipt() {
    let house = House::new().await;
    let nodes = format!("{OWN}/ontology/nodes");
    let ana = json!({"type": "person", "name": "Ana", "aliases": ["A. Diaz"]});
    let made = house.post(&nodes, &ana).await.expect(201);
    let path = format!("{nodes}/{}", id_of(&made));
    house.delete(&path).await.expect(204);
    let receipt = house.delete(&format!("{path}?hard=true")).await.expect(200);
    assert_eq!(receipt["counts"], json!({"nodes": 1}), "its names went when it was hidden");
    let subject = (&receipt["subject"]["type"], &receipt["tombstones"]);
    assert_eq!(subject, (&json!("node"), &json!(5)), "two names, also as entities, and the record");
    house.post(&nodes, &ana).await.refused(409, "erased");
    let revived = json!({"type": "person", "name": "Ana", "revive": true});
    house.post(&nodes, &revived).await.expect(201);

    let bo = json!({"type": "person", "name": "Bo", "connection_id": "crm"});
    house.post(&nodes, &bo).await.expect(201);
    let receipt = house.delete(&format!("{OWN}/ontology/connections/crm")).await.expect(200);
    assert_eq!(receipt["subject"], json!({"type": "connection", "id": "crm"}));
    assert_eq!(receipt["counts"]["nodes"], 1);
    house.post(&nodes, &bo).await.expect(201);
}

#[tokio::test]
async fn a_purge_has_a_receipt_if_it_erased_anything() {
    let house = House::new().await;
    let path = format!("{MEMORIES}/purge");
    let everything = json!({"older_than_days": 0});
    assert!(house.post(&path, &everything).await.expect(200)["receipt"].is_null());
    house.remember("a").await;
    let purged = house.post(&path, &everything).await.expect(200);
    assert_eq!(purged["receipt"]["subject"], json!({"type": "stale", "id": null}));
    assert_eq!(purged["receipt"]["counts"]["memories"], 1);
    house.remember("a").await;
}

#[tokio::test]
async fn a_conversation_and_a_user_are_erased() {
    let house = House::new().await;
    let conversation = format!("{OWN}/conversations/c1");
    house.delete(&conversation).await.refused(404, "not_found");
    house.put(&format!("{conversation}/slots/plan"), &json!({"value": 1})).await.expect(200);
    let receipt = house.delete(&conversation).await.expect(200);
    assert_eq!(receipt["subject"], json!({"type": "conversation", "id": "c1"}));
    assert_eq!(receipt["counts"], json!({"slots": 1}));
    house.delete(&conversation).await.refused(404, "not_found");

    let member = house.token(&json!({"role": "member", "user": "Ana Diaz"})).await;
    let tea = json!({"content": "Ana likes tea"});
    house.call(Method::POST, MEMORIES, Some(&member), Some(&tea)).await.expect(201);
    let user = format!("{OWN}/users/Ana%20Diaz");
    house.call(Method::DELETE, &user, Some(&member), None).await.refused(403, "denied");
    let receipt = house.delete(&user).await.expect(200);
    assert_eq!(receipt["subject"], json!({"type": "user", "id": "Ana Diaz"}));
    assert_eq!(
        (&receipt["counts"]["memories"], &receipt["counts"]["tokens"]),
        (&json!(1), &json!(1))
    );
    house.call(Method::GET, OWN, Some(&member), None).await.refused(401, "unauthenticated");
    house.delete(&user).await.refused(404, "not_found");
}

#[tokio::test]
async fn an_erased_conversation_is_refused_until_it_is_revived() {
    let house = House::new().await;
    let (turns, own) = (format!("{OWN}/conversations/c1/turns"), "/v1/conversations/c1");
    let said = json!([{"role": "user", "content": "Tea?", "speaker": "Ana"}]);
    let turn = house.post(&turns, &said).await.expect(201)["items"][0]["id"].clone();
    let made = house.get(&format!("{OWN}/conversations/c1")).await.expect(200);
    assert_eq!((&made["turns"], &made["next_index"]), (&json!(1), &json!(1)));
    let walk = json!({"ids": [made["key"]], "depth": 1, "relations": ["HAS_TURN"]});
    let walked = house.post(&format!("{OWN}/ontology/traverse"), &walk).await.expect(200);
    assert_eq!((&walked["nodes"][1]["id"], &walked["nodes"][1]["type"]), (&turn, &json!("turn")));
    assert_eq!(walked["edges"][0]["relation"], "HAS_TURN");

    let receipt = house.delete(own).await.expect(200);
    assert_eq!(receipt["counts"], json!({"audit_details": 1, "conversations": 1, "turns": 1}));
    house.delete(own).await.refused(404, "not_found");
    house.post(&turns, &said).await.refused(409, "erased");
    let conversation = json!({"id": "c1"});
    house.post(&format!("{OWN}/conversations"), &conversation).await.refused(409, "erased");
    let revived = json!({"role": "user", "content": "Tea?", "revive": true});
    house.post(&turns, &revived).await.expect(201);
    house.post(&turns, &said).await.expect(201);
}
