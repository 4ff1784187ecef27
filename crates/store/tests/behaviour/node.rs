//! Nodes: found by any of their names, changed, hidden, erased, merged and split.

use mnemic_core::edge::NewEdge;
use mnemic_core::ids::{EdgeId, NodeId};
use mnemic_core::memory::{MemoryPatch, NewMemory};
use mnemic_core::node::{
    Match, NewNode, Node, NodeFilter, NodePatch, NodeSearch, NodeSplit, Properties, Traversal,
    Upserted,
};
use mnemic_core::principal::{AGENT, Principal};
use mnemic_core::{Code, Kind, Result};
use mnemic_store::{Statement, values};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{DAY, World, at_once, keyed, seen, text};

pub(crate) fn person(name: &str) -> NewNode {
    NewNode { node_type: "person".to_owned(), name: name.to_owned(), ..NewNode::default() }
}

pub(crate) fn called(name: &str, aliases: &[&str]) -> NewNode {
    let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
    NewNode { aliases, ..person(name) }
}

pub(crate) fn object(value: Value) -> Properties {
    serde_json::from_value(value).unwrap()
}

impl World {
    pub(crate) async fn upsert(&self, new: &NewNode) -> Result<Upserted> {
        self.mnemic.upsert_node(&self.as_operator(), new).await
    }

    pub(crate) async fn node(&self, new: &NewNode) -> Node {
        self.upsert(new).await.unwrap().node
    }

    pub(crate) async fn edge(&self, source: NodeId, relation: &str, target: NodeId) -> EdgeId {
        let new = link(source.0, relation, target.0);
        self.mnemic.link(&self.as_operator(), &new).await.unwrap().edge.id
    }

    async fn names(&self, query: &str) -> Vec<String> {
        let search = NodeSearch { query: query.to_owned(), ..NodeSearch::default() };
        let hits = self.mnemic.search_nodes(&self.operator, &search).await.unwrap();
        hits.into_iter().map(|hit| hit.node.name).collect()
    }
}

pub(crate) fn link(source_id: Uuid, relation: &str, target_id: Uuid) -> NewEdge {
    NewEdge { source_id, target_id, relation: relation.to_owned(), ..NewEdge::default() }
}

pub(crate) async fn a_node_is_found_by_any_of_its_names(w: World) {
    let made = w.upsert(&called("Ana Díaz", &["Ana", "A. Díaz"])).await.unwrap();
    assert!(made.created);
    for name in ["ana díaz", "ANA", "a.  díaz"] {
        let again = w.upsert(&person(name)).await.unwrap();
        assert_eq!((again.created, again.node.id), (false, made.node.id), "{name}");
        assert_eq!(again.node, made.node, "nothing changed");
    }
    let more = NewNode {
        description: Some("a colleague".to_owned()),
        properties: object(json!({"since": 2020, "team": {"name": "core"}})),
        ..called("Ana", &["Anita"])
    };
    w.clock.forward(DAY);
    let merged = w.node(&more).await;
    assert_eq!(merged.id, made.node.id);
    assert_eq!(merged.name, "Ana Díaz", "its name stays");
    assert_eq!(merged.aliases, ["Ana", "A. Díaz", "Anita"]);
    assert_eq!(merged.description.as_deref(), Some("a colleague"));
    let over = NewNode { properties: object(json!({"team": 1, "since": null})), ..person("anita") };
    let merged = w.node(&over).await;
    assert_eq!(Value::Object(merged.properties.clone()), json!({"team": 1}));
    assert_eq!(w.mnemic.get_node(&w.operator, merged.id).await.unwrap(), merged);
}

pub(crate) async fn a_name_counts_within_its_channel_and_type(w: World) {
    let ana = w.node(&person("Ana")).await;
    let elsewhere = NewNode { channel: Some("apollo".to_owned()), ..person("Ana") };
    let ship = NewNode { node_type: "ship".to_owned(), ..person("Ana") };
    let ids = [ana.id, w.node(&elsewhere).await.id, w.node(&ship).await.id];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

pub(crate) async fn a_name_may_be_its_own_alias(w: World) {
    let ana = w.node(&called("Ana", &["ana", "ANA", "Ana"])).await;
    assert!(ana.aliases.is_empty(), "{:?}", ana.aliases);
    let again = w.upsert(&called("Ana", &["Ana", "Anita", "anita"])).await.unwrap();
    assert_eq!((again.created, &again.node.aliases[..]), (false, &["Anita".to_owned()][..]));
}

pub(crate) async fn names_of_two_nodes_are_a_conflict_that_names_both(w: World) {
    let (ana, anna) = (w.node(&person("Ana")).await, w.node(&person("Anna")).await);
    let refused = w.upsert(&called("Ana", &["Anna"])).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Conflict);
    let detail = refused.to_string();
    for part in [ana.id.to_string(), anna.id.to_string(), "merge".to_owned()] {
        assert!(detail.contains(&part), "{detail}");
    }
    let patch = NodePatch { aliases: Some(vec!["ana".to_owned()]), ..NodePatch::default() };
    let refused = w.mnemic.update_node(&w.as_operator(), anna.id, &patch).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Conflict);
    assert!(refused.to_string().contains(&ana.id.to_string()), "{refused}");
}

