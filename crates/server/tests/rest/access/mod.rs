//! Access, generated: role × permission × operation × surface, on every engine. Exactly what is
//! permitted succeeds, and nothing of what is denied appears in any answer.

mod operations;
mod surface;

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};

use crate::house::{House, id_of};
use operations::{Need, OPERATIONS, Operation, Place, Target, Wish};

const OWN: &str = "/v1/workspaces/current";
const NOBODY: &str = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b";
const ROLES: [&str; 4] = ["admin", "member", "agent", "intern"];

/// How a domain is closed, if at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Border {
    Ungranted,
    None,
    Read,
    Write,
    /// All may be written, but for a policy that reserves the domain for somebody else.
    Reserved,
}

impl Border {
    const ALL: [Self; 5] = [Self::Ungranted, Self::None, Self::Read, Self::Write, Self::Reserved];

    fn permission(self) -> Option<&'static str> {
        match self {
            Self::Ungranted | Self::Reserved => None,
            Self::None => Some("none"),
            Self::Read => Some("read"),
            Self::Write => Some("write"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surface {
    Rest,
    Mcp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Denied,
    Absent,
}

/// What must come of it, by the rules as the documentation states them.
fn expected(role: &str, border: Border, need: Need) -> Outcome {
    let admin = role == "admin";
    let reads = admin || border != Border::None;
    let writes = admin || matches!(border, Border::Ungranted | Border::Write);
    let trusted = admin || role == "member";
    let allow = |may| if may { Outcome::Done } else { Outcome::Denied };
    match need {
        Need::Audit | Need::Purge => allow(trusted),
        Need::Manage => allow(admin),
        Need::Erase if !trusted => Outcome::Denied,
        Need::Read | Need::Change | Need::Erase if !reads => Outcome::Absent,
        Need::Find | Need::Glance | Need::Read => Outcome::Done,
        Need::Create | Need::Change | Need::Erase => allow(writes),
    }
}

struct Answer {
    outcome: Outcome,
    text: String,
}

/// Somebody who speaks one of the languages.
struct Client<'h> {
    house: &'h House,
    surface: Surface,
    token: String,
}

impl Client<'_> {
    async fn ask(&self, wish: Wish) -> Answer {
        match self.surface {
            Surface::Rest => {
                let Wish { method, path, body, .. } = wish;
                let reply = self.house.call(method, &path, Some(&self.token), body.as_ref()).await;
                let outcome = match reply.status.as_u16() {
                    200..300 => Outcome::Done,
                    403 => Outcome::Denied,
                    404 => Outcome::Absent,
                    other => panic!("{path} answered {other}: {}", reply.text),
                };
                Answer { outcome, text: reply.text }
            }
            Surface::Mcp => self.call(wish.tool, &wish.arguments).await,
        }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header("mcp-protocol-version", "2025-11-25")
            .body(Body::from(body.to_string()))
            .unwrap();
        let reply = self.house.send(request).await;
        let result = &reply.json()["result"];
        let outcome = match result["_meta"]["mnemic/error"]["code"].as_str() {
            None if result["isError"] == false => Outcome::Done,
            Some("denied") => Outcome::Denied,
            Some("not_found") => Outcome::Absent,
            _ => panic!("{tool} answered {}", reply.text),
        };
        Answer { outcome, text: reply.text }
    }
}

/// A domain with records of an admin, and somebody who comes to it.
struct Case<'h> {
    house: &'h House,
    client: Client<'h>,
    role: &'static str,
    border: Border,
    domain: String,
    canary: String,
    grants: Value,
    nodes: AtomicUsize,
}

impl<'h> Case<'h> {
    async fn new(house: &'h House, role: &'static str, border: Border, surface: Surface) -> Self {
        let domain = format!("burrow-{role}-{border:?}-{surface:?}").to_lowercase();
        let canary = domain.replace("burrow", "quokka").replace('-', "");
        let token = house.token(&json!({"role": role})).await;
        // A grant cannot name admins; one for all must not bind them.
        let to = if role == "admin" { "*" } else { role };
        let grants = border.permission();
        let grants = grants.map(|p| json!({"role": to, "domain": domain, "permission": p}));
        let grants = grants.map_or_else(|| json!([]), |grant| json!([grant]));
        house.put(&format!("{OWN}/grants"), &grants).await.expect(200);
        let client = Client { house, surface, token };
        let nodes = AtomicUsize::new(0);
        let case = Self { house, client, role, border, domain, canary, grants, nodes };
        case.furnish().await;
        case
    }

