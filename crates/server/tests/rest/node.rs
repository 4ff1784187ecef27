//! The graph over REST.

use axum::http::Method;
use serde_json::{Value, json};

use crate::house::{House, id_of};

const NODES: &str = "/v1/workspaces/current/ontology/nodes";
const EDGES: &str = "/v1/workspaces/current/ontology/edges";
const TRAVERSE: &str = "/v1/workspaces/current/ontology/traverse";
const SEARCH: &str = "/v1/workspaces/current/ontology/search";

async fn person(house: &House, name: &str) -> String {
    let made = house.post(NODES, &json!({"type": "person", "name": name})).await.expect(201);
    id_of(&made).to_owned()
}

#[tokio::test]
async fn a_node_is_made_found_changed_and_deleted() {
    let house = House::new().await;
    let new = json!({"type": "person", "name": "Ana Díaz", "aliases": ["Ana"],
        "properties": {"tags": [null]}, "connection_id": "crm"});
    let reply = house.post(NODES, &new).await;
    let location = reply.headers["location"].to_str().unwrap().to_owned();
    let made = reply.expect(201);
    assert!(location.ends_with(&format!("/ontology/nodes/{}", id_of(&made))), "{location}");
    assert_eq!((&made["type"], &made["channel"]), (&json!("person"), &json!("_global")));
    assert_eq!(made["properties"], json!({"tags": [null]}));
    let again = house.post(NODES, &json!({"type": "person", "name": "ANA"})).await.expect(200);
    assert_eq!(again["id"], made["id"]);
    let path = format!("{NODES}/{}", id_of(&made));
    assert_eq!(house.get(&path).await.expect(200)["name"], "Ana Díaz");
    let patch = json!({"name": "Ana", "aliases": [], "description": "a friend"});
    let patched = house.call(Method::PATCH, &path, Some(&house.operator), Some(&patch)).await;
    let patched = patched.expect(200);
    assert_eq!((&patched["name"], &patched["aliases"]), (&json!("Ana"), &json!([])));
    let found = house.post(SEARCH, &json!({"query": "ana"})).await.expect(200);
    assert_eq!(
        (&found["items"][0]["node"]["id"], &found["items"][0]["matched"]),
        (&made["id"], &json!("name"))
    );
    house.delete(&path).await.expect(204);
    house.get(&path).await.refused(404, "not_found");
    house.delete(&format!("{path}?hard=true")).await.expect(200);
    house.delete(&format!("{path}?hard=true")).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_recall_tells_of_the_entities_that_it_speaks_of() {
    let house = House::new().await;
    let recall = "/v1/workspaces/current/recall";
    let new = json!({"type": "person", "name": "Ana Díaz", "aliases": ["Anita"],
        "description": "a friend of the house"});
    let ana = house.post(NODES, &new).await.expect(201);
    let bo = person(&house, "Bo").await;
    let edge = json!({"source_id": bo, "target_id": ana["id"], "relation": "KNOWS"});
    house.post(EDGES, &edge).await.expect(201);
    let told = json!({"content": "prefers oolong", "kind": "fact", "entities": ["Ana Díaz"]});
    let told = house.post("/v1/workspaces/current/memories", &told).await.expect(201);
    let ask = json!({"query": "what does Anita drink?", "explain": true});
    let bundle = house.post(recall, &ask).await.expect(200);
    assert_eq!(bundle["items"][0]["id"], told["id"]);
    let found = &bundle["items"][0]["why"]["found_by"][0];
    assert_eq!((&found["technique"], &found["rank"]), (&json!("entities"), &json!(1)));
    assert_eq!(found["through"], json!([{"id": ana["id"], "name": "Ana Díaz"}]));
    let entity = &bundle["entities"][0];
    assert_eq!(entity["id"], ana["id"]);
    assert_eq!((&entity["type"], &entity["name"]), (&json!("person"), &json!("Ana Díaz")));
    assert_eq!((&entity["aliases"], &entity["matched"]), (&json!(["Anita"]), &json!("name")));
    assert_eq!(entity["description"], "a friend of the house");
    assert_eq!(
        entity["neighbours"],
        json!([{"id": bo, "type": "person", "name": "Bo", "relation": "KNOWS", "direction": "in"}])
    );
    let ask = |more: Value| {
        let mut ask = json!({"query": "Anita"});
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask
    };
    let only = house.post(recall, &ask(json!({"include": ["memories"]}))).await.expect(200);
    assert_eq!((&only["entities"], &only["items"][0]["id"]), (&json!([]), &told["id"]));
    let only = house.post(recall, &ask(json!({"include": ["entities"]}))).await.expect(200);
    assert_eq!((&only["items"], &only["entities"][0]["id"]), (&json!([]), &ana["id"]));
    let off = house.post(recall, &ask(json!({"techniques": ["words"]}))).await.expect(200);
    assert_eq!((&off["items"], &off["entities"]), (&json!([]), &json!([])));
    let unknown = house.post(recall, &ask(json!({"include": ["weather"]}))).await;
    let detail = unknown.refused(400, "invalid_field");
    assert!(detail.contains("memories") && detail.contains("entities"), "{detail}");
}

#[tokio::test]
async fn arrays_are_made_as_a_whole_or_not_at_all() {
    let house = House::new().await;
    let nodes = json!([{"type": "person", "name": "Ana"}, {"type": "person", "name": "Bo"}]);
    let made = house.post(NODES, &nodes).await.expect(201);
    let again = house.post(NODES, &nodes).await.expect(200);
    assert_eq!(made["items"][1]["id"], again["items"][1]["id"]);
    let (ana, bo) = (&made["items"][0]["id"], &made["items"][1]["id"]);
    let edge = |relation: &str| json!({"source_id": ana, "target_id": bo, "relation": relation});
    let edges = json!([edge("KNOWS"), edge("LIKES")]);
    assert_eq!(house.post(EDGES, &edges).await.expect(201)["items"].as_array().unwrap().len(), 2);
    let wrong = json!([edge("HATES"), edge("it's")]);
    let detail = house.post(EDGES, &wrong).await.refused(400, "invalid_field");
    assert!(detail.starts_with("[1].relation"), "{detail}");
    let wrong = json!([{"type": "person", "name": "Cy"}, {"type": "person", "nmae": "Di"}]);
    let detail = house.post(NODES, &wrong).await.refused(400, "invalid_field");
    assert!(detail.contains("nmae"), "{detail}");
    let graph = house.post(TRAVERSE, &json!({"ids": [ana], "depth": 3})).await.expect(200);
    assert_eq!(graph["edges"].as_array().unwrap().len(), 2);
    assert_eq!(graph["truncated"], false);
    assert_eq!(
        (&graph["nodes"][1]["name"], &graph["nodes"][1]["depth"]),
        (&json!("Bo"), &json!(1))
    );
}

#[tokio::test]
async fn mistakes_are_named() {
    let house = House::new().await;
    let ana = person(&house, "Ana").await;
    let bo = person(&house, "Bo").await;
    let nobody = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
    for (path, body, status, code, part) in [
        (NODES, json!({"type": "person"}), 400, "invalid_field", "name"),
        (NODES, json!({"type": "memory", "name": "x"}), 400, "invalid_field", "remember"),
        (
            NODES,
            json!({"type": "t", "name": "x", "properties": [1]}),
            400,
            "invalid_field",
            "properties",
        ),
        (
            NODES,
            json!({"type": "person", "name": "Ana", "aliases": ["Bo"]}),
            409,
            "conflict",
            "merge",
        ),
        (
            EDGES,
            json!({"source_id": ana, "target_id": nobody, "relation": "KNOWS"}),
            404,
            "not_found",
            "target_id",
        ),
        (
            EDGES,
            json!({"source_id": ana, "target_id": bo, "relation": "{a}"}),
            400,
            "invalid_field",
            "relation",
        ),
        (TRAVERSE, json!({"ids": []}), 400, "invalid_field", "ids"),
        (TRAVERSE, json!({"ids": [ana], "depth": 4}), 400, "invalid_field", "depth"),
        (TRAVERSE, json!({"ids": [ana], "limit": 1_000_000}), 400, "invalid_field", "limit"),
        (SEARCH, json!({"query": " "}), 400, "invalid_field", "query"),
    ] {
        let detail = house.post(path, &body).await.refused(status, code);
        assert!(detail.contains(part), "{detail}");
    }
}

#[tokio::test]
async fn nodes_are_merged_split_and_go_with_their_connection() {
    let house = House::new().await;
    let (ana, anna) = (person(&house, "Ana").await, person(&house, "Anna").await);
    let merged = house.post(&format!("{NODES}/{ana}/merge"), &json!({"into": anna})).await;
    assert_eq!(merged.expect(200)["aliases"], json!(["Ana"]));
    house.get(&format!("{NODES}/{ana}")).await.refused(404, "not_found");
    let split = house.post(&format!("{NODES}/{anna}/split"), &json!({"name": "Ana"})).await;
    let split: Value = split.expect(201);
    assert_eq!(
        (&split["node"]["aliases"], &split["split_off"]["name"]),
        (&json!([]), &json!("Ana"))
    );
    let source = json!({"type": "page", "name": "Home", "connection_id": "my wiki/1"});
    house.post(NODES, &source).await.expect(201);
    let path = "/v1/workspaces/current/ontology/connections/my%20wiki%2F1";
    let counts = &house.delete(path).await.expect(200)["counts"];
    assert_eq!((&counts["nodes"], counts.get("edges")), (&json!(1), None));
    house.delete(path).await.refused(404, "not_found");
}
