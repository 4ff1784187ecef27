//! Edges and walks over them: what may be joined, what holds when, and where a walk ends.

use jiff::Timestamp;
use mnemic_core::Code;
use mnemic_core::edge::NewEdge;
use mnemic_core::ids::NodeId;
use mnemic_core::memory::{MemoryPatch, NewMemory};
use mnemic_core::node::{Direction, NewNode, Record, Subgraph, Traversal};
use mnemic_core::principal::Caller;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::node::{called, link, object, person};
use crate::world::{DAY, World, seen, text};

pub(crate) fn from(id: Uuid, depth: u32) -> Traversal {
    Traversal { ids: vec![id], depth, ..Traversal::default() }
}

pub(crate) async fn walk(w: &World, id: Uuid, depth: u32) -> Subgraph {
    walked(w, &from(id, depth)).await
}

async fn walked(w: &World, traversal: &Traversal) -> Subgraph {
    w.mnemic.traverse(&w.operator, traversal).await.unwrap()
}

/// Names of nodes and beginnings of memories, nearest first.
fn names(graph: &Subgraph) -> Vec<String> {
    let name = |record: &Record| match record {
        Record::Node(node) => node.name.clone(),
        Record::Memory(memory) => memory.text.clone(),
        Record::Said(said) => said.text(),
        Record::Done(done) => done.text(),
    };
    graph.nodes.iter().map(|visit| name(&visit.record)).collect()
}

async fn people(w: &World, names: &[&str]) -> Vec<NodeId> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(w.node(&person(name)).await.id);
    }
    ids
}

pub(crate) async fn an_edge_joins_any_two_records(w: World) {
    let ana = w.node(&person("Ana")).await;
    let memory = w.remember(&w.operator, "she prefers tea").await;
    let caller = w.as_operator();
    let made = w.mnemic.link(&caller, &link(ana.id.0, "REFERENCES", memory.id.0)).await.unwrap();
    assert!(made.created);
    assert_eq!((made.edge.channel.as_str(), made.edge.recorded_at), ("_global", w.now()));
    assert_eq!(names(&walk(&w, ana.id.0, 1).await), ["Ana", "she prefers tea"]);
    assert_eq!(names(&walk(&w, memory.id.0, 1).await), ["she prefers tea", "Ana"]);
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    assert_eq!(names(&walk(&w, ana.id.0, 1).await), ["Ana"], "hidden with its edges");
    assert!(walk(&w, memory.id.0, 1).await.nodes.is_empty());
    w.mnemic.restore_memory(&caller, memory.id).await.unwrap();
    assert_eq!(names(&walk(&w, ana.id.0, 1).await).len(), 2, "and back with them");
}

pub(crate) async fn what_is_wrong_with_an_edge_is_named(w: World) {
    let ids = people(&w, &["Ana", "Bo", "Gone"]).await;
    let (ana, bo, gone) = (ids[0].0, ids[1].0, ids[2].0);
    let caller = w.as_operator();
    w.mnemic.delete_node(&caller, ids[2]).await.unwrap();
    let stranger = w.workspace("strangers").await;
    let foreign = w.mnemic.upsert_node(&Caller::new(stranger), &person("Ana")).await.unwrap();
    let early: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    let (tea, coffee) =
        (w.remember(&w.operator, "tea").await.id.0, w.remember(&w.operator, "coffee").await.id.0);
    let cases = [
        (link(ana, "it's", bo), "relation: `it's`"),
        (link(ana, "A\"B", bo), "relation: "),
        (link(ana, "{KNOWS}", bo), "relation: "),
        (link(ana, "", bo), "relation: "),
        (link(gone, "KNOWS", bo), "source_id: no such record"),
        (link(ana, "KNOWS", gone), "target_id: no such record"),
        (link(ana, "KNOWS", foreign.node.id.0), "target_id: no such record"),
        (link(ana, "KNOWS", Uuid::now_v7()), "target_id: no such record"),
        (link(ana, "SUPERSEDES", ana), "target_id: "),
        (link(ana, "SUBGOAL_OF", ana), "target_id: "),
        (link(tea, "SUPERSEDES", coffee), "relation: "),
        (
            NewEdge { valid_from: Some(early), valid_to: Some(early), ..link(ana, "KNOWS", bo) },
            "valid_to: ",
        ),
        (
            NewEdge {
                properties: object(json!({"x": "y".repeat(20_000)})),
                ..link(ana, "KNOWS", bo)
            },
            "properties: ",
        ),
    ];
    for (new, problem) in cases {
        let refused = w.mnemic.link(&caller, &new).await.unwrap_err();
        assert!(refused.to_string().starts_with(problem), "{problem}: {refused}");
    }
    assert_eq!(walk(&w, ana, 1).await.edges, []);
    let batch = [link(ana, "KNOWS", bo), link(bo, "KNOWS", gone)];
    let refused = w.mnemic.link_all(&caller, &batch).await.unwrap_err();
    assert_eq!((refused.code(), &refused.to_string()[..13]), (Code::NotFound, "[1].target_id"));
    assert_eq!(walk(&w, ana, 1).await.edges, [], "all or nothing");
}

