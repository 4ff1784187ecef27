//! Patterns over MCP: found, annotated, and told with the results of other tools.

use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{NewAction, Outcome};
use mnemic_core::principal::Caller;
use serde_json::{Value, json};

use crate::house::{Client, Era, House};
use crate::shape::misfits;
use crate::tools::schemas;

/// Runs that ended in the same error, a while ago, and what was mined of them.
async fn fail_often(house: &House, count: u32) {
    let who = house.operator().await;
    let at = Timestamp::now() - SignedDuration::from_mins(30);
    let failed = (0..count).map(|run| NewAction {
        node_type: Some("person".to_owned()),
        outcome: Outcome::Failure,
        error_code: Some("NodeNotFoundError".to_owned()),
        at: Some(at),
        ..NewAction::new(format!("run-{run}"), "ontology_mutation")
    });
    let failed: Vec<_> = failed.collect();
    house.mnemic.record_actions(&Caller::new(who.clone()), &failed).await.unwrap();
    for job in ["sequences", "patterns"] {
        house.mnemic.run_job(&who, job, false).await.unwrap();
    }
}

async fn node(client: &Client<'_>) -> Value {
    let made = json!({"type": "person", "name": "Ana"});
    client.done("ontology_create_node", made).await["id"].clone()
}

#[tokio::test]
async fn the_tools_of_patterns_answer_as_their_schemas_say() {
    for era in Era::BOTH {
        let house = House::new().await;
        let client = house.client(era);
        let schemas = schemas(&client).await;
        fail_often(&house, 5).await;
        let search = json!({"action_type": "ontology_mutation", "outcome": "failure"});
        let found = client.done("memory.search", search.clone()).await;
        let pattern = found["patterns"][0]["id"].clone();
        assert_eq!(found["sequences"].as_array().unwrap().len(), 5);
        let note = json!({"pattern_id": pattern, "annotation": "Look first.", "suppressed": false});
        let other = json!({"pattern_id": pattern, "recommendation": "Do not."});
        let plain = json!({"pattern_id": pattern, "clear": ["annotation", "recommendation"]});
        for (tool, arguments, told) in [
            ("memory_search", search, "fail with NodeNotFoundError"),
            ("memory_search", json!({"node_type": "email"}), "Nothing found"),
            (
                "memory_context",
                json!({"query": "ontology_mutation", "limit": 2}),
                "0 of 5 such runs",
            ),
            ("memory_annotate", note, "Changed the pattern"),
            ("memory_annotate", other, "Changed the pattern"),
            ("memory_context_inject", json!({"node_types": ["person"]}), "Do not. Look first."),
            ("memory_annotate", plain, "is told before actions"),
            ("memory_context_inject", json!({"action_type": "other"}), "Nothing is known"),
        ] {
            let result = client.call(tool, arguments).await;
            assert_eq!(result["isError"], false, "{tool}: {result}");
            let wrong = misfits(&schemas[tool], &result["structuredContent"]);
            assert!(wrong.is_empty(), "{tool}: {wrong:?}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(told), "{tool}: {text}");
        }
        let (text, code) = client.failed("memory_annotate", json!({"suppressed": true})).await;
        assert!(text.contains("pattern_id") && code == "invalid_field", "{text}");
    }
}

#[tokio::test]
async fn a_result_carries_what_is_known_of_its_nodes() {
    let house = House::new().await;
    let client = house.client(Era::Today);
    let node = node(&client).await;
    let get = json!({"id": node});
    let before = client.call("ontology_get_node", get.clone()).await;
    assert_eq!(before["content"].as_array().unwrap().len(), 1, "{before}");
    fail_often(&house, 5).await;
    let result = client.call("ontology_get_node", get.clone()).await;
    let block = result["content"][1]["text"].as_str().unwrap();
    assert_eq!(
        block,
        "[Mnemic memory — 1 relevant pattern]\n\
         Pattern: ontology_mutation:person:NodeNotFoundError (confidence 1.00)\n\
         Recommendation: 100% of ontology_mutation actions on person nodes fail with \
         NodeNotFoundError. Validate the node exists and is accessible before proceeding."
    );
    assert_eq!(result["content"][0], before["content"][0], "the answer is the same");
    let key = "ontology_mutation:person:NodeNotFoundError";
    assert_eq!(result["_meta"]["mnemic/patterns"][0]["key"], key);
    assert_eq!(result["structuredContent"]["mnemic_patterns"][0]["key"], key);
    let other = client.call("memory_list", json!({})).await;
    assert_eq!(other["content"].as_array().unwrap().len(), 1, "of nothing else");
    let off = json!({"memory": {"injection": false}});
    client.done("workspace_update_settings", off).await;
    let quiet = client.call("ontology_get_node", get).await;
    assert_eq!(quiet["content"].as_array().unwrap().len(), 1);
    assert!(quiet["_meta"].get("mnemic/patterns").is_none());
}
