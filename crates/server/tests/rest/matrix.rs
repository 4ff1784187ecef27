//! Every route of the document, with every kind of token that must not get through, on every
//! engine.

use axum::http::Method;
use serde_json::{Value, json};

use crate::house::{House, id_of};

const RANDOM_ID: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
const OTHER_ID: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7c";

macro_rules! on_every_engine {
    ($($test:ident)*) => {
        mod embedded {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::House::new().await).await;
            })*
        }

        mod shared {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::House::on_postgres().await).await;
            })*
        }
    };
}
pub(crate) use on_every_engine;

on_every_engine! {
    nobody_gets_in_without_a_valid_token
    unknown_addresses_ask_for_a_token_first
    another_workspace_cannot_be_told_from_none
    lists_and_recall_show_nothing_of_others
}

struct Route {
    method: Method,
    template: String,
}

impl Route {
    fn path(&self, workspace: &str, memory: &str) -> String {
        self.template
            .replace("{ws}", workspace)
            .replace("{id}", memory)
            .replace("{run_id}", "run-1")
            .replace("{slot}", "slot-1")
            .replace("{user}", "ana")
            .replace("{agent}", "scout")
            .replace("{key}", "city")
            .replace("{name}", "reembed")
    }

    fn body(&self) -> Option<Value> {
        let last = self.template.rsplit('/').next().unwrap();
        let body = match (self.method.as_str(), last) {
            ("POST", "memories" | "supersede") => json!({"content": "left by a stranger"}),
            ("POST", "summarize") => json!({"retain_last": 0, "max_age_days": 0}),
            ("POST", "conversations") => json!({"id": "left-by-a-stranger"}),
            ("POST", "turns") => json!({"role": "user", "content": "left by a stranger"}),
            ("POST", "resolve") => json!({"decision": "keep_both"}),
            ("POST", "policies") => json!({"rule": "left by a stranger", "domain": "strangers"}),
            ("PUT", "grants") => json!([]),
            ("POST", "search") if self.template.contains("/strategies/") => {
                json!({"task": "secret"})
            }
            ("POST", "ask") => json!({"question": "secret"}),
            ("POST", "recall" | "search" | "context") => json!({"query": "secret"}),
            ("POST", "nodes") => json!({"type": "person", "name": "left by a stranger"}),
            ("POST", "edges") => {
                json!({"source_id": RANDOM_ID, "target_id": RANDOM_ID, "relation": "KNOWS"})
            }
            ("POST", "traverse") => json!({"ids": [RANDOM_ID]}),
            ("POST", "merge") => json!({"into": OTHER_ID}),
            ("POST", "split") => json!({"name": "left by a stranger"}),
            ("POST", "context-inject") => json!({"action_type": "secret"}),
            ("POST", "reinforce") => json!({"success": true}),
            ("POST", "invocations") => json!({"tool": "left_by_a_stranger", "success": true}),
            ("POST", "actions") => {
                json!({"session_id": "s", "action_type": "left_by_a_stranger", "outcome": "success"})
            }
            ("POST", "thoughts") | ("PUT", "scratchpad") => json!({"text": "left by a stranger"}),
            ("PUT", "goal") => json!({"goal_id": RANDOM_ID}),
            ("POST", "goals" | "strategies") => json!({"description": "left by a stranger"}),
            ("POST", "complete") => json!({"status": "completed"}),
            ("POST", "metrics") => json!({
                "name": "left by a stranger", "success_condition": "outcome == 'success'",
                "aggregation": "rate"
            }),
            ("POST", "preview") => {
                json!({"success_condition": "outcome == 'success'", "aggregation": "rate"})
            }
            ("POST", "compare") => json!({"metric_ids": [RANDOM_ID, OTHER_ID]}),
            ("POST", "weight") => json!({"delta": 1}),
            ("POST", "finish") => json!({"text": "done"}),
            ("POST", "domains" | "workspaces") => json!({"name": "strangers"}),
            ("POST", "tokens") => json!({"role": "admin"}),
            ("PUT", "{slot}" | "{key}") => json!({"value": "left by a stranger"}),
            ("PATCH" | "PUT", _) => json!({}),
            _ => return None,
        };
        Some(body)
    }

    /// Whether it is about something that is there or not. A conversation is wherever somebody
    /// keeps slots in it or says something: everybody has one of that name, empty or not.
    fn is_about_a_record(&self) -> bool {
        let makes_its_own = self.template.ends_with("/slots")
            || (self.template.ends_with("/turns") && self.method == Method::POST)
            || self.template.ends_with("/session")
            || self.template.ends_with("/session/thoughts")
            || self.template.ends_with("/session/context/{key}")
            || (self.template.ends_with("/{slot}") && self.method == Method::PUT);
        self.template.contains("{id}") && !makes_its_own
    }
}

/// All routes that need a token: those of the document, and the two that are kept out of it.
async fn routes(house: &House) -> Vec<Route> {
    let document = house.get("/openapi.json").await.expect(200);
    let mut routes = Vec::new();
    for (template, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            if operation["security"] == json!([{}]) {
                continue;
            }
            let method = method.to_uppercase().parse().unwrap();
            routes.push(Route { method, template: template.clone() });
        }
    }
    for hidden in ["enable", "disable"] {
        let template = format!("/v1/workspaces/{{ws}}/memory/{hidden}");
        routes.push(Route { method: Method::POST, template });
    }
    assert!(routes.len() >= 70, "only {} routes", routes.len());
    routes
}