pub(crate) async fn what_is_wrong_with_a_node_is_named(w: World) {
    let long = "x".repeat(20_000);
    let cases = [
        (NewNode { name: String::new(), ..person("") }, "name: "),
        (NewNode { node_type: " x".to_owned(), ..person("a") }, "type: "),
        (NewNode { node_type: "memory".to_owned(), ..person("a") }, "type: `memory`"),
        (called("a", &["b", "c\u{200B}"]), "aliases[1]: "),
        (NewNode { description: Some(long.clone()), ..person("a") }, "description: "),
        (NewNode { properties: object(json!({"x": long})), ..person("a") }, "properties: "),
        (NewNode { properties: object(json!({"x": "\0"})), ..person("a") }, "properties: "),
        (NewNode { salience: Some(1.5), ..person("a") }, "salience: 1.5"),
        (NewNode { channel: Some("\n".to_owned()), ..person("a") }, "channel: "),
    ];
    for (new, problem) in cases {
        let refused = w.upsert(&new).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidField, "{refused}");
        assert!(refused.to_string().starts_with(problem), "{refused}");
    }
    assert!(w.names("a").await.is_empty());
}

pub(crate) async fn a_batch_of_nodes_is_all_or_nothing(w: World) {
    let caller = w.as_operator();
    let news = [person("Ana"), called("Bo", &["Ana"]), person("Cy")];
    let upserted = w.mnemic.upsert_nodes(&caller, &news).await.unwrap();
    assert_eq!(upserted[0].node.id, upserted[1].node.id, "the second finds the first");
    assert_eq!(upserted[1].node.aliases, ["Bo"]);
    let news = [person("Di"), person("Ed"), called("Ana", &["Cy"])];
    let refused = w.mnemic.upsert_nodes(&caller, &news).await.unwrap_err();
    assert!(refused.to_string().starts_with("[2]."), "{refused}");
    assert!(w.names("Di").await.is_empty(), "nothing was made");
    let news = [person("Di"), person("")];
    let refused = w.mnemic.upsert_nodes(&caller, &news).await.unwrap_err();
    assert!(refused.to_string().starts_with("[1].name"), "{refused}");
    w.mnemic.upsert_nodes(&caller, &[]).await.unwrap_err();
}

pub(crate) async fn one_name_at_sixteen_hands_is_one_node(w: World) {
    let outcomes = at_once(16, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let alias = format!("Nr {number}");
        async move { mnemic.upsert_node(&caller, &called("Ana", &[&alias])).await.unwrap() }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|upserted| upserted.created).count(), 1);
    let node = w.node(&person("Ana")).await;
    assert!(outcomes.iter().all(|upserted| upserted.node.id == node.id));
    assert_eq!(node.aliases.len(), 16, "no alias was lost: {:?}", node.aliases);
}

pub(crate) async fn a_keyed_creation_is_made_once(w: World) {
    let key = keyed(&w.operator, "k", "f");
    let first = w.mnemic.upsert_node(&key, &person("Ana")).await.unwrap();
    let again = w.mnemic.upsert_node(&key, &person("Ana")).await.unwrap();
    assert_eq!(again, first);
    assert!(again.created, "the first answer again");
}

pub(crate) async fn a_patch_changes_a_node_and_its_names(w: World) {
    let ana = NewNode {
        properties: object(json!({"a": 1, "b": 2})),
        description: Some("x".to_owned()),
        ..called("Ana", &["Anita", "Annie"])
    };
    let ana = w.node(&ana).await;
    let patch = NodePatch {
        name: Some("Ana María".to_owned()),
        aliases: Some(vec!["Ana".to_owned(), "Annie".to_owned()]),
        description: Some(None),
        properties: Some(object(json!({"b": null, "c": 3}))),
        ..NodePatch::default()
    };
    let caller = w.as_operator();
    let changed = w.mnemic.update_node(&caller, ana.id, &patch).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.description.as_deref()), ("Ana María", None));
    assert_eq!(Value::Object(changed.properties.clone()), json!({"a": 1, "c": 3}));
    assert_eq!(w.node(&person("ana maría")).await.id, ana.id);
    assert!(w.upsert(&person("Anita")).await.unwrap().created, "a name that was given up is free");
    let none = NodePatch::default();
    let same = w.mnemic.update_node(&caller, ana.id, &none).await.unwrap();
    assert_eq!(same.revision, w.mnemic.get_node(&w.operator, ana.id).await.unwrap().revision);
}

