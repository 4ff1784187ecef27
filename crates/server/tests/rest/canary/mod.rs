//! A made-up word in everything that can be sent, and then in no row of telemetry: in every argument
//! of every tool, every place of every route, every report and every trace, on every engine.
//!
//! Tables and columns are those of the catalogue: whatever is new is looked at until it is said here
//! why the word may be there.

mod agent;
mod rows;
mod sample;

use serde_json::{Value, json};

use crate::house::House;
use crate::matrix::on_every_engine;
use crate::telemetry::{export, span, trace};
use agent::Agent;
use sample::Form;

const OWN: &str = "/v1/workspaces/current";
const CANARY: &str = "zqxcanary";
/// The type of a node. It is the one word of a call that is kept, since the type of what an action
/// was about is part of the action.
const TYPE: &str = "zqxtype";
/// Where that type may be: by itself, and in what is said of it.
const TYPED: [&str; 4] = ["node_type", "recommendation", "text", "term"];

/// What agents and people store is where they stored it. All other tables are telemetry's, or have
/// no text of theirs.
const STORED: [&str; 25] = [
    "answers",
    "audit",
    "conversations",
    "domains",
    "edges",
    "goals",
    "memories",
    "node_aliases",
    "node_words",
    "nodes",
    "policies",
    "profiles",
    "runs",
    "scratchpads",
    "strategies",
    "strategy_words",
    "timeline",
    "tokens",
    "tool_invocations",
    "tools",
    "turns",
    "word_documents",
    "word_postings",
    "word_terms",
    "workspaces",
];
/// What people name and write in telemetry itself: metrics that they define, and notes beside
/// patterns that agents are to be told.
const NAMED: [(&str, &str); 6] = [
    ("metrics", "name"),
    ("metrics", "key"),
    ("metrics", "description"),
    ("metrics", "event_filter"),
    ("patterns", "annotation"),
    ("patterns", "replacement"),
];
/// Without rows in each of these the test would prove nothing of it.
const TELEMETRY: [&str; 14] = [
    "action_counts",
    "action_nodes",
    "actions",
    "benchmarks",
    "intent_words",
    "intents",
    "key_counts",
    "metrics",
    "minings",
    "patterns",
    "sequence_keys",
    "sequences",
    "showings",
    "unmined",
];
/// One run of an agent for each. Enough of them fail in the same way to be a pattern.
const RUNS: [Form; 8] = [
    Form::Whole,
    Form::Bare,
    Form::Unfit,
    Form::Unknown,
    Form::Unfit,
    Form::Unknown,
    Form::Unfit,
    Form::Unknown,
];

on_every_engine! {
    nothing_that_is_sent_is_in_telemetry
}

async fn nothing_that_is_sent_is_in_telemetry(house: House) {
    let agent = Agent::new(&house).await;
    for (number, form) in RUNS.into_iter().enumerate() {
        agent.do_all(&format!("run-{number}"), form).await;
    }
    report(&house).await;
    send_traces(&house).await;
    house.clock.forward(6);
    for job in ["sequences", "patterns", "benchmarks"] {
        house.act(&format!("{OWN}/jobs/{job}/run")).await.expect(200);
    }
    write_beside_a_pattern(&house, &agent).await;
    // What was mined is told, and what was told is kept.
    agent.do_all("warned", Form::Unfit).await;
    house.clock.forward(6);
    house.act(&format!("{OWN}/jobs/sequences/run")).await.expect(200);
    look(&house, true);
    agent.erase_names().await;
    look(&house, false);
}

/// Errors as tools tell them, with somebody's words around a class or instead of one.
async fn report(house: &House) {
    let texts = [
        format!("app.errors.KeyError: '{CANARY}'"),
        format!("404 Not Found: {CANARY}"),
        format!("exit status 1: {CANARY} said no"),
        format!("{CANARY} timed out after 30 s"),
        format!("could not open /home/{CANARY}/notes.txt"),
        format!("the user \"{CANARY}\" does not exist"),
        format!(
            "Traceback (most recent call last):\n  File \"/{CANARY}.py\"\nValueError: {CANARY}"
        ),
        format!("{{\"error\": {{\"message\": \"{CANARY} was here\", \"code\": 500}}}}"),
    ];
    let path = format!("{OWN}/actions");
    for (number, text) in texts.into_iter().enumerate() {
        let action = json!({"session_id": format!("reported-{number}"), "action_type": "report",
            "outcome": "failure", "error_code": text, "agent_id": "reporter"});
        house.post(&path, &action).await.expect(201);
        let mut more = action;
        more["arguments"] = json!({"q": CANARY});
        house.post(&path, &more).await.refused(400, "invalid_field");
    }
}

