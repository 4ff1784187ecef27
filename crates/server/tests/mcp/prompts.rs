//! Prompts in either era.

use serde_json::json;

use crate::house::{Era, House};

#[tokio::test]
async fn prompts_ask_for_the_tool_and_recall_brings_what_it_found() {
    let house = House::new().await;
    for era in Era::BOTH {
        let client = house.client(era);
        let id = client.remember("the staging password rotates on Mondays").await;
        let list = client.result("prompts/list", json!({})).await;
        let mut names: Vec<_> = list["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["name"].as_str().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["forget", "promote", "recall", "remember"]);
        let text = async |name: &str, arguments| {
            let params = json!({"name": name, "arguments": arguments});
            let found = client.result("prompts/get", params).await;
            assert_eq!(found["messages"][0]["role"], "user");
            found["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
        };
        assert!(text("remember", json!({"content": "x"})).await.contains("`memory_remember`"));
        assert!(text("promote", json!({"id": id})).await.contains("`memory_promote`"));
        assert!(text("forget", json!({"id": id})).await.contains(&id));
        let recalled = text("recall", json!({"query": "staging password"})).await;
        assert!(recalled.contains(&format!("[mem:{id}]")), "{recalled}");
        let wrong = client.error("prompts/get", json!({"name": "recall", "arguments": {}})).await;
        assert_eq!(wrong["code"], -32602);
        assert!(wrong["message"].as_str().unwrap().contains("query"), "{wrong}");
        let unknown = client.error("prompts/get", json!({"name": "dance"})).await;
        assert_eq!(unknown["code"], -32602);
    }
}