pub(crate) async fn a_deleted_node_is_nowhere_and_its_names_are_free(w: World) {
    let (ana, bo) = (w.node(&person("Ana")).await, w.node(&person("Bo")).await);
    let edge = w.edge(ana.id, "KNOWS", bo.id).await;
    let caller = w.as_operator();
    w.mnemic.delete_node(&caller, ana.id).await.unwrap();
    let absent = seen(w.mnemic.get_node(&w.operator, NodeId(Uuid::now_v7())).await);
    assert_eq!(seen(w.mnemic.get_node(&w.operator, ana.id).await), absent);
    assert_eq!(seen(w.mnemic.delete_node(&caller, ana.id).await), absent);
    let patch = NodePatch::default();
    assert_eq!(seen(w.mnemic.update_node(&caller, ana.id, &patch).await), absent);
    assert!(w.names("Ana").await.is_empty());
    assert_eq!(w.mnemic.unlink(&caller, edge).await.unwrap_err().code(), Code::NotFound);
    let again = w.upsert(&person("Ana")).await.unwrap();
    assert!(again.created && again.node.id != ana.id);
}

static TRACES: Statement = Statement::workspace(
    "test.node_traces",
    "SELECT (SELECT count(*) FROM nodes WHERE workspace_id = $1 AND id = $2)
          + (SELECT count(*) FROM node_aliases WHERE workspace_id = $1 AND node_id = $2)
          + (SELECT count(*) FROM node_words WHERE workspace_id = $1 AND node_id = $2)
          + (SELECT count(*) FROM edges WHERE workspace_id = $1
             AND (source_id = $2 OR target_id = $2))
          + (SELECT count(*) FROM answers
             WHERE workspace_id = $1 AND CAST(body AS TEXT) LIKE $3) AS rows",
);

pub(crate) async fn an_erased_node_leaves_no_trace(w: World) {
    let key = keyed(&w.operator, "k", "f");
    let node = NewNode { description: Some("the canary".to_owned()), ..person("Tweety Bird") };
    let node = w.mnemic.upsert_node(&key, &node).await.unwrap().node;
    let other = w.node(&person("Bo")).await;
    w.edge(node.id, "KNOWS", other.id).await;
    w.edge(other.id, "KNOWS", node.id).await;
    let traces = async || {
        w.count_of(&w.operator, &TRACES, values![node.id.0, format!("%{}%", node.id)]).await
    };
    assert!(traces().await >= 6);
    let agent = w.member("default", AGENT).await;
    let refused = w.mnemic.erase_node(&mnemic_core::principal::Caller::new(agent), node.id).await;
    assert_eq!(refused.unwrap_err().kind(), Kind::Denied);
    w.mnemic.delete_node(&w.as_operator(), node.id).await.unwrap();
    w.mnemic.erase_node(&w.as_operator(), node.id).await.unwrap();
    assert_eq!(traces().await, 0);
    assert!(!w.files_have("Tweety"), "in no file");
    let again = w.mnemic.erase_node(&w.as_operator(), node.id).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
}

pub(crate) async fn a_connection_goes_with_its_slice(w: World) {
    let from = |name: &str, connection: &str| NewNode {
        connection_id: Some(connection.to_owned()),
        ..person(name)
    };
    let a = w.node(&from("Ana", "crm \"1\"")).await;
    let b = w.node(&from("Bo", "crm \"1\"")).await;
    let c = w.node(&from("Cy", "wiki")).await;
    for (source, target) in [(a.id, b.id), (b.id, c.id), (c.id, a.id), (a.id, a.id)] {
        w.edge(source, "KNOWS", target).await;
    }
    let kept = w.edge(c.id, "KNOWS", c.id).await;
    w.mnemic.delete_node(&w.as_operator(), b.id).await.unwrap();
    let caller = w.as_operator();
    let erased = w.mnemic.erase_connection(&caller, "crm \"1\"").await.unwrap();
    assert_eq!((erased.counts["nodes"], erased.counts["edges"]), (2, 4));
    assert_eq!(erased.tombstones, 2, "of the records alone: the source may be connected again");
    w.node(&person("Ana")).await;
    assert_eq!(w.mnemic.get_node(&w.operator, a.id).await.unwrap_err().code(), Code::NotFound);
    w.mnemic.get_node(&w.operator, c.id).await.unwrap();
    w.mnemic.unlink(&caller, kept).await.unwrap();
    let again = w.mnemic.erase_connection(&caller, "crm \"1\"").await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
}

