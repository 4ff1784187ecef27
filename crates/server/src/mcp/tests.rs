//! What must hold for every tool in the table.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Profile;
use super::tool::Table;

const DAILY_MAX: usize = 12;

fn listed(table: &Table, profile: Profile) -> Vec<Value> {
    table.list(profile).iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

/// Every schema inside `schema`, with its path.
fn walk(path: &str, value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, value);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(&format!("{path}.{name}"), value, visit);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(&format!("{path}[{i}]"), item, visit);
            }
        }
        _ => {}
    }
}

#[test]
fn no_schema_has_what_clients_reject() {
    for tool in listed(&Table::new(false), Profile::Full) {
        let name = tool["name"].as_str().unwrap();
        for side in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[side]["type"], "object", "{name} {side}");
            assert!(tool[side]["properties"].is_object(), "{name} {side}");
            walk(&format!("{name}.{side}"), &tool[side], &mut |path, schema| {
                let Value::Object(schema) = schema else { return };
                for key in ["$ref", "$schema", "$defs", "definitions", "anyOf", "oneOf", "allOf"] {
                    assert!(!schema.contains_key(key), "{path} has {key}");
                }
                let is_type = !path.ends_with(".properties");
                if is_type && let Some(kind) = schema.get("type") {
                    assert!(kind.is_string(), "{path} has the type {kind}");
                    assert_ne!(kind, "null", "{path}");
                }
                if is_type && let Some(format) = schema.get("format") {
                    assert!(format == "uuid" || format == "date-time", "{path}: {format}");
                }
            });
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert!(!tool["inputSchema"].to_string().contains("workspace_id"), "{name}");
    }
}

#[test]
fn every_tool_is_described_and_annotated() {
    for tool in listed(&Table::new(false), Profile::Full) {
        let description = tool["description"].as_str().unwrap();
        assert!((20..400).contains(&description.len()), "{}", tool["name"]);
        assert!(tool["title"].is_string());
        let hints = &tool["annotations"];
        assert_eq!(hints["openWorldHint"], false);
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint"] {
            assert!(hints[hint].is_boolean(), "{} {hint}", tool["name"]);
        }
    }
}

#[test]
fn names_are_listed_in_one_spelling_and_found_in_both() {
    let names = |dotted| -> Vec<String> {
        let table = Table::new(dotted);
        table.list(Profile::Full).into_iter().map(|tool| tool.name.into_owned()).collect()
    };
    let (plain, dotted) = (names(false), names(true));
    assert_eq!(plain.iter().collect::<BTreeSet<_>>().len(), plain.len());
    assert!(plain.iter().all(|name| !name.contains('.')), "{plain:?}");
    assert!(dotted.iter().all(|name| name.contains('.')), "{dotted:?}");
    for table in [Table::new(false), Table::new(true)] {
        for name in plain.iter().chain(&dotted) {
            assert!(table.find(name).is_some(), "{name}");
        }
        assert!(table.find("memory").is_none() && table.find("").is_none());
    }
}

#[test]
fn the_daily_profile_is_short_and_has_what_an_agent_needs() {
    let table = Table::new(false);
    let daily: Vec<String> =
        table.list(Profile::Agent).into_iter().map(|tool| tool.name.into_owned()).collect();
    assert!(daily.len() <= DAILY_MAX, "{daily:?}");
    for name in [
        "memory_remember",
        "memory_recall",
        "memory_get",
        "memory_supersede",
        "memory_promote",
        "memory_forget",
        "run_finish",
        "workspace_enable_memory",
        "workspace_disable_memory",
    ] {
        assert!(daily.iter().any(|listed| listed == name), "{name}");
    }
    assert!(table.list(Profile::Full).len() > daily.len());
}

#[test]
fn the_tools_of_telemetry_are_listed_with_underscores_and_found_with_dots() {
    let table = Table::new(false);
    let listed = listed(&table, Profile::Full);
    for name in [
        "workspace.enable_memory",
        "workspace.disable_memory",
        "memory.search",
        "memory.context",
        "memory.context_inject",
        "memory.annotate",
        "memory.metric_create",
        "memory.metric_update",
        "memory.metric_delete",
        "memory.metric_list",
        "memory.benchmark_get",
        "memory.benchmark_compare",
    ] {
        assert!(table.find(name).is_some(), "{name}");
        let shown = name.replace('.', "_");
        assert!(listed.iter().any(|tool| tool["name"] == shown.as_str()), "{shown}");
    }
}

#[test]
fn the_toggle_takes_no_arguments() {
    for tool in listed(&Table::new(false), Profile::Full) {
        if tool["name"].as_str().unwrap().ends_with("able_memory") {
            assert_eq!(tool["inputSchema"]["properties"], serde_json::json!({}));
        }
    }
}

#[test]
fn every_tool_that_is_captured_has_a_twin_over_rest() {
    let table = Table::new(true);
    for tool in listed(&table, Profile::Full) {
        let name = table.find(tool["name"].as_str().unwrap()).unwrap().name;
        if crate::capture::Kind::of_tool(name).is_some() {
            assert!(crate::capture::twins().any(|twin| twin == name), "{name}");
        }
    }
}