/// A span with the word wherever the conventions allow a text that is no name.
async fn send_traces(house: &House) {
    for (number, error) in [None, Some(format!("app.KeyError: {CANARY}"))].into_iter().enumerate() {
        let mut attributes = json!({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.conversation.id": "traced",
            "gen_ai.agent.name": "tracer",
        });
        for other in [
            "gen_ai.tool.description",
            "gen_ai.tool.call.id",
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.system_instructions",
            "user.id",
            "url.full",
            CANARY,
        ] {
            attributes[other] = json!(CANARY);
        }
        if let Some(error) = &error {
            attributes["error.type"] = json!(error);
        }
        let status = json!({"code": 2, "message": format!("{CANARY} failed")});
        let mut span = span(&format!("eee19b7ec3c1b17{number}"), &attributes, &status);
        let said = json!([{"key": "exception.message", "value": {"stringValue": CANARY}}]);
        span["name"] = json!(CANARY);
        span["traceState"] = json!(CANARY);
        span["events"] = json!([{"name": CANARY, "timeUnixNano": "1", "attributes": said}]);
        let reply = export(house, "application/json", None, trace(&[span])).await;
        assert_eq!(reply.expect(200), json!({}));
    }
}

/// The one place in telemetry where people write, by either surface.
async fn write_beside_a_pattern(house: &House, agent: &Agent<'_>) {
    let patterns = house.get(&format!("{OWN}/patterns")).await.expect(200);
    let id = patterns["items"][0]["id"].as_str().unwrap().to_owned();
    let note = json!({"pattern_id": id, "annotation": CANARY});
    let noted = agent.call_tool("annotates", "memory_annotate", &note).await;
    assert_eq!(noted["result"]["isError"], false, "{noted}");
    let instead = json!({"recommendation": CANARY});
    house.patch(&format!("{OWN}/patterns/{id}"), &instead).await.expect(200);
}

/// Looks for the word in every row. Some of what was named may be gone the second time.
fn look(house: &House, first: bool) {
    let tables = rows::all(&house.rows);
    let has = |rows: &[Vec<(String, String)>], column: Option<&str>| {
        let mut cells = rows.iter().flatten();
        cells.any(|(it, text)| column.is_none_or(|column| it == column) && text.contains(CANARY))
    };
    let mut typed = false;
    for (table, rows) in &tables {
        // Partitions of a table are named after it.
        if STORED.iter().any(|it| table == it) || table.starts_with("audit_") {
            continue;
        }
        for (column, text) in rows.iter().flatten() {
            let named = NAMED.contains(&(table, column));
            assert!(named || !text.contains(CANARY), "{table}.{column}: {text}");
            let may = TYPED.contains(&column.as_str());
            assert!(may || named || !text.contains(TYPE), "{table}.{column}: {text}");
            typed |= text.contains(TYPE);
        }
    }
    assert!(typed, "the type of a node is kept");
    for table in TELEMETRY {
        assert!(!tables[table].is_empty(), "nothing is in {table}");
    }
    for (table, column) in NAMED.into_iter().filter(|_| first) {
        assert!(has(&tables[table], Some(column)), "{table}.{column} need not be named");
    }
    for table in STORED.into_iter().filter(|_| first) {
        let stored = tables.get(table).is_none_or(|rows| has(rows, None));
        assert!(stored, "nothing was stored in {table}");
    }
}

/// Everything that a tool or route answers is taken, but it must be an answer.
fn answered(place: &str, reply: &Value) {
    assert!(reply["result"].is_object() || reply["error"].is_object(), "{place}: {reply}");
}