pub(crate) async fn a_search_ranks_names_before_words(w: World) {
    let described =
        |name: &str, text: &str| NewNode { description: Some(text.to_owned()), ..person(name) };
    w.node(&described("Bo Larsen", "runs the billing of Atlas Shipping")).await;
    w.node(&NewNode { node_type: "project".to_owned(), ..called("Atlas Two", &[]) }).await;
    w.node(&called("Hercules", &["Atlas"])).await;
    w.node(&person("Cy")).await;
    assert_eq!(w.names("atlas").await, ["Hercules", "Atlas Two", "Bo Larsen"]);
    assert_eq!(w.names("who is running bills").await, ["Bo Larsen"], "by stems");
    assert!(w.names("nothing of the kind").await.is_empty());
    let search = NodeSearch {
        query: "Atlas".to_owned(),
        filter: NodeFilter { types: vec!["project".to_owned()], channel: None },
        limit: Some(1),
    };
    let hits = w.mnemic.search_nodes(&w.operator, &search).await.unwrap();
    assert_eq!((hits.len(), hits[0].matched), (1, Match::Prefix));
    w.mnemic.flush_accesses().await;
    let node = w.mnemic.get_node(&w.operator, hits[0].node.id).await.unwrap();
    assert_eq!((node.access_count, node.last_accessed), (2, Some(w.now())));
}

pub(crate) async fn a_search_stays_in_its_channel_and_workspace(w: World) {
    let inside =
        |channel: &str, name: &str| NewNode { channel: Some(channel.to_owned()), ..person(name) };
    w.node(&inside("apollo", "Ana One")).await;
    w.node(&inside("gemini", "Ana Two")).await;
    w.node(&person("Ana Three")).await;
    let stranger: Principal = w.workspace("strangers").await;
    let search = |channel: Option<&str>| NodeSearch {
        query: "ana".to_owned(),
        filter: NodeFilter { types: vec![], channel: channel.map(str::to_owned) },
        limit: None,
    };
    let count = async |who: &Principal, search: &NodeSearch| {
        w.mnemic.search_nodes(who, search).await.unwrap().len()
    };
    assert_eq!(count(&w.operator, &search(None)).await, 3);
    assert_eq!(count(&w.operator, &search(Some("apollo"))).await, 2);
    assert_eq!(count(&stranger, &search(None)).await, 0);
}

pub(crate) async fn two_nodes_become_one(w: World) {
    let ana = NewNode { properties: object(json!({"a": 1, "b": 1})), ..called("Ana", &["Anita"]) };
    let (ana, anna) = (w.node(&ana).await, w.node(&person("Anna")).await);
    let (bo, cy) = (w.node(&person("Bo")).await, w.node(&person("Cy")).await);
    for (source, target) in [
        (ana.id, bo.id),
        (anna.id, bo.id),
        (ana.id, cy.id),
        (cy.id, ana.id),
        (ana.id, anna.id),
        (ana.id, ana.id),
    ] {
        w.edge(source, "KNOWS", target).await;
    }
    let caller = w.as_operator();
    let patch = NodePatch { properties: Some(object(json!({"b": 2}))), ..NodePatch::default() };
    w.mnemic.update_node(&caller, anna.id, &patch).await.unwrap();
    let kept = w.mnemic.merge_nodes(&caller, ana.id, anna.id).await.unwrap();
    assert_eq!((kept.id, kept.name.as_str()), (anna.id, "Anna"));
    assert_eq!(kept.aliases, ["Ana", "Anita"]);
    assert_eq!(Value::Object(kept.properties), json!({"a": 1, "b": 2}));
    assert_eq!(w.node(&person("Ana")).await.id, anna.id, "found by the other's name");
    assert_eq!(w.mnemic.get_node(&w.operator, ana.id).await.unwrap_err().code(), Code::NotFound);
    let graph = crate::edge::walk(&w, anna.id.0, 1).await;
    let ends: Vec<_> = graph.edges.iter().map(|e| (e.source_id, e.target_id)).collect();
    assert_eq!(ends.len(), 3, "what both had is there once: {ends:?}");
    for pair in [(anna.id.0, bo.id.0), (anna.id.0, cy.id.0), (cy.id.0, anna.id.0)] {
        assert!(ends.contains(&pair), "{ends:?}");
    }
    let itself = w.mnemic.merge_nodes(&caller, anna.id, anna.id).await.unwrap_err();
    assert_eq!(itself.code(), Code::InvalidField);
    let gone = w.mnemic.merge_nodes(&caller, bo.id, ana.id).await.unwrap_err();
    assert!(gone.code() == Code::NotFound && gone.to_string().starts_with("into: "), "{gone}");
}

