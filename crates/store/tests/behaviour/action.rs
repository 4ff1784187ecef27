//! What agents did: kept once, all or nothing, and without a word of what was said.

use jiff::{SignedDuration, Timestamp};
use mnemic_core::action::{
    ACTIONS_AT_ONCE_MAX, ActionFilter, CONTAINS, NewAction, Outcome, REFERENCES,
};
use mnemic_core::ids::ActionId;
use mnemic_core::node::{Direction, NewNode, Record, Subgraph, Traversal};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};
use uuid::Uuid;

use crate::world::{DAY, TICK, World, at_once, seen};

pub(crate) fn done(session: &str, action_type: &str) -> NewAction {
    NewAction::new(session, action_type)
}

pub(crate) fn failed(session: &str, action_type: &str, error: &str) -> NewAction {
    NewAction {
        outcome: Outcome::Failure,
        error_code: Some(error.to_owned()),
        ..done(session, action_type)
    }
}

impl World {
    pub(crate) async fn act(&self, who: &Principal, news: &[NewAction]) {
        self.mnemic.record_actions(&Caller::new(who.clone()), news).await.unwrap();
    }

    async fn types(&self, filter: &ActionFilter) -> Vec<String> {
        let page = PageRequest { limit: Some(200), cursor: None };
        let found = self.mnemic.list_actions(&self.operator, filter, &page).await.unwrap();
        found.items.into_iter().map(|action| action.action_type).collect()
    }

    /// One step of a walk: what was met, by type and name, and the graph.
    pub(crate) async fn walked(
        &self,
        ids: &[Uuid],
        relations: &[&str],
        direction: Direction,
    ) -> (Vec<String>, Subgraph) {
        self.walked_far(ids, relations, direction, 1).await
    }

    async fn walked_far(
        &self,
        ids: &[Uuid],
        relations: &[&str],
        direction: Direction,
        depth: u32,
    ) -> (Vec<String>, Subgraph) {
        let traversal = Traversal {
            ids: ids.to_vec(),
            depth,
            relations: relations.iter().map(ToString::to_string).collect(),
            direction,
            ..Traversal::default()
        };
        let graph = self.mnemic.traverse(&self.operator, &traversal).await.unwrap();
        let met = graph.nodes.iter().filter(|visit| visit.depth > 0);
        let mut met: Vec<_> = met
            .map(|visit| match &visit.record {
                Record::Done(done) => format!("{} {}", done.noun(), done.text()),
                Record::Node(node) => node.name.clone(),
                Record::Memory(_) | Record::Said(_) => String::new(),
            })
            .collect();
        met.sort();
        (met, graph)
    }
}

pub(crate) async fn every_field_of_an_action_comes_back(w: World) {
    let node = Uuid::now_v7();
    let new = NewAction {
        id: Some(ActionId(Uuid::now_v7())),
        agent_id: Some("scout".to_owned()),
        node_type: Some("person".to_owned()),
        node_ids: vec![node, node],
        latency_ms: Some(12),
        at: Some(w.now() - DAY),
        ..failed("s1", "ontology_mutation", "graph.NodeNotFoundError: no node of Ana's")
    };
    w.act(&w.operator, &[new.clone(), done("s2", "graph_query")]).await;
    let (any, page) = (ActionFilter::default(), PageRequest::default());
    let all = w.mnemic.list_actions(&w.operator, &any, &page).await.unwrap().items;
    assert_eq!(all.len(), 2, "the latest first");
    let (later, first) = (&all[0], &all[1]);
    assert_eq!((later.agent_id.as_str(), later.at), ("admin", w.now()));
    assert_eq!((later.outcome, &later.error_code), (Outcome::Success, &None));
    assert_eq!(Some(first.id), new.id);
    assert_eq!((first.agent_id.as_str(), first.session_id.as_str()), ("scout", "s1"));
    assert_eq!((first.node_type.as_deref(), &first.node_ids), (Some("person"), &vec![node]));
    assert_eq!(first.error_code.as_deref(), Some("NodeNotFoundError"));
    assert_eq!((first.latency_ms, first.at), (Some(12), w.now() - DAY));
    assert_eq!((first.created_at, first.sequence_id), (w.now(), None));
    assert!(!w.files_have("no node of"), "a message is not kept");
    let touched = w.store().keys_of_node(w.operator.scope(), &[node]).await.unwrap();
    assert_eq!(touched, [("ontology_mutation".to_owned(), "person".to_owned())]);
}

