//! The same key and body gets the first answer again; the effect happens once.

use serde_json::json;

use crate::house::{House, id_of};

const MEMORIES: &str = "/v1/workspaces/current/memories";

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer() {
    let house = House::new().await;
    let body = json!({"content": "once"});
    let first = house.post_keyed(MEMORIES, "k1", &body).await;
    let again = house.post_keyed(MEMORIES, "k1", &body).await;
    assert_eq!(first.headers["location"], again.headers["location"]);
    assert_eq!(first.expect(201), again.expect(201));
    let other = house.post_keyed(MEMORIES, "k1", &json!({"content": "twice"})).await;
    other.refused(422, "idempotency_key_reused");
    let other = house.post_keyed("/v1/workspaces/current/memories/purge", "k1", &json!({})).await;
    other.refused(422, "idempotency_key_reused");
    house.post_keyed(MEMORIES, "k2", &body).await.expect(201);
    let listed = house.get(MEMORIES).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn actions_and_batches_happen_once() {
    let house = House::new().await;
    let batch = json!([{"content": "a"}, {"content": "b"}]);
    let first = house.post_keyed(MEMORIES, "batch", &batch).await.expect(201);
    assert_eq!(first, house.post_keyed(MEMORIES, "batch", &batch).await.expect(201));
    let id = id_of(&first["items"][0]);
    let (path, body) = (format!("{MEMORIES}/{id}/weight"), json!({"delta": 1}));
    for _ in 0..3 {
        let weighed = house.post_keyed(&path, "weight", &body).await.expect(200);
        assert_eq!(weighed["weight"], 2.0);
    }
    let (path, body) = (format!("{MEMORIES}/{id}/supersede"), json!({"content": "c"}));
    let newer = house.post_keyed(&path, "supersede", &body).await.expect(201);
    assert_eq!(newer, house.post_keyed(&path, "supersede", &body).await.expect(201));
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_free() {
    let house = House::new().await;
    house.post_keyed(MEMORIES, "k", &json!({"content": ""})).await.refused(400, "invalid_field");
    house.post_keyed(MEMORIES, "k", &json!({"content": "x"})).await.expect(201);
}

#[tokio::test]
async fn keys_have_a_form() {
    let house = House::new().await;
    let body = json!({"content": "x"});
    for key in [String::new(), "k".repeat(256)] {
        let reply = house.post_keyed(MEMORIES, &key, &body).await;
        assert!(reply.refused(400, "invalid_field").contains("Idempotency-Key"));
    }
}

#[tokio::test]
async fn the_same_key_at_the_same_time_has_one_effect() {
    let house = House::new().await;
    let body = json!({"content": "once"});
    let post = || house.post_keyed(MEMORIES, "k", &body);
    let replies = tokio::join!(post(), post(), post(), post());
    let replies = [replies.0, replies.1, replies.2, replies.3].map(|reply| reply.expect(201));
    assert!(replies.windows(2).all(|pair| pair[0] == pair[1]));
}