pub(crate) async fn one_node_becomes_two(w: World) {
    let john = w.node(&called("John Smith", &["J. Smith", "Johnny"])).await;
    let (bo, cy) = (w.node(&person("Bo")).await, w.node(&person("Cy")).await);
    let stays = w.edge(john.id, "KNOWS", bo.id).await;
    let leaves = w.edge(cy.id, "KNOWS", john.id).await;
    let caller = w.as_operator();
    let split = NodeSplit {
        name: "Johnny Smith".to_owned(),
        aliases: vec!["johnny".to_owned()],
        edge_ids: vec![leaves],
        ..NodeSplit::default()
    };
    let done = w.mnemic.split_node(&caller, john.id, &split).await.unwrap();
    assert_eq!((done.node.id, &done.node.aliases[..]), (john.id, &["J. Smith".to_owned()][..]));
    assert_eq!(done.split_off.aliases, ["johnny"]);
    assert_eq!(w.node(&person("Johnny")).await.id, done.split_off.id);
    let edges = |graph: mnemic_core::node::Subgraph| -> Vec<EdgeId> {
        graph.edges.iter().map(|edge| edge.id).collect()
    };
    assert_eq!(edges(crate::edge::walk(&w, john.id.0, 1).await), [stays]);
    assert_eq!(edges(crate::edge::walk(&w, done.split_off.id.0, 1).await), [leaves]);
    for (split, problem) in [
        (NodeSplit { name: "John Smith".to_owned(), ..NodeSplit::default() }, "name: "),
        (
            NodeSplit {
                name: "X".to_owned(),
                aliases: vec!["Bo".to_owned()],
                ..NodeSplit::default()
            },
            "aliases[0]: ",
        ),
        (
            NodeSplit { name: "X".to_owned(), edge_ids: vec![leaves], ..NodeSplit::default() },
            "edge_ids[0]: ",
        ),
    ] {
        let refused = w.mnemic.split_node(&caller, john.id, &split).await.unwrap_err();
        assert!(refused.to_string().starts_with(problem), "{refused}");
    }
    let taken = NodeSplit { name: "Bo".to_owned(), ..NodeSplit::default() };
    let refused = w.mnemic.split_node(&caller, john.id, &taken).await.unwrap_err();
    assert_eq!(refused.kind(), Kind::Conflict);
}

pub(crate) async fn a_name_is_one_nodes_within_its_domain(w: World) {
    let of = |domain: Option<&str>| NewNode {
        domain: domain.map(str::to_owned),
        ..person("Public Paul")
    };
    let open = w.node(&of(None)).await;
    let closed = w.node(&of(Some("secret"))).await;
    assert_ne!(open.id, closed.id);
    assert_eq!(w.node(&of(None)).await, open, "nobody takes it over");
    assert_eq!(w.node(&of(Some("secret"))).await.id, closed.id);
    let moved = NodePatch { domain: Some(None), ..NodePatch::default() };
    let refused = w.mnemic.update_node(&w.as_operator(), closed.id, &moved).await;
    assert_eq!(seen(refused).0, "conflict");
    let composed = w.node(&person("Ren\u{e9}e")).await;
    assert_eq!(w.node(&person("Rene\u{301}e")).await.id, composed.id);
}

pub(crate) async fn naming_an_entity_again_joins_it_to_the_node_that_is_there(w: World) {
    let new = NewMemory { entities: vec!["Hank".to_owned()], ..text("sells propane") };
    let memory = w.mnemic.create_memory(&w.as_operator(), new).await.unwrap();
    let first = w.upsert(&NewNode { node_type: "entity".to_owned(), ..person("Hank") }).await;
    w.mnemic.delete_node(&w.as_operator(), first.unwrap().node.id).await.unwrap();
    let hank = w.node(&person("Hank")).await;
    let neighbours = async || {
        let walk = Traversal { ids: vec![hank.id.0], depth: 1, ..Traversal::default() };
        w.mnemic.traverse(&w.operator, &walk).await.unwrap().nodes.len() - 1
    };
    assert_eq!(neighbours().await, 0);
    let again = MemoryPatch { entities: Some(memory.entities), ..MemoryPatch::default() };
    w.mnemic.update_memory(&w.as_operator(), memory.id, &again).await.unwrap();
    assert_eq!(neighbours().await, 1);
}