pub(crate) async fn an_action_reported_again_counts_once(w: World) {
    let new = NewAction { id: Some(ActionId(Uuid::now_v7())), ..done("s", "search") };
    let outcomes = at_once(16, |_| {
        let (mnemic, caller, new) = (w.mnemic.clone(), w.as_operator(), new.clone());
        async move { mnemic.record_actions(&caller, &[new]).await.unwrap().recorded }
    })
    .await;
    assert_eq!(outcomes.iter().sum::<u64>(), 1);
    assert_eq!(w.types(&ActionFilter::default()).await.len(), 1);
    w.clock.forward(DAY);
    let twice = [new.clone(), new.clone(), done("s", "other")];
    let again = w.mnemic.record_actions(&w.as_operator(), &twice).await.unwrap();
    assert_eq!((again.recorded, again.duplicates), (1, 2));
    let other = NewAction { id: new.id, ..failed("s", "search", "KeyError") };
    let refused = w.mnemic.record_actions(&w.as_operator(), &[done("s", "third"), other]).await;
    let refused = seen(refused);
    assert_eq!(refused.0, "conflict");
    assert!(refused.1.starts_with("actions[1].id: the action"), "{}", refused.1);
    assert_eq!(w.types(&ActionFilter::default()).await, ["other", "search"], "all or nothing");
}

pub(crate) async fn what_is_wrong_with_an_action_is_named(w: World) {
    let ahead = w.now() + DAY + TICK;
    for (new, named) in [
        (done("", "x"), "session_id: must not be empty"),
        (done("s", " x"), "action_type"),
        (NewAction { agent_id: Some(String::new()), ..done("s", "x") }, "agent_id"),
        (NewAction { node_type: Some("a\nb".to_owned()), ..done("s", "x") }, "node_type"),
        (NewAction { latency_ms: Some(-1), ..done("s", "x") }, "latency_ms: -1"),
        (NewAction { node_ids: vec![Uuid::nil(); 101], ..done("s", "x") }, "node_ids: 101"),
        (NewAction { at: Some(ahead), ..done("s", "x") }, "a day ahead"),
        (NewAction { at: Some(Timestamp::MIN), ..done("s", "x") }, "before the year 1"),
        (
            NewAction { error_code: Some("KeyError".to_owned()), ..done("s", "x") },
            "error_code: a success has none",
        ),
    ] {
        let one = seen(w.mnemic.record_actions(&w.as_operator(), std::slice::from_ref(&new)).await);
        assert_eq!(one.0, "invalid_field");
        assert!(one.1.contains(named), "{}", one.1);
        let many = [done("s", "x"), new];
        let many = seen(w.mnemic.record_actions(&w.as_operator(), &many).await);
        assert!(many.1.starts_with("actions[1]."), "{}", many.1);
    }
    for count in [0, ACTIONS_AT_ONCE_MAX + 1] {
        let many = vec![done("s", "x"); count];
        let refused = seen(w.mnemic.record_actions(&w.as_operator(), &many).await);
        assert!(refused.1.contains("1 to 10000 items, has"), "{}", refused.1);
    }
    assert!(w.types(&ActionFilter::default()).await.is_empty());
    let latest = NewAction { at: Some(w.now() + DAY), ..done("s", "x") };
    w.act(&w.operator, &[latest]).await;
}

pub(crate) async fn nothing_is_captured_while_memory_is_off(w: World) {
    w.mnemic.toggle_memory(&w.operator, false).await.unwrap();
    let who = w.again().await;
    let refused = w.mnemic.record_actions(&Caller::new(who.clone()), &[done("s", "x")]).await;
    assert_eq!(seen(refused).0, "memory_disabled");
    w.mnemic.capture_action(&who, done("s", "x")).await.unwrap();
    assert!(w.types(&ActionFilter::default()).await.is_empty());
    w.mnemic.toggle_memory(&w.operator, true).await.unwrap();
    w.mnemic.capture_action(&w.again().await, done("s", "x")).await.unwrap();
    assert_eq!(w.types(&ActionFilter::default()).await, ["x"]);
}

