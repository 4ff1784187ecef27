//! Conversations and their turns.

use mnemic_core::conversation::{ConversationFilter, NewConversation, NewTurn, Turn};
use mnemic_core::node::{Direction, Traversal};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::{Code, Result};

use crate::world::{World, at_once, keyed, seen};

fn said(role: &str, content: &str) -> NewTurn {
    NewTurn { role: role.to_owned(), content: content.to_owned(), ..NewTurn::default() }
}

impl World {
    async fn tell(&self, conversation: &str, news: &[NewTurn]) -> Result<Vec<Turn>> {
        self.mnemic.add_turns(&self.as_operator(), conversation, news).await
    }

    async fn told(&self, principal: &Principal, conversation: &str) -> Vec<(i64, String)> {
        let page = PageRequest { limit: Some(200), cursor: None };
        let turns = self.mnemic.list_turns(principal, conversation, false, &page).await.unwrap();
        turns.items.into_iter().map(|turn| (turn.index, turn.content)).collect()
    }
}

pub(crate) async fn turns_come_back_in_order(w: World) {
    let news: Vec<_> = (0..7).map(|n| said("user", &format!("line {n}"))).collect();
    let turns = w.tell("tea", &news).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    let all = w.told(&w.operator, "tea").await;
    assert_eq!(all.len(), 7);
    assert!(all.iter().all(|(index, content)| *content == format!("line {index}")));
    let (mut cursor, mut paged) = (None, Vec::new());
    loop {
        let page = PageRequest { limit: Some(3), cursor };
        let page = w.mnemic.list_turns(&w.operator, "tea", false, &page).await.unwrap();
        paged.extend(page.items.into_iter().map(|turn| (turn.index, turn.content)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    let page = PageRequest { limit: Some(2), cursor: None };
    let last = w.mnemic.list_turns(&w.operator, "tea", true, &page).await.unwrap();
    assert_eq!(last.items.iter().map(|turn| turn.index).collect::<Vec<_>>(), [5, 6]);
    let conversation = w.mnemic.get_conversation(&w.operator, "tea").await.unwrap();
    assert_eq!((conversation.turns, conversation.next_index), (7, 7));
}

pub(crate) async fn every_field_of_a_turn_comes_back(w: World) {
    let new = NewConversation {
        id: Some("standup-1".to_owned()),
        channel: Some("team".to_owned()),
        title: Some("Monday".to_owned()),
        metadata: crate::node::object(serde_json::json!({"room": 4})),
        revive: false,
    };
    let made = w.mnemic.create_conversation(&w.as_operator(), &new).await.unwrap();
    assert_eq!(w.mnemic.get_conversation(&w.operator, "standup-1").await.unwrap(), made);
    assert_eq!((made.turns, made.channel.as_str()), (0, "team"));
    let new = NewTurn {
        index: Some(4),
        at: Some("2025-03-04T05:06:07.123456Z".parse().unwrap()),
        speaker: Some("Ana".to_owned()),
        token_count: Some(3),
        model: Some("small".to_owned()),
        metadata: crate::node::object(serde_json::json!({"tool": {"name": "x"}})),
        ..said("assistant", "Tea, please")
    };
    let turn = w.tell("standup-1", &[new]).await.unwrap().remove(0);
    let page = PageRequest::default();
    let listed = w.mnemic.list_turns(&w.operator, "standup-1", false, &page).await.unwrap();
    assert_eq!(listed.items, std::slice::from_ref(&turn));
    assert_eq!((turn.channel.as_str(), turn.index), ("team", 4));
    let next = w.tell("standup-1", &[said("user", "Milk?")]).await.unwrap();
    assert_eq!(next[0].index, 5);
}

pub(crate) async fn a_turn_that_is_sent_again_is_the_same_turn(w: World) {
    let at = Some("2025-03-04T05:06:07.123456Z".parse().unwrap());
    let placed = NewTurn { index: Some(0), ..said("user", "hello") };
    let timed = NewTurn { at, ..said("user", "hello") };
    let batch = [placed.clone(), timed.clone(), said("assistant", "hello")];
    let first = w.tell("c", &batch).await.unwrap();
    let again = w.tell("c", &batch[..2]).await.unwrap();
    assert_eq!(again, first[..2]);
    assert_eq!(w.tell("c", &[timed.clone(), timed]).await.unwrap()[1], first[1]);
    let twice = w.tell("c", &[said("user", "ok"), said("user", "ok")]).await.unwrap();
    assert_ne!(twice[0].id, twice[1].id, "without a place or a time they are two");
    let caller = keyed(&w.operator, "k", "b");
    let news = [said("user", "bye")];
    let one = w.mnemic.add_turns(&caller, "c", &news).await.unwrap();
    assert_eq!(w.mnemic.add_turns(&caller, "c", &news).await.unwrap(), one);
    assert_eq!(w.told(&w.operator, "c").await.len(), 6);
    let other = NewTurn { index: Some(0), ..said("user", "goodbye") };
    let refused = w.tell("c", &[said("user", "new"), other]).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert!(refused.to_string().contains("[1].index"), "{refused}");
    assert_eq!(w.told(&w.operator, "c").await.len(), 6, "nothing of it was stored");
}

pub(crate) async fn what_is_wrong_with_a_turn_is_named(w: World) {
    for (conversation, new, named) in [
        ("a b", said("user", "x"), "conversation_id"),
        ("..", said("user", "x"), "conversation_id"),
        ("c", said("", "x"), "[0].role"),
        ("c", said("user", " "), "[0].content"),
        ("c", said("user", &"x".repeat(131_073)), "[0].content"),
        ("c", NewTurn { index: Some(-1), ..said("user", "x") }, "[0].index"),
        ("c", NewTurn { token_count: Some(-1), ..said("user", "x") }, "[0].token_count"),
        ("c", NewTurn { speaker: Some(String::new()), ..said("user", "x") }, "[0].speaker"),
    ] {
        let refused = w.tell(conversation, &[new]).await.unwrap_err();
        assert!(refused.to_string().starts_with(named), "{named}: {refused}");
    }
    assert_eq!(seen(w.tell("c", &[]).await).0, "invalid_field");
    let absent = w.mnemic.list_turns(&w.operator, "c", false, &PageRequest::default()).await;
    assert_eq!(seen(absent).0, "not_found");
    let twice = NewConversation { id: Some("d".to_owned()), ..NewConversation::default() };
    w.mnemic.create_conversation(&w.as_operator(), &twice).await.unwrap();
    assert_eq!(seen(w.mnemic.create_conversation(&w.as_operator(), &twice).await).0, "conflict");
}

pub(crate) async fn speakers_at_the_same_moment_all_get_their_place(w: World) {
    let all = at_once(20, |n| {
        let (mnemic, caller) = (w.mnemic.clone(), Caller::new(w.operator.clone()));
        async move { mnemic.add_turns(&caller, "crowd", &[said("user", &format!("{n}"))]).await }
    });
    let mut indexes: Vec<_> = all.await.into_iter().map(|turns| turns.unwrap()[0].index).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, (0..20).collect::<Vec<_>>());
    let conversation = w.mnemic.get_conversation(&w.operator, "crowd").await.unwrap();
    assert_eq!(conversation.turns, 20);
}

pub(crate) async fn conversations_are_listed_and_kept_apart(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    for (principal, id) in [(&acme, "one"), (&acme, "two"), (&globex, "one")] {
        let caller = Caller::new(principal.clone());
        w.mnemic
            .add_turns(&caller, id, &[said("user", &principal.workspace_id.to_string())])
            .await
            .unwrap();
    }
    let filter = ConversationFilter::default();
    let page = PageRequest::default();
    let listed = w.mnemic.list_conversations(&acme, &filter, &page).await.unwrap();
    let ids: Vec<_> = listed.items.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["two", "one"]);
    let own = w.told(&globex, "one").await;
    assert_eq!(own, [(0, globex.workspace_id.to_string())]);
    let elsewhere = ConversationFilter { channel: Some("x".to_owned()), archived: true };
    let none = w.mnemic.list_conversations(&acme, &elsewhere, &page).await.unwrap();
    assert!(none.items.is_empty());
}

/// The edges are told from the turns, and walked like any others.
pub(crate) async fn a_conversation_leads_to_its_turns_and_they_to_each_other(w: World) {
    let news: Vec<_> = (0..5).map(|n| said("user", &format!("line {n}"))).collect();
    let turns = w.tell("tea", &news).await.unwrap();
    let key = w.mnemic.get_conversation(&w.operator, "tea").await.unwrap().key;
    let walk = async |id: uuid::Uuid, relation: &str, direction, depth| {
        let relations = if relation.is_empty() { vec![] } else { vec![relation.to_owned()] };
        let asked =
            Traversal { ids: vec![id], depth, relations, direction, ..Traversal::default() };
        let graph = w.mnemic.traverse(&w.operator, &asked).await.unwrap();
        let nodes: Vec<_> = graph.nodes.iter().skip(1).map(|visit| visit.record.id()).collect();
        (nodes, graph.edges)
    };
    let ids: Vec<_> = turns.iter().map(|turn| turn.id.0).collect();
    let (nodes, edges) = walk(key, "HAS_TURN", Direction::Out, 1).await;
    assert_eq!(nodes, ids);
    assert!(edges.iter().all(|edge| edge.source_id == key && edge.relation == "HAS_TURN"));
    assert_eq!(walk(ids[2], "HAS_TURN", Direction::In, 1).await.0, [key]);
    let (nodes, edges) = walk(ids[2], "FOLLOWED_BY", Direction::Out, 3).await;
    assert_eq!(nodes, ids[3..]);
    assert_eq!((edges[0].source_id, edges[0].target_id), (ids[2], ids[3]));
    assert_eq!(walk(ids[2], "FOLLOWED_BY", Direction::In, 1).await.0, [ids[1]]);
    assert_eq!(walk(ids[2], "FOLLOWED_BY", Direction::In, 1).await.1[0].target_id, ids[2]);
    let (nodes, edges) = walk(ids[0], "", Direction::Both, 2).await;
    assert_eq!((nodes.len(), edges.len()), (5, 7), "each once: {edges:?}");
    assert!(walk(ids[0], "KNOWS", Direction::Both, 1).await.0.is_empty());
    let narrow = Traversal { ids: vec![key], depth: 1, limit: Some(3), ..Traversal::default() };
    let graph = w.mnemic.traverse(&w.operator, &narrow).await.unwrap();
    assert_eq!((graph.nodes.len(), graph.truncated), (3, true));
    let other = w.workspace("acme").await;
    let foreign = w.mnemic.traverse(&other, &narrow).await.unwrap();
    assert!(foreign.nodes.is_empty());
}
