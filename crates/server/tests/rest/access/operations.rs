//! Everything that can be asked about memories, the graph, domains, grants and policies, by REST and by MCP,
//! and what each takes.

use axum::http::Method;
use serde_json::{Value, json};

/// The id of the metric `task_success_rate`, in every workspace.
const RATE: &str = "6d6e656d-6963-8000-8000-000000000001";

/// What an operation is about.
pub(super) struct Place<'p> {
    /// A word of every text in the domain, and of no other.
    pub canary: &'p str,
    pub domain: &'p str,
    /// A memory, policy, node, edge or connection of the domain.
    pub id: &'p str,
    /// A memory without a domain.
    pub own: &'p str,
    /// A node without a domain.
    pub own_node: &'p str,
    /// All grants there are.
    pub grants: &'p Value,
}

/// The same wish in both languages.
pub(super) struct Wish {
    pub method: Method,
    pub path: String,
    pub body: Option<Value>,
    pub tool: &'static str,
    pub arguments: Value,
}

/// What has to be there beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Nothing,
    Memory,
    Deleted,
    Policy,
    Node,
    /// An edge from a node of the domain.
    Edge,
    /// A connection that brought a node of the domain.
    Connection,
    Strategy,
    /// A review of two memories, one of which is of the domain.
    Review,
}

/// What an operation takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Always answered; shows what may be read.
    Find,
    /// The same, but it need not show anything.
    Glance,
    /// As `Find`, for admins and members.
    Audit,
    /// To read the record that is named.
    Read,
    /// To write to the domain of the record that is named.
    Change,
    /// As `Change`, for admins and members.
    Erase,
    /// To write to the domain that is named.
    Create,
    /// Always answered for admins and members; takes what may be written.
    Purge,
    /// To be an admin.
    Manage,
}

