//! Memories as resources in either era.

use mnemic_core::principal::Caller;
use serde_json::{Value, json};

use crate::house::{Era, House};

#[tokio::test]
async fn memories_are_listed_page_by_page_and_read() {
    let house = House::new().await;
    let client = house.client(Era::Today);
    for number in 0..60 {
        client.remember(&format!("note number {number}\nwith a second line")).await;
    }
    let first = client.result("resources/list", json!({})).await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = client.result("resources/list", json!({"cursor": cursor})).await;
    let count = |page: &Value| page["resources"].as_array().unwrap().len();
    assert_eq!((count(&first), count(&second)), (50, 10));
    assert!(second.get("nextCursor").is_none());
    let resource = &first["resources"][0];
    assert_eq!(resource["name"], "note number 59…");
    let uri = resource["uri"].as_str().unwrap();
    let read = client.result("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["uri"], uri);
    let memory: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(memory["content"], "note number 59\nwith a second line");
    let wrong = client.error("resources/list", json!({"cursor": "nonsense"})).await;
    assert_eq!(wrong["data"]["code"], "invalid_cursor", "{wrong}");
    let templates = client.result("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "mem://memory/{id}");
}

#[tokio::test]
async fn what_is_absent_foreign_or_no_memory_looks_the_same() {
    let house = House::new().await;
    let operator = Caller::new(house.operator().await);
    house.mnemic.create_workspace(&operator, "next door").await.unwrap();
    let mut stranger = house.client(Era::Today);
    stranger.token = house.token(Some("next door"), "admin").await;
    let foreign = stranger.remember("not yours").await;
    for (era, code) in [(Era::Before, -32002), (Era::Today, -32602)] {
        let client = house.client(era);
        let mut seen = Vec::new();
        for id in [foreign.as_str(), "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b", "x"] {
            let uri = format!("mem://memory/{id}");
            let mut error = client.error("resources/read", json!({"uri": uri})).await;
            assert_eq!(error["code"], code);
            assert_eq!(error["data"]["uri"].take(), json!(uri));
            seen.push(error);
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
}
