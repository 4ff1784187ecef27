//! Every call is an action. That nothing of what was in it is kept is shown for both surfaces and
//! engines in `rest/canary`.

use mnemic_core::action::{ActionFilter, AgentAction, Outcome};
use mnemic_core::page::PageRequest;
use serde_json::json;
use uuid::Uuid;

use crate::house::{Era, House};

const CANARY: &str = "zqxcanary";

async fn actions(house: &House) -> Vec<AgentAction> {
    let page = PageRequest { limit: Some(200), cursor: None };
    let filter = ActionFilter::default();
    let found = house.mnemic.list_actions(&house.operator().await, &filter, &page).await;
    found.unwrap().items
}

/// The last one, in short.
async fn last(house: &House) -> (String, Option<String>, Outcome, Option<String>) {
    let last = actions(house).await.remove(0);
    (last.action_type, last.node_type, last.outcome, last.error_code)
}

fn told(
    action_type: &str,
    node_type: Option<&str>,
    error: Option<&str>,
) -> (String, Option<String>, Outcome, Option<String>) {
    let outcome = if error.is_some() { Outcome::Failure } else { Outcome::Success };
    (action_type.to_owned(), node_type.map(str::to_owned), outcome, error.map(str::to_owned))
}

#[tokio::test]
async fn a_call_is_written_down_with_what_it_was_about() {
    for era in Era::BOTH {
        let house = House::new().await;
        let mut client = house.client(era);
        client.token = house.agent("scout").await;
        let id = client.remember("water boils at 100 °C").await;
        assert_eq!(last(&house).await, told("memory_remember", Some("memory"), None));
        let first = actions(&house).await.remove(0);
        assert_eq!((first.agent_id.as_str(), first.session_id.as_str()), ("scout", "scout"));
        assert_eq!(first.node_ids, [id.parse::<Uuid>().unwrap()]);
        let node = json!({"type": "person", "name": "Ana"});
        let node = client.done("ontology_create_node", node).await;
        assert_eq!(last(&house).await, told("ontology_mutation", Some("person"), None));
        let about = json!({"id": node["id"]});
        client.done("ontology_get_node", about.clone()).await;
        assert_eq!(last(&house).await, told("graph_query", Some("person"), None));
        client.done("ontology.delete_node", about.clone()).await;
        client.failed("ontology_update_node", json!({"id": node["id"], "name": "Bo"})).await;
        let gone = told("ontology_mutation", Some("person"), Some("NodeNotFoundError"));
        assert_eq!(last(&house).await, gone, "the type of one that is deleted is known");
        client.failed("memory_get", json!({"id": Uuid::nil()})).await;
        assert_eq!(
            last(&house).await,
            told("memory_get", Some("memory"), Some("MemoryNotFoundError"))
        );
        client.failed("memory_recall", json!({"question": "x"})).await;
        assert_eq!(
            last(&house).await,
            told("memory_recall", Some("memory"), Some("ValidationError"))
        );
        client.failed("memory_purge", json!({"ids": []})).await;
        assert_eq!(last(&house).await.3.as_deref(), Some("ForbiddenError"));
        client.error("tools/call", json!({"name": CANARY, "arguments": {}})).await;
        assert_eq!(
            last(&house).await,
            told("unknown_tool", Some("tool"), Some("ToolNotFoundError"))
        );
        let before = actions(&house).await.len();
        client.done("workspace_settings", json!({})).await;
        assert_eq!(actions(&house).await.len(), before, "looking after things is no action");
        client.done("workspace_disable_memory", json!({})).await;
        client.remember("something else").await;
        assert_eq!(actions(&house).await.len(), before, "nothing is captured while it is off");
    }
}
