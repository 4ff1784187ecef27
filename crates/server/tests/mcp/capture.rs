//! Every call is an action, and nothing of what was in it is kept.

use mnemic_core::action::{ActionFilter, AgentAction, Outcome};
use mnemic_core::page::PageRequest;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::house::{Era, House};

const CANARY: &str = "zqxcanary";
/// The type of a node that is made. It is the one word of a call that is kept, since the type of
/// what an action was about is part of the action.
const TYPE: &str = "zqxtype";
/// What holds what is captured, and how many rows there are at least. What is counted and
/// summarised is made of `sequence_keys` alone.
const TABLES: [(&str, usize); 4] =
    [("actions", 200), ("action_nodes", 10), ("sequences", 1), ("sequence_keys", 50)];

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

#[tokio::test]
async fn nothing_that_was_in_a_call_is_kept() {
    let house = House::new().await;
    let client = house.client(Era::Today);
    let mut full = client.clone();
    full.path = "/mcp?profile=full";
    let listed = full.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() > 60, "{}", tools.len());
    let mut arguments_seen = 0;
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        arguments_seen += properties.len();
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let needed = |field: &String| required.contains(&json!(field));
        for fitting in [true, false] {
            for mut arguments in
                [filled(properties, fitting, |_| true), filled(properties, fitting, needed)]
            {
                if name == "ontology_create_node" {
                    arguments["type"] = json!(TYPE);
                }
                client.call(name, arguments).await;
            }
        }
        client.call(name, json!({CANARY: CANARY})).await;
        house.mnemic.toggle_memory(&house.operator().await, true).await.unwrap();
    }
    assert!(arguments_seen > 150, "{arguments_seen}");
    house.mnemic.run_job(&house.operator().await, "sequences", false).await.unwrap();
    let store = rusqlite::Connection::open(house.dir.path().join("mnemic.db")).unwrap();
    let mut typed = 0;
    for (table, least) in TABLES {
        let rows = dump(&store, table);
        assert!(rows.len() >= least, "{table}: {}", rows.len());
        for (column, text) in rows.into_iter().flatten() {
            assert!(!text.contains(CANARY), "{table}.{column}: {text}");
            typed += usize::from(text.contains(TYPE));
            assert!(!text.contains(TYPE) || column == "node_type", "{table}.{column}: {text}");
        }
    }
    assert!(typed > 0, "the type of a node is kept");
}

/// Arguments with the canary wherever there is room for text; of the right form where one is
/// asked for, or the canary there too.
fn filled(
    properties: &Map<String, Value>,
    fitting: bool,
    wanted: impl Fn(&String) -> bool,
) -> Value {
    let fields = properties.iter().filter(|(name, _)| wanted(name));
    fields
        .map(|(name, schema)| (name.clone(), sample(schema, fitting)))
        .collect::<Map<_, _>>()
        .into()
}

fn sample(schema: &Value, fitting: bool) -> Value {
    if let Some(choices) = schema["enum"].as_array().filter(|_| fitting) {
        return choices[0].clone();
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("uuid")) if fitting => json!(Uuid::nil()),
        (Some("string"), Some("date-time")) if fitting => json!("2026-01-01T00:00:00Z"),
        (Some("integer" | "number"), _) if fitting => json!(1),
        (Some("boolean"), _) if fitting => json!(true),
        (Some("array"), _) => json!([sample(&schema["items"], fitting)]),
        (Some("object"), _) => match schema["properties"].as_object() {
            Some(properties) if !properties.is_empty() => filled(properties, fitting, |_| true),
            _ => json!({CANARY: CANARY}),
        },
        _ => json!(format!("{CANARY}Error: {CANARY}")),
    }
}

/// Every row, each cell with the name of its column.
fn dump(store: &rusqlite::Connection, table: &str) -> Vec<Vec<(String, String)>> {
    let mut all = store.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns: Vec<_> = all.column_names().map(str::to_owned).collect();
    let row = |row: &rusqlite::Row<'_>| {
        let cell = |(at, name): (usize, &String)| {
            let text = match row.get::<_, rusqlite::types::Value>(at).unwrap() {
                rusqlite::types::Value::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                other => format!("{other:?}"),
            };
            (name.clone(), text.to_lowercase())
        };
        Ok(columns.iter().enumerate().map(cell).collect())
    };
    all.query_map([], row).unwrap().map(Result::unwrap).collect()
}
