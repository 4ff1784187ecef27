//! What nobody looks at fades, and goes in the end.

use mnemic_core::conversation::ConversationFilter;
use mnemic_core::ids::NodeId;
use mnemic_core::memory::NewMemory;
use mnemic_core::node::{NewNode, Node};
use mnemic_core::page::PageRequest;

use crate::world::{DAY, World, query, seen, text};

impl World {
    async fn entity(&self, name: &str, salience: f64) -> Node {
        let new = NewNode {
            node_type: "thing".to_owned(),
            name: name.to_owned(),
            salience: Some(salience),
            ..NewNode::default()
        };
        self.mnemic.upsert_node(&self.as_operator(), &new).await.unwrap().node
    }

    async fn salience(&self, id: NodeId) -> f64 {
        self.mnemic.get_node(&self.operator, id).await.unwrap().salience
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

pub(crate) async fn entities_fade_day_by_day(w: World) {
    let (daily, once) = (w.entity("daily", 0.8).await, w.entity("once", 0.8).await);
    assert_eq!((w.would("decay").await, w.run("decay").await), (0, 0), "both are new");
    w.clock.forward(DAY * 2);
    assert_eq!(w.run("decay").await, 2);
    let first = w.salience(daily.id).await;
    assert!(first < 0.8);
    assert_eq!((w.would("decay").await, w.run("decay").await), (0, 0), "once a day");
    for _ in 0..20 {
        w.clock.forward(DAY);
        w.run("decay").await;
    }
    let other = w.workspace("other").await;
    let new = NewNode {
        node_type: "thing".to_owned(),
        name: "lonely".to_owned(),
        salience: Some(0.8),
        ..NewNode::default()
    };
    let caller = mnemic_core::principal::Caller::new(other.clone());
    let lonely = w.mnemic.upsert_node(&caller, &new).await.unwrap().node;
    w.clock.forward(DAY * 22);
    w.mnemic.run_job(&other, "decay", false).await.unwrap();
    let lonely = w.mnemic.get_node(&other, lonely.id).await.unwrap().salience;
    let (daily, once) = (w.salience(daily.id).await, w.salience(once.id).await);
    assert!(near(daily, once) && daily < first);
    assert!(near(daily, lonely), "day by day {daily}, at once {lonely}");
}

pub(crate) async fn what_was_inferred_fades_week_by_week(w: World) {
    let make = async |content: &str, confidence: f64, source: Option<&str>, pinned: bool| {
        let (confidence, source) = (Some(confidence), source.map(str::to_owned));
        let new = NewMemory { confidence, source, pinned, ..text(content) };
        w.create(&w.operator, new).await.unwrap().id
    };
    let inferred = make("inferred", 0.7, Some("rules"), false).await;
    let kept = [
        make("explicit", 0.95, Some("rules"), false).await,
        make("by hand", 0.5, None, false).await,
        make("pinned", 0.5, Some("rules"), true).await,
    ];
    w.clock.forward(DAY * 10);
    assert_eq!(w.run("decay").await, 1);
    let confidence = w.get(&w.operator, inferred).await.confidence;
    assert!(confidence < 0.7 && confidence > 0.4, "{confidence}");
    w.clock.forward(DAY);
    assert_eq!(w.run("decay").await, 0, "not again this week");
    w.clock.forward(DAY * 7);
    assert_eq!(w.run("decay").await, 1);
    assert!(w.get(&w.operator, inferred).await.confidence < confidence);
    for id in kept {
        let confidence = w.get(&w.operator, id).await.confidence;
        assert!(near(confidence, 0.95) || near(confidence, 0.5), "{confidence}");
    }
}

pub(crate) async fn conversations_are_archived_and_come_back_when_spoken_in(w: World) {
    w.say("old", "hello there").await;
    w.clock.forward(DAY * 60);
    w.say("young", "hello there").await;
    let listed = async |archived: bool| {
        let filter = ConversationFilter { archived, ..ConversationFilter::default() };
        let page = PageRequest::default();
        let found = w.mnemic.list_conversations(&w.operator, &filter, &page).await.unwrap();
        found.items.into_iter().map(|conversation| conversation.id).collect::<Vec<_>>()
    };
    w.clock.forward(DAY * 30);
    assert_eq!((w.would("cleanup").await, w.run("cleanup").await), (0, 0), "90 days are not over");
    w.clock.forward(DAY);
    assert_eq!((w.would("cleanup").await, w.run("cleanup").await), (1, 1));
    assert_eq!((w.would("cleanup").await, w.run("cleanup").await), (0, 0));
    assert_eq!(listed(false).await, ["young"]);
    assert_eq!(listed(true).await, ["young", "old"]);
    assert!(w.mnemic.get_conversation(&w.operator, "old").await.unwrap().archived_at.is_some());
    w.say("old", "hello again").await;
    assert_eq!(listed(false).await, ["young", "old"]);
}

pub(crate) async fn what_faded_away_goes_unless_something_is_about_it(w: World) {
    let (faded, salient) = (w.entity("faded", 0.05).await, w.entity("salient", 0.5).await);
    let told = w.entity("told", 0.05).await;
    let about = NewMemory { entities: vec!["told".to_owned()], ..text("told of") };
    let memory = w.create(&w.operator, about).await.unwrap();
    assert_eq!(w.run("cleanup").await, 0, "it was just made");
    w.clock.forward(DAY * 31);
    assert_eq!((w.would("cleanup").await, w.run("cleanup").await), (1, 1));
    assert_eq!(seen(w.mnemic.get_node(&w.operator, faded.id).await).0, "not_found");
    for kept in [salient.id, told.id] {
        assert!(w.mnemic.get_node(&w.operator, kept).await.is_ok());
    }
    assert_eq!(w.found(&w.operator, &query("told")).await.len(), 1);
    w.mnemic.forget_memory(&w.as_operator(), memory.id).await.unwrap();
    w.mnemic.flush_accesses().await;
    w.clock.forward(DAY * 31);
    assert_eq!(w.run("cleanup").await, 1, "nothing live is about it");
}