pub(crate) async fn the_same_edge_again_is_the_same_edge(w: World) {
    let ids = people(&w, &["Ana", "Bo"]).await;
    let caller = w.as_operator();
    let knows = |properties: Value| NewEdge {
        properties: object(properties),
        ..link(ids[0].0, "KNOWS", ids[1].0)
    };
    let first = w.mnemic.link(&caller, &knows(json!({"a": 1, "b": 1}))).await.unwrap();
    let batch = [knows(json!({"b": 2})), knows(json!({"a": null, "c": 3}))];
    let again = w.mnemic.link_all(&caller, &batch).await.unwrap();
    assert!(again.iter().all(|linked| !linked.created && linked.edge.id == first.edge.id));
    let graph = walk(&w, ids[0].0, 1).await;
    assert_eq!(graph.edges.len(), 1);
    assert_eq!(Value::Object(graph.edges[0].properties.clone()), json!({"b": 2, "c": 3}));
    w.mnemic.unlink(&caller, first.edge.id).await.unwrap();
    let renewed = w.mnemic.link(&caller, &knows(json!({}))).await.unwrap();
    assert!(renewed.created && renewed.edge.id != first.edge.id, "a closed edge stays closed");
    assert_eq!(seen(w.mnemic.unlink(&caller, first.edge.id).await).0, "not_found");
}

pub(crate) async fn a_walk_can_be_as_of_any_moment(w: World) {
    let ids = people(&w, &["Ana", "Acme", "Bolt"]).await;
    let caller = w.as_operator();
    let at = |text: &str| -> Timestamp { text.parse().unwrap() };
    let works = |to: usize, from: &str, until: Option<&str>| NewEdge {
        valid_from: Some(at(from)),
        valid_to: until.map(at),
        ..link(ids[0].0, "WORKS_FOR", ids[to].0)
    };
    let learned = w.now();
    w.mnemic.link(&caller, &works(1, "2020-01-01T00:00:00Z", None)).await.unwrap();
    w.clock.forward(DAY);
    let end = "2024-01-01T00:00:00Z";
    let ended = w.mnemic.link(&caller, &works(1, "2020-01-01T00:00:00Z", Some(end))).await.unwrap();
    assert!(ended.created, "another time in the world is another edge");
    let bolt = w.mnemic.link(&caller, &works(2, end, None)).await.unwrap();
    let known = async |as_of: Option<&str>, known_at: Option<Timestamp>| {
        let mut traversal = from(ids[0].0, 1);
        traversal.as_of = as_of.map(at);
        traversal.known_at = known_at;
        names(&walked(&w, &traversal).await)[1..].to_vec()
    };
    assert_eq!(known(None, None).await, ["Bolt"]);
    assert_eq!(known(Some("2022-01-01T00:00:00Z"), None).await, ["Acme"]);
    assert_eq!(known(Some("2019-01-01T00:00:00Z"), None).await, [""; 0]);
    assert_eq!(known(Some("2025-01-01T00:00:00Z"), Some(learned)).await, ["Acme"]);
    w.clock.forward(DAY);
    let before = w.now();
    w.clock.forward(DAY);
    w.mnemic.unlink(&caller, bolt.edge.id).await.unwrap();
    assert_eq!(known(None, None).await, [""; 0]);
    assert_eq!(known(None, Some(before)).await, ["Bolt"], "as we knew then");
}