pub(crate) async fn actions_are_listed_by_what_they_are(w: World) {
    let node = Uuid::now_v7();
    let at = |minutes| Some(w.now() - SignedDuration::from_mins(minutes));
    w.act(
        &w.operator,
        &[
            NewAction { at: at(3), node_ids: vec![node], ..done("s1", "a") },
            NewAction { at: at(2), ..failed("s1", "b", "KeyError") },
            NewAction { at: at(1), node_type: Some("person".to_owned()), ..done("s2", "c") },
        ],
    )
    .await;
    let any = ActionFilter::default;
    let name = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (any(), vec!["c", "b", "a"]),
        (ActionFilter { session_id: name("s1"), ..any() }, vec!["b", "a"]),
        (ActionFilter { action_type: name("a"), ..any() }, vec!["a"]),
        (ActionFilter { node_type: name("person"), ..any() }, vec!["c"]),
        (ActionFilter { node_id: Some(node), ..any() }, vec!["a"]),
        (ActionFilter { outcome: Some(Outcome::Failure), ..any() }, vec!["b"]),
        (ActionFilter { error_code: name("KeyError"), ..any() }, vec!["b"]),
        (ActionFilter { agent_id: name("nobody"), ..any() }, vec![]),
        (ActionFilter { since: at(2), ..any() }, vec!["c", "b"]),
        (ActionFilter { until: at(2), ..any() }, vec!["a"]),
    ] {
        assert_eq!(w.types(&filter).await, expected, "{filter:?}");
    }
    let mut page = PageRequest { limit: Some(1), cursor: None };
    let mut walked = Vec::new();
    loop {
        let found = w.mnemic.list_actions(&w.operator, &any(), &page).await.unwrap();
        walked.extend(found.items.into_iter().map(|action| action.action_type));
        page.cursor = found.next_cursor;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(walked, ["c", "b", "a"]);
    let stranger = w.workspace("elsewhere").await;
    let theirs = w.mnemic.list_actions(&stranger, &any(), &PageRequest::default()).await.unwrap();
    assert!(theirs.items.is_empty());
}

pub(crate) async fn what_was_done_is_in_the_graph(w: World) {
    let new =
        NewNode { node_type: "person".to_owned(), name: "Ana".to_owned(), ..NewNode::default() };
    let node = w.mnemic.upsert_node(&w.as_operator(), &new).await.unwrap().node;
    let about = NewAction { node_ids: vec![node.id.0], ..failed("s", "mail", "KeyError") };
    w.act(&w.operator, &[about, done("s", "read")]).await;
    w.mnemic.run_job(&w.operator, "sequences", false).await.unwrap();
    let both = Direction::Both;
    assert!(w.walked(&[node.id.0], &[], both).await.0.is_empty(), "only where it is asked for");
    let (met, graph) = w.walked(&[node.id.0], &[REFERENCES], both).await;
    assert_eq!(met, ["_mem:action mail failed with KeyError"]);
    let edge = &graph.edges[0];
    assert_eq!((edge.relation.as_str(), edge.target_id), (REFERENCES, node.id.0));
    let (met, _) = w.walked(&[edge.source_id], &[], both).await;
    assert_eq!(met, ["Ana", "_mem:sequence s"]);
    let (met, again) = w.walked_far(&[node.id.0], &[REFERENCES, CONTAINS], both, 3).await;
    assert_eq!(met.len(), 3, "the sequence and its other action too: {met:?}");
    assert!(again.edges.contains(edge), "an edge has one id");
    let stranger = w.workspace("elsewhere").await;
    let foreign = Traversal { ids: vec![edge.source_id], depth: 1, ..Traversal::default() };
    assert!(w.mnemic.traverse(&stranger, &foreign).await.unwrap().nodes.is_empty());
}

pub(crate) async fn what_was_done_goes_with_its_conversation_and_its_user(w: World) {
    let by = |agent: &str, new| NewAction { agent_id: Some(agent.to_owned()), ..new };
    w.act(
        &w.operator,
        &[done("standup", "a"), by("quokka", done("other", "b")), by("scout", done("quokka", "c"))],
    )
    .await;
    w.mnemic.run_job(&w.operator, "sequences", false).await.unwrap();
    let receipt = w.mnemic.erase_conversation(&w.as_operator(), "standup").await.unwrap();
    assert_eq!((receipt.counts["actions"], receipt.counts["sequences"]), (1, 1));
    assert!(w.files_have("quokka"));
    w.mnemic.erase_user(&w.as_operator(), "quokka").await.unwrap();
    let left = w.types(&ActionFilter::default()).await;
    assert_eq!(left.len(), 2, "what was done stays, without the name");
    assert!(!w.files_have("quokka"));
}
