//! An agent that calls every tool and every route, whatever comes of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request};
use serde_json::{Value, json};
use uuid::Uuid;

use super::sample::{Form, Sampler};
use super::{CANARY, OWN, answered};
use crate::house::{House, Reply, id_of};

/// They erase under the name that they are given, and would take away what others left of it: they
/// are called when all the others have been.
const ERASING_TOOLS: [&str; 2] = ["user_delete", "conversation_delete"];
const ERASING_ROUTES: [(&str, &str); 3] = [
    ("DELETE", "/v1/workspaces/{ws}/users/{user}"),
    ("DELETE", "/v1/workspaces/{ws}/conversations/{id}"),
    ("DELETE", "/v1/conversations/{id}"),
];
/// Reports and traces say what was done, and have tests of their own; without its workspace there
/// would be nothing to look at.
const OTHER_ROUTES: [(&str, &str); 3] = [
    ("POST", "/v1/workspaces/{ws}/actions"),
    ("POST", "/v1/traces"),
    ("DELETE", "/v1/workspaces/{ws}"),
];

pub(super) struct Agent<'h> {
    house: &'h House,
    token: String,
    tools: Vec<Value>,
    document: Value,
    requests: AtomicUsize,
}

/// Records that calls can be about.
struct Records {
    memory: Uuid,
    node: Uuid,
    goal: Uuid,
    strategy: Uuid,
}

impl Records {
    /// By what a tool or a route is called.
    fn of(&self, name: &str) -> Uuid {
        let nouns = [
            ("ontology", self.node),
            ("goal", self.goal),
            ("strateg", self.strategy),
            ("memor", self.memory),
        ];
        let found = nouns.iter().find(|(noun, _)| name.contains(noun));
        found.map_or(Uuid::nil(), |(_, id)| *id)
    }
}

impl<'h> Agent<'h> {
    pub(super) async fn new(house: &'h House) -> Self {
        let token = house.token(&json!({"role": "admin", "agent": "scout"})).await;
        let document = house.get("/openapi.json").await.expect(200);
        let (tools, requests) = (vec![], AtomicUsize::new(0));
        let mut agent = Self { house, token, tools, document, requests };
        let listed = agent.ask("listing", "tools/list", &json!({})).await;
        agent.tools.clone_from(listed["result"]["tools"].as_array().unwrap());
        assert!(agent.tools.len() > 60, "{}", agent.tools.len());
        agent
    }

    /// One run: everything once by either surface.
    pub(super) async fn do_all(&self, session: &str, form: Form) {
        let records = self.records(session).await;
        for tool in &self.tools {
            let name = tool["name"].as_str().unwrap();
            if !ERASING_TOOLS.contains(&name) {
                self.use_tool(session, tool, form, records.of(name)).await;
            }
        }
        let unknown = json!({CANARY: CANARY});
        answered(CANARY, &self.call_tool(session, CANARY, &unknown).await);
        let records = self.records(session).await;
        let mut routes = 0;
        for (template, method, operation) in self.routes() {
            let route = (method.as_str(), template.as_str());
            if !ERASING_ROUTES.contains(&route) && !OTHER_ROUTES.contains(&route) {
                self.take_route(session, route, operation, form, &records).await;
                routes += 1;
            }
        }
        assert!(routes > 90, "only {routes} routes");
    }

    /// Erases whatever was left under the names of this test.
    pub(super) async fn erase_names(&self) {
        let records = self.records("erasing").await;
        for form in [Form::Unknown, Form::Unfit, Form::Whole] {
            for tool in &self.tools {
                if ERASING_TOOLS.contains(&tool["name"].as_str().unwrap()) {
                    self.use_tool("erasing", tool, form, Uuid::nil()).await;
                }
            }
            for (template, method, operation) in self.routes() {
                let route = (method.as_str(), template.as_str());
                if ERASING_ROUTES.contains(&route) {
                    self.take_route("erasing", route, operation, form, &records).await;
                }
            }
        }
    }

    async fn use_tool(&self, session: &str, tool: &Value, form: Form, record: Uuid) {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        let arguments = Sampler { document: schema, record }.arguments(schema, form);
        answered(name, &self.call_tool(session, name, &arguments).await);
        self.switch_on(name).await;
    }

    pub(super) async fn call_tool(&self, session: &str, name: &str, arguments: &Value) -> Value {
        self.ask(session, "tools/call", &json!({"name": name, "arguments": arguments})).await
    }

    async fn ask(&self, session: &str, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self
            .request(session, &Method::POST, "/mcp?profile=full")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .header(CONTENT_TYPE, "application/json");
        self.house.send(request.body(Body::from(body.to_string())).unwrap()).await.expect(200)
    }

    fn routes(&self) -> impl Iterator<Item = (&String, String, &Value)> {
        let paths = self.document["paths"].as_object().unwrap().iter();
        let routes = paths.flat_map(|(template, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (template, method.to_uppercase(), operation))
        });
        routes.filter(|(_, _, operation)| operation["security"] != json!([{}]))
    }

    async fn take_route(
        &self,
        session: &str,
        (method, template): (&str, &str),
        operation: &Value,
        form: Form,
        records: &Records,
    ) {
        let sampler = Sampler { document: &self.document, record: records.of(template) };
        let (mut path, mut query) = (template.replace("{ws}", "current"), Vec::new());
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let value = sampler.word(name, &parameter["schema"], form);
            match parameter["in"].as_str() {
                Some("path") => path = path.replace(&format!("{{{name}}}"), &value),
                Some("query") if form != Form::Bare => query.push(format!("{name}={value}")),
                _ => {}
            }
        }
        if form == Form::Unknown {
            query = vec![format!("{CANARY}={CANARY}")];
        }
        assert!(!path.contains('{'), "{path}");
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = schema.is_object().then(|| sampler.arguments(schema, form));
        let address = format!("{path}?{}", query.join("&"));
        let reply = self.send(session, method, &address, body).await;
        assert_ne!(reply.status.as_u16(), 401, "{address}: {}", reply.text);
        assert_ne!(reply.status.as_u16(), 405, "{address}: {}", reply.text);
        self.switch_on(template).await;
    }

    async fn send(&self, session: &str, method: &str, path: &str, body: Option<Value>) -> Reply {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let method = method.parse().unwrap();
        let mut request = self.request(session, &method, path);
        if method == Method::POST {
            request = request.header("idempotency-key", format!("{CANARY}-{number}"));
        }
        let body = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        self.house.send(request.body(body).unwrap()).await
    }

    fn request(&self, session: &str, method: &Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("user-agent", CANARY)
            .header("mnemic-session", session)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
    }

    /// Calls may have switched memory off or changed settings.
    async fn switch_on(&self, name: &str) {
        if name.contains("disable") || name.contains("settings") {
            self.house.act(&format!("{OWN}/memory/enable")).await.expect(200);
        }
    }

    /// An operator looks after things, so that these are no actions.
    async fn records(&self, session: &str) -> Records {
        let make = async |path: &str, body: Value| {
            let made = self.house.post(&format!("{OWN}/{path}"), &body).await.expect(201);
            id_of(&made).parse::<Uuid>().unwrap()
        };
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let name = format!("something of {session} {number}");
        Records {
            memory: make("memories", json!({"content": name})).await,
            node: make("ontology/nodes", json!({"type": "person", "name": name})).await,
            goal: make("goals", json!({"description": name})).await,
            strategy: make("strategies", json!({"description": name})).await,
        }
    }
}