pub(crate) async fn a_walk_goes_level_by_level_and_round_in_no_circle(w: World) {
    let ids = people(&w, &["A", "B", "C", "D", "E"]).await;
    for (source, target) in [(0, 1), (1, 2), (2, 0), (2, 3), (4, 3), (0, 0)] {
        w.edge(ids[source], "KNOWS", ids[target]).await;
    }
    w.edge(ids[0], "LIKES", ids[4]).await;
    assert_eq!(names(&walk(&w, ids[0].0, 1).await), ["A", "B", "C", "E"]);
    let graph = walk(&w, ids[0].0, 3).await;
    assert_eq!((graph.nodes.len(), graph.edges.len(), graph.truncated), (5, 7, false));
    let knows = Traversal { relations: vec!["KNOWS".to_owned()], ..from(ids[0].0, 2) };
    assert_eq!(names(&walked(&w, &knows).await), ["A", "B", "C", "D"]);
    let out = Traversal { direction: Direction::Out, ..knows.clone() };
    assert_eq!(names(&walked(&w, &out).await), ["A", "B", "C"]);
    let inward = Traversal { direction: Direction::In, depth: 1, ..knows };
    assert_eq!(names(&walked(&w, &inward).await), ["A", "C"]);
    for (depth, limit) in [(0, None), (4, None), (1, Some(0)), (1, Some(1_001))] {
        let wrong = Traversal { limit, ..from(ids[0].0, depth) };
        let refused = w.mnemic.traverse(&w.operator, &wrong).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidField);
    }
    let wrong = Traversal { relations: vec!["a'b".to_owned()], ..from(ids[0].0, 1) };
    w.mnemic.traverse(&w.operator, &wrong).await.unwrap_err();
    let stranger = w.workspace("strangers").await;
    let nothing = w.mnemic.traverse(&stranger, &from(ids[0].0, 3)).await.unwrap();
    assert_eq!(nothing, Subgraph::default());
}

pub(crate) async fn a_walk_meets_only_the_types_it_is_told_to(w: World) {
    let ana = w.node(&person("Ana")).await;
    let acme = NewNode { node_type: "company".to_owned(), ..person("Acme") };
    let acme = w.node(&acme).await;
    let memory = w.remember(&w.operator, "tea").await;
    w.edge(ana.id, "WORKS_FOR", acme.id).await;
    w.mnemic.link(&w.as_operator(), &link(memory.id.0, "REFERENCES", ana.id.0)).await.unwrap();
    let of = |types: &[&str]| Traversal {
        types: types.iter().map(|&name| name.to_owned()).collect(),
        ..from(ana.id.0, 2)
    };
    assert_eq!(names(&walked(&w, &of(&["company"])).await), ["Ana", "Acme"]);
    assert_eq!(names(&walked(&w, &of(&["memory"])).await), ["Ana", "tea"]);
    assert_eq!(names(&walked(&w, &of(&["memory", "company"])).await).len(), 3);
    assert_eq!(names(&walked(&w, &of(&["ship"])).await), ["Ana"]);
}

pub(crate) async fn a_walk_ends_at_its_limit_and_says_so(w: World) {
    let caller = w.as_operator();
    let hub = w.node(&person("Hub")).await.id;
    let news: Vec<_> = (0..1_000).map(|n| person(&format!("P{n:04}"))).collect();
    let made = w.mnemic.upsert_nodes(&caller, &news).await.unwrap();
    let edges: Vec<_> = made.iter().map(|to| link(hub.0, "KNOWS", to.node.id.0)).collect();
    w.mnemic.link_all(&caller, &edges).await.unwrap();
    let circle: Vec<_> = made
        .iter()
        .zip(made.iter().cycle().skip(1))
        .map(|(a, b)| link(a.node.id.0, "NEXT_TO", b.node.id.0))
        .collect();
    w.mnemic.link_all(&caller, &circle).await.unwrap();
    let graph = walk(&w, hub.0, 2).await;
    assert_eq!((graph.nodes.len(), graph.truncated), (100, true));
    assert_eq!(graph.edges.len(), 99);
    let first = names(&graph);
    assert_eq!((first[1].as_str(), first[99].as_str()), ("P0000", "P0098"));
    let most = Traversal { limit: Some(1_000), ..from(hub.0, 3) };
    let graph = walked(&w, &most).await;
    assert_eq!((graph.nodes.len(), graph.truncated), (1_000, true));
    let narrow = Traversal { relations: vec!["NEXT_TO".to_owned()], ..from(made[5].node.id.0, 3) };
    let graph = walked(&w, &narrow).await;
    assert_eq!((graph.nodes.len(), graph.truncated), (7, false));
}