    /// Something for every kind of list.
    async fn furnish(&self) {
        let before = json!({"older_than_days": 0});
        self.house.post(&format!("{OWN}/memories/purge"), &before).await.expect(200);
        self.remember().await;
        self.deleted().await;
        let cited = self.remember().await;
        for run in ["a", "b", "c"] {
            let text = json!({"text": format!("[mem:{cited}]")});
            let path = format!("{OWN}/runs/{run}-{}/finish", self.domain);
            self.house.post(&path, &text).await.expect(200);
        }
        self.node(None).await;
        self.strategy().await;
        self.policy(None).await;
        if self.border == Border::Reserved {
            self.policy(Some("security")).await;
        }
    }

    async fn remember(&self) -> String {
        // Operations erase it, and the next one needs it again.
        let content = format!("a {}", self.canary);
        let body = json!({"content": content, "domain": self.domain, "revive": true});
        let made = self.house.post(&format!("{OWN}/memories"), &body).await.expect(201);
        id_of(&made).to_owned()
    }

    async fn deleted(&self) -> String {
        let id = self.remember().await;
        self.house.delete(&format!("{OWN}/memories/{id}")).await.expect(204);
        id
    }

    async fn strategy(&self) -> String {
        let number = self.nodes.fetch_add(1, Ordering::Relaxed);
        let description = format!("feed the {} {number}", self.canary);
        let body = json!({"description": description, "domain": self.domain});
        let made = self.house.post(&format!("{OWN}/strategies"), &body).await.expect(201);
        id_of(&made).to_owned()
    }

    async fn policy(&self, role: Option<&str>) -> String {
        let rule = format!("feed the {}", self.canary);
        let body = json!({"rule": rule, "domain": self.domain, "required_role": role});
        let made = self.house.post(&format!("{OWN}/policies"), &body).await.expect(201);
        id_of(&made).to_owned()
    }

    async fn node(&self, connection: Option<&str>) -> String {
        let number = self.nodes.fetch_add(1, Ordering::Relaxed);
        let name = format!("{} {number}", self.canary);
        let body = json!({"type": "t", "name": name, "domain": self.domain,
            "connection_id": connection});
        let made = self.house.post(&format!("{OWN}/ontology/nodes"), &body).await.expect(201);
        id_of(&made).to_owned()
    }

    async fn edge(&self, to: &str) -> String {
        let body =
            json!({"source_id": self.node(None).await, "target_id": to, "relation": "KNOWS"});
        let made = self.house.post(&format!("{OWN}/ontology/edges"), &body).await.expect(201);
        id_of(&made).to_owned()
    }

    async fn connection(&self) -> String {
        let connection = format!("{}-{}", self.domain, self.nodes.load(Ordering::Relaxed));
        self.node(Some(&connection)).await;
        connection
    }

    /// Two memories that contradict each other, of which the newer moved into the domain.
    async fn review(&self) -> String {
        let settings = json!({"extraction": {"contradictions": "flag_review", "quiet_minutes": 0}});
        self.house.put(&format!("{OWN}/settings"), &settings).await.expect(200);
        let name = format!("Bela{}", self.nodes.fetch_add(1, Ordering::Relaxed));
        for town in ["Lisbon", "Porto"] {
            let body = json!({"role": "user", "content": format!("{name} lives in {town}.")});
            let turns = format!("{OWN}/conversations/{name}/turns");
            self.house.post(&turns, &body).await.expect(201);
            self.house.act(&format!("{OWN}/jobs/consolidate/run")).await.expect(200);
        }
        let found = self.house.get(&format!("{OWN}/reviews?limit=1")).await.expect(200);
        let review = &found["items"][0];
        let path = format!("{OWN}/memories/{}", id_of(&review["new"]));
        self.house.patch(&path, &json!({"domain": self.domain})).await.expect(200);
        id_of(review).to_owned()
    }

    /// All that an admin sees of the domain, but for what reading changes.
    async fn state(&self) -> Vec<Value> {
        let mut state = Vec::new();
        for list in ["memories?deleted=true", "memories?include_superseded=true", "policies?"] {
            let path = format!("{OWN}/{list}&limit=200&domain={}", self.domain);
            state.push(self.house.get(&path).await.expect(200));
        }
        let nodes = json!({"query": self.canary, "limit": 200});
        let nodes = self.house.post(&format!("{OWN}/ontology/search"), &nodes).await.expect(200);
        for node in nodes["items"].as_array().unwrap().iter().map(|hit| &hit["node"]) {
            let walk = json!({"ids": [node["id"]], "depth": 1});
            let walk = self.house.post(&format!("{OWN}/ontology/traverse"), &walk).await;
            state.extend([
                node["updated_at"].clone(),
                node["id"].clone(),
                walk.expect(200)["edges"].clone(),
            ]);
        }
        let ways = json!({"task": self.canary, "limit": 100});
        let ways = self.house.post(&format!("{OWN}/strategies/search"), &ways).await;
        state.push(ways.expect(200)["items"].clone());
        for list in ["domains", "grants"] {
            state.push(self.house.get(&format!("{OWN}/{list}")).await.expect(200));
        }
        state
    }