pub(super) struct Operation {
    pub name: &'static str,
    pub need: Need,
    pub target: Target,
    pub wish: fn(&Place<'_>) -> Wish,
}

macro_rules! operations {
    ($($name:literal $need:ident $target:ident |$p:ident|
       $method:ident $path:expr, $body:expr; $tool:literal $arguments:expr;)*) => {
        &[$(Operation {
            name: $name,
            need: Need::$need,
            target: Target::$target,
            wish: |$p| Wish {
                method: Method::$method,
                path: format!("/v1/workspaces/current/{}", $path),
                body: $body,
                tool: $tool,
                arguments: $arguments,
            },
        },)*]
    };
}

/// Reads come first, so that the audit still shows on one page what made the records.
pub(super) const OPERATIONS: &[Operation] = operations![
    "audit" Audit Nothing |_p| GET "audit?limit=200", None; "audit_list" json!({"limit": 200});
    "list" Find Nothing |_p| GET "memories?limit=200", None; "memory_list" json!({"limit": 200});
    "list of the domain" Find Nothing |p|
        GET format!("memories?domain={}", p.domain), None; "memory_list" json!({"domain": p.domain});
    "list by words" Find Nothing |p|
        GET format!("memories?q={}&domain={}", p.canary, p.domain), None;
        "memory_list" json!({"q": p.canary, "domain": p.domain});
    "list of the deleted" Find Nothing |p|
        GET format!("memories?deleted=true&domain={}", p.domain), None;
        "memory_list" json!({"deleted": true, "domain": p.domain});
    "list of the replaced" Find Nothing |p|
        GET format!("memories?include_superseded=true&domain={}", p.domain), None;
        "memory_list" json!({"include_superseded": true, "domain": p.domain});
    "stale" Find Nothing |_p|
        GET "memories/stale?older_than_days=0&limit=200", None;
        "memory_stale" json!({"older_than_days": 0, "limit": 200});
    "recommended pins" Find Nothing |_p|
        GET "memories/recommended-pins?limit=200", None; "memory_recommended_pins" json!({"limit": 200});
    "recall" Find Nothing |p|
        POST "recall", Some(json!({"query": p.canary, "explain": true, "limit": 100}));
        "memory_recall" json!({"query": p.canary, "explain": true, "limit": 100});
    "context" Find Nothing |p|
        POST "context", Some(json!({"query": p.canary, "budget_tokens": 100_000}));
        "context_assemble" json!({"query": p.canary, "budget_tokens": 100_000});
    "ask" Find Nothing |p|
        POST "ask", Some(json!({"question": p.canary}));
        "memory_ask" json!({"question": p.canary});
    "find a node" Find Nothing |p|
        POST "ontology/search", Some(json!({"query": p.canary, "limit": 200}));
        "ontology_search" json!({"query": p.canary, "limit": 200});
    "walk from it" Find Node |p|
        POST "ontology/traverse", Some(json!({"ids": [p.id], "depth": 2}));
        "ontology_traverse" json!({"ids": [p.id], "depth": 2});
    "find a strategy" Find Nothing |p|
        POST "strategies/search", Some(json!({"task": p.canary, "limit": 100}));
        "strategy_find" json!({"task": p.canary, "limit": 100});
    "metrics" Glance Nothing |_p|
        GET "metrics?limit=200", None; "memory_metric_list" json!({"limit": 200});
    "trend" Glance Nothing |_p|
        GET format!("metrics/{RATE}/benchmarks"), None;
        "memory_benchmark_get" json!({"metric_id": RATE});
    "comparison" Glance Nothing |_p|
        POST "benchmarks/compare", Some(json!({"metric_ids": [RATE, RATE]}));
        "memory_benchmark_compare" json!({"metric_ids": [RATE, RATE]});
    "timeline" Find Nothing |_p|
        GET "timeline?limit=200", None; "timeline_list" json!({"limit": 200});
    "domains" Find Nothing |_p| GET "domains", None; "domain_list" json!({});
    "policies" Find Nothing |p|
        GET format!("policies?domain={}", p.domain), None; "policy_list" json!({"domain": p.domain});
    "grants" Glance Nothing |_p| GET "grants", None; "grant_list" json!({});
    "cite" Glance Memory |p|
        POST format!("runs/{}/finish", p.id), Some(json!({"text": format!("[mem:{}]", p.id)}));
        "run_finish" json!({"run_id": p.id, "text": format!("[mem:{}]", p.id)});
    "get" Read Memory |p| GET format!("memories/{}", p.id), None; "memory_get" json!({"id": p.id});
    "replace one's own by it" Read Memory |p|
        PATCH format!("memories/{}", p.own), Some(json!({"superseded_by": p.id}));
        "memory_update" json!({"id": p.own, "superseded_by": p.id});
    "get a node" Read Node |p|
        GET format!("ontology/nodes/{}", p.id), None; "ontology_get_node" json!({"id": p.id});
    "join one's own to it" Read Node |p|
        POST "ontology/edges",
        Some(json!({"source_id": p.own, "target_id": p.id, "relation": "ABOUT"}));
        "ontology_create_edge"
        json!({"source_id": p.own, "target_id": p.id, "relation": "ABOUT"});
    "join it to one's own" Change Node |p|
        POST "ontology/edges",
        Some(json!({"source_id": p.id, "target_id": p.own, "relation": "KNOWS"}));
        "ontology_create_edge"
        json!({"source_id": p.id, "target_id": p.own, "relation": "KNOWS"});
    "part it" Change Edge |p|
        DELETE format!("ontology/edges/{}", p.id), None; "ontology_delete_edge" json!({"id": p.id});
    "update a node" Change Node |p|
        PATCH format!("ontology/nodes/{}", p.id), Some(json!({"salience": 1}));
        "ontology_update_node" json!({"id": p.id, "salience": 1});
    "move a node out" Change Node |p|
        PATCH format!("ontology/nodes/{}", p.id), Some(json!({"domain": null}));
        "ontology_update_node" json!({"id": p.id, "clear": ["domain"]});
    "merge it into one's own" Change Node |p|
        POST format!("ontology/nodes/{}/merge", p.id), Some(json!({"into": p.own_node}));
        "ontology_merge_nodes" json!({"id": p.id, "into": p.own_node});
    "merge one's own into it" Change Node |p|
        POST format!("ontology/nodes/{}/merge", p.own_node), Some(json!({"into": p.id}));
        "ontology_merge_nodes" json!({"id": p.own_node, "into": p.id});
    "split it" Change Node |p|
        POST format!("ontology/nodes/{}/split", p.id), Some(json!({"name": p.id}));
        "ontology_split_node" json!({"id": p.id, "name": p.id});
    "delete a node" Change Node |p|
        DELETE format!("ontology/nodes/{}", p.id), None; "ontology_delete_node" json!({"id": p.id});
    "erase a node" Erase Node |p|
        DELETE format!("ontology/nodes/{}?hard=true", p.id), None;
        "ontology_delete_node" json!({"id": p.id, "hard": true});
    "erase a connection" Erase Connection |p|
        DELETE format!("ontology/connections/{}", p.id), None;
        "ontology_delete_connection" json!({"connection_id": p.id});
    "reinforce a strategy" Change Strategy |p|
        POST format!("strategies/{}/reinforce", p.id), Some(json!({"success": true}));
        "strategy_reinforce" json!({"id": p.id, "success": true});
    "forget a strategy" Change Strategy |p|
        DELETE format!("strategies/{}", p.id), None; "strategy_forget" json!({"id": p.id});
    "update" Change Memory |p|
        PATCH format!("memories/{}", p.id), Some(json!({"topic": "t"}));
        "memory_update" json!({"id": p.id, "topic": "t"});
    "move out" Change Memory |p|
        PATCH format!("memories/{}", p.id), Some(json!({"domain": null}));
        "memory_update" json!({"id": p.id, "clear": ["domain"]});
    "supersede" Change Memory |p|
        POST format!("memories/{}/supersede", p.id), Some(json!({"content": "new"}));
        "memory_supersede" json!({"id": p.id, "content": "new"});
    "create over it" Change Memory |p|
        POST "memories", Some(json!({"content": "new", "supersedes": p.id}));
        "memory_remember" json!({"content": "new", "supersedes": p.id});
    "promote" Change Memory |p|
        POST format!("memories/{}/promote", p.id), None; "memory_promote" json!({"id": p.id});
    "weigh" Change Memory |p|
        POST format!("memories/{}/weight", p.id), Some(json!({"delta": 1}));
        "memory_weight" json!({"id": p.id, "delta": 1});
    "pin" Change Memory |p|
        POST format!("memories/{}/pin", p.id), None; "memory_pin" json!({"id": p.id});
    "unpin, which changes nothing" Change Memory |p|
        POST format!("memories/{}/unpin", p.id), None; "memory_unpin" json!({"id": p.id});
    "forget" Change Memory |p|
        DELETE format!("memories/{}", p.id), None; "memory_forget" json!({"id": p.id});
    "restore" Change Deleted |p|
        POST format!("memories/{}/restore", p.id), None; "memory_restore" json!({"id": p.id});
    "erase" Erase Memory |p|
        DELETE format!("memories/{}?hard=true", p.id), None;
        "memory_forget" json!({"id": p.id, "hard": true});
    "erase what is deleted" Erase Deleted |p|
        DELETE format!("memories/{}?hard=true", p.id), None;
        "memory_forget" json!({"id": p.id, "hard": true});
    "reviews" Glance Review |_p| GET "reviews?limit=200", None; "review_list" json!({"limit": 200});
    "decide a review" Change Review |p|
        POST format!("reviews/{}/resolve", p.id), Some(json!({"decision": "keep_both"}));
        "review_resolve" json!({"id": p.id, "decision": "keep_both"});
    "change a policy" Change Policy |p|
        PATCH format!("policies/{}", p.id), Some(json!({"active": false}));
        "policy_update" json!({"id": p.id, "active": false});
    "create" Create Nothing |p|
        POST "memories", Some(json!({"content": "new", "domain": p.domain}));
        "memory_remember" json!({"content": "new", "domain": p.domain});
    "make a node" Create Nothing |p|
        POST "ontology/nodes", Some(json!({"type": "t", "name": "new", "domain": p.domain}));
        "ontology_create_node" json!({"type": "t", "name": "new", "domain": p.domain});
    "move a node in" Create Nothing |p|
        PATCH format!("ontology/nodes/{}", p.own_node), Some(json!({"domain": p.domain}));
        "ontology_update_node" json!({"id": p.own_node, "domain": p.domain});
    "move in" Create Nothing |p|
        PATCH format!("memories/{}", p.own), Some(json!({"domain": p.domain}));
        "memory_update" json!({"id": p.own, "domain": p.domain});
    "learn a strategy" Create Nothing |p|
        POST "strategies", Some(json!({"description": "new", "domain": p.domain}));
        "strategy_learn" json!({"description": "new", "domain": p.domain});
    "make a policy" Create Nothing |p|
        POST "policies", Some(json!({"rule": "new", "domain": p.domain}));
        "policy_create" json!({"rule": "new", "domain": p.domain});
    "describe the domain" Create Nothing |p|
        POST "domains", Some(json!({"name": p.domain, "description": "new"}));
        "domain_create" json!({"name": p.domain, "description": "new"});
    "purge" Purge Memory |p|
        POST "memories/purge", Some(json!({"older_than_days": 0, "ids": [p.id]}));
        "memory_purge" json!({"older_than_days": 0, "ids": [p.id]});
    "set grants" Manage Nothing |p|
        PUT "grants", Some(p.grants.clone()); "grant_set" json!({"grants": p.grants});
];