pub(crate) async fn what_a_memory_names_is_in_the_graph(w: World) {
    let caller = w.as_operator();
    let ana = w.node(&called("Ana Díaz", &["Ana"])).await;
    let about = |content: &str, entities: &[&str]| NewMemory {
        entities: entities.iter().map(|&name| name.to_owned()).collect(),
        channel: Some("apollo".to_owned()),
        ..text(content)
    };
    let memory = w.create(&w.operator, about("tea", &["ana", "Ana Díaz", "Bo"])).await.unwrap();
    assert_eq!(memory.entities, ["ana", "Ana Díaz", "Bo"], "names stay as they were given");
    let mut graph = names(&walk(&w, memory.id.0, 1).await);
    graph.sort();
    assert_eq!(graph, ["Ana Díaz", "Bo", "tea"]);
    let other = w.create(&w.operator, about("coffee", &["BO"])).await.unwrap();
    let bo = NewNode { node_type: "entity".to_owned(), ..person("Bo") };
    let bo = w.node(&NewNode { channel: Some("apollo".to_owned()), ..bo }).await;
    assert_eq!(names(&walk(&w, bo.id.0, 1).await).len(), 3, "both are about Bo");
    let by_hand = link(memory.id.0, "ABOUT", w.node(&person("Cy")).await.id.0);
    w.mnemic.link(&caller, &by_hand).await.unwrap();
    let patch = MemoryPatch { entities: Some(vec!["Di".to_owned()]), ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, memory.id, &patch).await.unwrap();
    let mut graph = names(&walk(&w, memory.id.0, 1).await);
    graph.sort();
    assert_eq!(graph, ["Cy", "Di", "tea"], "what was joined by hand stays");
    let newer = w.mnemic.supersede_memory(&caller, other.id, "cocoa".to_owned()).await.unwrap();
    assert_eq!(
        names(&walk(&w, bo.id.0, 1).await),
        ["Bo", "cocoa"],
        "what was replaced is left out"
    );
    assert_eq!(names(&walk(&w, newer.id.0, 1).await), ["cocoa", "Bo", "coffee"]);
    w.mnemic.erase_memory(&caller, newer.id).await.unwrap();
    assert_eq!(names(&walk(&w, ana.id.0, 1).await), ["Ana Díaz"]);
    let edge = walk(&w, memory.id.0, 1).await.edges[0].id;
    w.mnemic.unlink(&caller, edge).await.unwrap();
}

pub(crate) async fn memories_of_one_batch_share_what_they_name(w: World) {
    let about = |content: &str| NewMemory { entities: vec!["Ana".to_owned()], ..text(content) };
    let news = vec![about("tea"), about("coffee"), about("cocoa")];
    w.mnemic.create_memories(&w.as_operator(), news).await.unwrap();
    let ana = NewNode { node_type: "entity".to_owned(), ..person("Ana") };
    let ana = w.upsert(&ana).await.unwrap();
    assert!(!ana.created);
    assert_eq!(walk(&w, ana.node.id.0, 1).await.nodes.len(), 4);
}

pub(crate) async fn a_relation_that_ended_can_begin_again(w: World) {
    let (a, b) = (w.node(&person("Ana")).await, w.node(&person("Bo")).await);
    let year = |year: i16| Some(format!("{year}-01-01T00:00:00Z").parse::<Timestamp>().unwrap());
    let over = |from, to| NewEdge {
        valid_from: year(from),
        valid_to: to,
        ..link(a.id.0, "KNOWS", b.id.0)
    };
    let link = async |new: NewEdge| w.mnemic.link(&w.as_operator(), &new).await.unwrap().edge;
    link(over(2020, year(2021))).await;
    let again = link(over(2022, None)).await;
    assert_eq!((again.valid_from, again.valid_to), (year(2022), None));
    let earlier = link(over(2019, None)).await;
    assert_eq!((earlier.valid_from, earlier.valid_to), (year(2019), None));
}