    async fn check(&self, operation: &Operation) {
        let Operation { name, need, target, wish } = operation;
        let place = format!("{} {:?} {:?}: {name}", self.role, self.border, self.client.surface);
        let own = self.house.remember("nothing special").await;
        let id = match target {
            Target::Nothing => NOBODY.to_owned(),
            Target::Memory => self.remember().await,
            Target::Deleted => self.deleted().await,
            Target::Policy => self.policy(None).await,
            Target::Node => self.node(None).await,
            Target::Edge => self.edge(id_of(&own)).await,
            Target::Connection => self.connection().await,
            Target::Strategy => self.strategy().await,
            Target::Review => self.review().await,
        };
        let body = json!({"type": "t", "name": format!("own {}", id_of(&own))});
        let own_node = self.house.post(&format!("{OWN}/ontology/nodes"), &body).await.expect(201);
        let wish = |id: &str| {
            let Self { domain, canary, grants, .. } = self;
            let (own, own_node) = (id_of(&own), id_of(&own_node));
            wish(&Place { canary, domain, id, own, own_node, grants })
        };
        let expected = expected(self.role, self.border, *need);
        let before = if expected == Outcome::Done { vec![] } else { self.state().await };
        let answer = self.client.ask(wish(&id)).await;
        assert_eq!(answer.outcome, expected, "{place}: {}", answer.text);
        self.check_silence(&answer, operation, &place);
        if expected == Outcome::Done {
            self.check_effect(&answer, operation, &id, &place);
        } else {
            assert_eq!(self.state().await, before, "{place} changed something");
        }
        if answer.outcome == Outcome::Absent {
            let nobodys = self.client.ask(wish(NOBODY)).await;
            let text = answer.text.replace(&id, NOBODY);
            assert_eq!(text, nobodys.text, "{place}: told from what never was");
        }
    }

    /// What may not be read is in no answer, and what was refused is in none either.
    fn check_silence(&self, answer: &Answer, operation: &Operation, place: &str) {
        let hidden = self.role != "admin" && self.border == Border::None;
        let text = &answer.text;
        if hidden || answer.outcome != Outcome::Done {
            assert!(!text.contains(&self.canary), "{place}: {text}");
        }
        if hidden && matches!(operation.need, Need::Find | Need::Audit | Need::Glance) {
            assert!(!text.contains(&self.domain), "{place}: {text}");
        }
        if answer.outcome == Outcome::Denied && operation.need == Need::Create {
            for word in [self.role, &self.domain] {
                assert!(text.contains(&format!("`{word}`")), "{place}: {text}");
            }
        }
    }

    /// What is shown to those who may see it, and taken by those who may.
    fn check_effect(&self, answer: &Answer, operation: &Operation, id: &str, place: &str) {
        let admin = self.role == "admin";
        let reads = admin || self.border != Border::None;
        let writes = admin || matches!(self.border, Border::Ungranted | Border::Write);
        let text = &answer.text;
        match operation.need {
            Need::Find | Need::Audit => {
                let shown = text.contains(&self.canary) || text.contains(&self.domain);
                assert_eq!(shown, reads, "{place}: {text}");
            }
            Need::Purge => assert_eq!(text.contains(id), writes, "{place}: {text}"),
            Need::Glance if operation.name == "cite" => {
                assert_eq!(!text.contains("unknown"), reads, "{place}: {text}");
            }
            _ => {}
        }
    }
}

async fn all_of_a_role(house: House, role: &'static str) {
    let mut cases = 0;
    for border in Border::ALL {
        for surface in [Surface::Rest, Surface::Mcp] {
            let case = Case::new(&house, role, border, surface).await;
            for operation in OPERATIONS {
                case.check(operation).await;
                cases += 1;
            }
        }
    }
    assert_eq!(cases, Border::ALL.len() * 2 * OPERATIONS.len());
    assert!(cases >= 300, "{cases}");
}

macro_rules! matrix {
    ($($engine:ident $open:ident { $($test:ident $place:literal)* })*) => {
        $(mod $engine {
            $(#[tokio::test]
            async fn $test() {
                let house = super::House::$open().await;
                super::all_of_a_role(house, super::ROLES[$place]).await;
            })*
        })*
    };
}

matrix! {
    embedded new {
        an_admin_gets_exactly_what_is_permitted 0
        a_member_gets_exactly_what_is_permitted 1
        an_agent_gets_exactly_what_is_permitted 2
        another_role_gets_exactly_what_is_permitted 3
    }
    shared on_postgres {
        an_admin_gets_exactly_what_is_permitted 0
        a_member_gets_exactly_what_is_permitted 1
        an_agent_gets_exactly_what_is_permitted 2
        another_role_gets_exactly_what_is_permitted 3
    }
}