async fn nobody_gets_in_without_a_valid_token(house: House) {
    let memory = house.remember("the secret").await;
    let revoked = house.revoked_token().await;
    let mut wrong = house.operator.clone();
    wrong.replace_range(20..21, if &wrong[20..21] == "0" { "1" } else { "0" });
    for route in routes(&house).await {
        let body = route.body();
        for token in [None, Some(""), Some("nonsense"), Some(&wrong[..]), Some(&revoked)] {
            for path in [
                route.path(&house.workspace, id_of(&memory)),
                route.path("current", id_of(&memory)),
                route.path(RANDOM_ID, RANDOM_ID),
            ] {
                let reply = house.call(route.method.clone(), &path, token, body.as_ref()).await;
                reply.refused(401, "unauthenticated");
                assert_eq!(reply.headers["www-authenticate"], "Bearer", "{path}");
                assert_eq!(reply.headers["cache-control"], "no-store", "{path}");
            }
        }
    }
    house.get(&format!("/v1/workspaces/current/memories/{}", id_of(&memory))).await.expect(200);
}

async fn unknown_addresses_ask_for_a_token_first(house: House) {
    for path in ["/v1", "/v1/nothing", "/v1/workspaces/current/nothing", "/v1/tokens/x/y"] {
        house.call(Method::GET, path, None, None).await.refused(401, "unauthenticated");
        house.get(path).await.refused(404, "not_found");
    }
    house.call(Method::PUT, "/v1/tokens", None, None).await.refused(401, "unauthenticated");
    house.call(Method::GET, "/nothing", None, None).await.refused(404, "not_found");
}

async fn another_workspace_cannot_be_told_from_none(house: House) {
    let memory = house.remember("the secret").await;
    let slot = format!("/v1/workspaces/current/conversations/{}/slots/slot-1", id_of(&memory));
    house.put(&slot, &json!({"value": "the secret"})).await.expect(200);
    let (_, stranger) = house.neighbour("strangers").await;
    let in_workspace = |route: &Route| route.template.contains("{ws}");
    for route in routes(&house).await.into_iter().filter(in_workspace) {
        let body = route.body();
        let ask = async |workspace: &str, memory: &str| {
            let path = route.path(workspace, memory);
            let reply =
                house.call(route.method.clone(), &path, Some(&stranger), body.as_ref()).await;
            (reply.status, reply.text, reply.headers)
        };
        let foreign = ask(&house.workspace, id_of(&memory)).await;
        assert_eq!(foreign.0, 404, "{} {}", route.method, route.template);
        assert_eq!(foreign, ask(RANDOM_ID, id_of(&memory)).await, "{}", route.template);
        assert_eq!(foreign, ask("not-a-uuid", id_of(&memory)).await, "{}", route.template);
        assert!(!foreign.1.contains(&house.workspace), "{}", foreign.1);
        if route.is_about_a_record() {
            let foreign = ask("current", id_of(&memory)).await;
            assert_eq!(foreign.0, 404, "{} {}", route.method, route.template);
            assert_eq!(foreign, ask("current", RANDOM_ID).await, "{}", route.template);
        }
    }
    let untouched =
        house.get(&format!("/v1/workspaces/current/memories/{}", id_of(&memory))).await.expect(200);
    assert_eq!(untouched["content"], "the secret");
    assert_eq!(house.get(&slot).await.expect(200)["value"], "the secret");
}

async fn lists_and_recall_show_nothing_of_others(house: House) {
    let memory = house.remember("the secret of the house").await;
    let slots = format!("/v1/workspaces/current/conversations/{}/slots", id_of(&memory));
    house.put(&format!("{slots}/slot-1"), &json!({"value": "secret"})).await.expect(200);
    let (own, stranger) = house.neighbour("strangers").await;
    let ask = async |method, path: &str, body: Option<&Value>| {
        let reply = house.call(method, path, Some(&stranger), body).await;
        assert!(!reply.text.contains(id_of(&memory)), "{path}: {}", reply.text);
        assert!(!reply.text.contains(&house.workspace), "{path}: {}", reply.text);
        reply.expect(200)
    };
    for path in [
        "/v1/workspaces/current/memories",
        "/v1/workspaces/current/memories?q=secret",
        "/v1/workspaces/current/memories?include_superseded=true",
        "/v1/workspaces/current/memories?deleted=true",
        "/v1/workspaces/current/memories/stale?older_than_days=0",
        "/v1/workspaces/current/memories/recommended-pins",
        &slots,
    ] {
        assert_eq!(ask(Method::GET, path, None).await["items"], json!([]), "{path}");
    }
    let query = json!({"query": "secret of the house"});
    let bundle = ask(Method::POST, "/v1/workspaces/current/recall", Some(&query)).await;
    assert_eq!(bundle["items"], json!([]));
    let workspaces = ask(Method::GET, "/v1/workspaces", None).await;
    assert_eq!(workspaces["items"].as_array().unwrap().len(), 1);
    assert_eq!(workspaces["items"][0]["id"], own);
    let tokens = ask(Method::GET, "/v1/tokens", None).await;
    assert_eq!(tokens["items"].as_array().unwrap().len(), 1);
    let text = json!({"text": format!("[mem:{}]", id_of(&memory))});
    let path = "/v1/workspaces/current/runs/r/finish";
    let cited = house.call(Method::POST, path, Some(&stranger), Some(&text)).await.expect(200);
    assert_eq!(cited["ignored"][0]["reason"], "unknown");
    let supersedes = json!({"content": "x", "supersedes": id_of(&memory)});
    let path = "/v1/workspaces/current/memories";
    let reply = house.call(Method::POST, path, Some(&stranger), Some(&supersedes)).await;
    reply.refused(404, "not_found");
}
