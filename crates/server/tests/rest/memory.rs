//! Memories over REST: their life from creation to erasure, and lists in pages.

use axum::http::Method;
use serde_json::json;

use crate::house::{House, id_of};

const MEMORIES: &str = "/v1/workspaces/current/memories";

#[tokio::test]
async fn a_memory_lives_from_creation_to_erasure() {
    let house = House::new().await;
    let body = json!({
        "content": "Tea is at four", "channel": "office", "domain": "customs", "topic": "tea",
        "confidence": 0.5, "source": "a note", "source_ids": ["n1"], "entities": ["tea"],
        "valid_from": "2026-01-01T00:00:00Z", "valid_to": null,
    });
    let made = house.post(MEMORIES, &body).await;
    let location = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    assert_eq!(location, format!("/v1/workspaces/{}/memories/{}", house.workspace, id_of(&made)));
    assert_eq!(house.get(&location).await.expect(200), made);
    assert_eq!(made["kind"], "memory");
    assert_eq!(made["valid_from"], "2026-01-01T00:00:00Z");

    let change = json!({"topic": null, "confidence": 0.9});
    let changed = house.patch(&location, &change).await.expect(200);
    assert_eq!((changed["topic"].is_null(), &changed["domain"]), (true, &json!("customs")));
    assert_eq!(house.act(&format!("{location}/promote")).await.expect(200)["kind"], "fact");
    assert_eq!(house.act(&format!("{location}/pin")).await.expect(200)["pinned"], true);
    assert_eq!(house.act(&format!("{location}/unpin")).await.expect(200)["pinned"], false);

    house.delete(&location).await.expect(204);
    house.get(&location).await.refused(404, "not_found");
    house.delete(&location).await.refused(404, "not_found");
    let deleted = house.get(&format!("{MEMORIES}?deleted=true")).await.expect(200);
    assert_eq!(id_of(&deleted["items"][0]), id_of(&made));
    house.act(&format!("{location}/restore")).await.expect(200);
    house.get(&location).await.expect(200);
    let receipt = house.delete(&format!("{location}?hard=true")).await.expect(200);
    assert_eq!(receipt["subject"], json!({"type": "memory", "id": id_of(&made)}));
    assert_eq!(receipt["counts"], json!({"edges": 1, "memories": 1}));
    house.act(&format!("{location}/restore")).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_memory_is_recalled_when_its_write_returns() {
    let house = House::new().await;
    let made = house.remember("The ferry to Iona leaves at nine").await;
    let ask = json!({"query": "when does the ferry leave", "explain": true});
    let bundle = house.post("/v1/workspaces/current/recall", &ask).await.expect(200);
    assert_eq!(bundle["items"][0]["id"], made["id"]);
    assert_eq!(bundle["items"][0]["why"]["found_by"][0]["technique"], "words");
    assert_eq!(bundle["items"][0]["why"]["features"][0]["feature"], "words");
    assert_eq!(bundle["items"][0]["why"]["factors"]["relevance"], 1.0);
    let sure = |bundle: &serde_json::Value| bundle["confidence"].as_f64().unwrap();
    let ask = json!({"query": "which submarine is for sale"});
    let other = house.post("/v1/workspaces/current/recall", &ask).await.expect(200);
    assert!(sure(&bundle) > sure(&other) && sure(&bundle) < 1.0, "{bundle} {other}");
    assert!(bundle["degraded"][0].as_str().unwrap().contains("vectors"), "{bundle}");
}

#[tokio::test]
async fn features_are_switched_off_by_name() {
    let house = House::new().await;
    let recall = "/v1/workspaces/current/recall";
    let turns = "/v1/workspaces/current/conversations/harbour/turns";
    let said = json!({"role": "user", "speaker": "Bo", "content": "I sail a boat"});
    house.post(turns, &said).await.expect(201);
    let ask = |without: &[&str]| json!({"query": "Bo's boat", "explain": true, "without": without});
    let features = async |without: &[&str]| {
        let bundle = house.post(recall, &ask(without)).await.expect(200);
        bundle["items"][0]["why"]["features"].to_string()
    };
    assert!(features(&[]).await.contains("\"speaker\""));
    let left = features(&["speaker", "length"]).await;
    assert!(left.contains("\"words\"") && !left.contains("\"speaker\""), "{left}");
    let refused = house.post(recall, &ask(&["speakers"])).await.expect(400).to_string();
    assert!(refused.contains("`speakers` is not one of words, words_around"), "{refused}");
}

#[tokio::test]
async fn many_are_made_together_or_not_at_all() {
    let house = House::new().await;
    let batch = json!([{"content": "a"}, {"content": "b", "kind": "fact"}]);
    let made = house.post(MEMORIES, &batch).await.expect(201);
    let contents: Vec<_> =
        made["items"].as_array().unwrap().iter().map(|m| &m["content"]).collect();
    assert_eq!(contents, ["a", "b"]);
    let batch = json!([{"content": "c"}, {"content": " "}]);
    let detail = house.post(MEMORIES, &batch).await.refused(400, "invalid_field");
    assert!(detail.contains("[1]"), "{detail}");
    let listed = house.get(MEMORIES).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn replacements_follow_the_rules() {
    let house = House::new().await;
    let old = house.remember("Rust 1.94").await;
    let path = format!("{MEMORIES}/{}", id_of(&old));
    let body = json!({"content": "Rust 1.95"});
    let new = house.post(&format!("{path}/supersede"), &body).await.expect(201);
    assert_eq!(house.get(&path).await.expect(200)["superseded_by"], new["id"]);
    let listed = house.get(MEMORIES).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let all = house.get(&format!("{MEMORIES}?include_superseded=true")).await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    house.act(&format!("{path}/promote")).await.refused(409, "conflict");
    let circle = json!({"superseded_by": old["id"]});
    let newer = format!("{MEMORIES}/{}", id_of(&new));
    house.patch(&newer, &circle).await.refused(409, "conflict");
}

#[tokio::test]
async fn pages_show_everything_once() {
    let house = House::new().await;
    let batch: Vec<_> = (0..25).map(|i| json!({"content": format!("word number {i}")})).collect();
    house.post(MEMORIES, &json!(batch)).await.expect(201);
    for list in [format!("{MEMORIES}?limit=10"), format!("{MEMORIES}?limit=10&q=word")] {
        let (mut seen, mut cursor, mut pages) = (vec![], None::<String>, 0);
        loop {
            let path = match &cursor {
                Some(cursor) => format!("{list}&cursor={cursor}"),
                None => list.clone(),
            };
            let page = house.get(&path).await.expect(200);
            seen.extend(page["items"].as_array().unwrap().iter().map(|m| id_of(m).to_owned()));
            pages += 1;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!((seen.len(), pages), (25, 3), "{list}");
    }
    let first = house.get(&format!("{MEMORIES}?limit=10")).await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let other = house.get(&format!("/v1/tokens?cursor={cursor}")).await;
    other.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let house = House::new().await;
    let batch = json!([
        {"content": "a", "kind": "fact", "channel": "one"},
        {"content": "b", "domain": "law", "pinned": true},
        {"content": "c", "topic": "tea", "channel": "one"},
    ]);
    house.post(MEMORIES, &batch).await.expect(201);
    for (query, expected) in [
        ("kind=fact", vec!["a"]),
        ("channel=one", vec!["c", "a"]),
        ("domain=law", vec!["b"]),
        ("topic=tea", vec!["c"]),
        ("pinned=true", vec!["b"]),
        ("known_at=2020-01-01T00:00:00Z", vec![]),
    ] {
        let listed = house.get(&format!("{MEMORIES}?{query}")).await.expect(200);
        let contents: Vec<_> =
            listed["items"].as_array().unwrap().iter().map(|m| &m["content"]).collect();
        assert_eq!(contents, expected, "{query}");
    }
}

#[tokio::test]
async fn stale_memories_are_listed_then_purged() {
    let house = House::new().await;
    let made = house.remember("nobody cites this").await;
    let stale = format!("{MEMORIES}/stale");
    assert_eq!(house.get(&stale).await.expect(200)["items"], json!([]));
    let listed = house.get(&format!("{stale}?older_than_days=0")).await.expect(200);
    assert_eq!(listed["items"][0]["id"], made["id"]);
    let purge = format!("{MEMORIES}/purge");
    let dry = json!({"older_than_days": 0, "dry_run": true});
    assert_eq!(house.post(&purge, &dry).await.expect(200)["ids"], json!([made["id"]]));
    assert_eq!(house.act(&purge).await.expect(200)["ids"], json!([]));
    let now = json!({"older_than_days": 0});
    assert_eq!(house.post(&purge, &now).await.expect(200)["ids"], json!([made["id"]]));
    house.get(&format!("{MEMORIES}/{}", id_of(&made))).await.refused(404, "not_found");
}

#[tokio::test]
async fn agents_may_write_but_not_erase() {
    let house = House::new().await;
    let agent = house.token(&json!({"role": "agent", "agent": "helper"})).await;
    let call = |method, path: String, body| {
        let (house, agent) = (&house, &agent);
        async move { house.call(method, &path, Some(agent), body).await }
    };
    let body = json!({"content": "from an agent"});
    let made = call(Method::POST, MEMORIES.to_owned(), Some(&body)).await.expect(201);
    assert_eq!(made["created_by"], "helper");
    let path = format!("{MEMORIES}/{}", id_of(&made));
    call(Method::DELETE, format!("{path}?hard=true"), None).await.refused(403, "denied");
    call(Method::DELETE, path, None).await.expect(204);
    call(Method::POST, "/v1/workspaces/current/jobs/reembed/run".to_owned(), None)
        .await
        .refused(403, "denied");
    call(Method::GET, "/v1/doctor".to_owned(), None).await.refused(403, "denied");
    call(Method::GET, "/v1/tokens".to_owned(), None).await.refused(403, "denied");
}
