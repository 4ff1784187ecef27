//! Learning: what was said becomes what is known, once, with care for what is known already.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::SignedDuration;
use mnemic_core::conversation::NewTurn;
use mnemic_core::language::{LanguageModel, Prompt};
use mnemic_core::learning::Learned;
use mnemic_core::memory::{Kind, Memory, MemoryFilter, NewMemory, Temporal};
use mnemic_core::node::{NodeSearch, Traversal};
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::slot::SlotSpace;
use mnemic_core::{Code, Error, Mnemic, Parts, Result};
use mnemic_store::slots::InProcessSlots;
use mnemic_store::{Statement, values};
use serde_json::{Value, json};

use crate::model::HashModel;
use crate::world::{DAY, World, at_once, fact, seen};

static SIGHTINGS: Statement = Statement::workspace(
    "test.sightings_of",
    "SELECT count(*) AS rows FROM sightings WHERE workspace_id = $1 AND memory_id = $2",
);

impl World {
    pub(crate) async fn say(&self, conversation: &str, content: &str) {
        self.say_as(&self.operator, conversation, None, content).await;
    }

    pub(crate) async fn say_as(
        &self,
        who: &Principal,
        conversation: &str,
        speaker: Option<&str>,
        content: &str,
    ) {
        let new = NewTurn {
            role: "user".to_owned(),
            content: content.to_owned(),
            speaker: speaker.map(str::to_owned),
            ..NewTurn::default()
        };
        let caller = Caller::new(who.clone());
        self.mnemic.add_turns(&caller, conversation, &[new]).await.unwrap();
    }

    /// Says something in a conversation, at a time.
    async fn say_at(&self, speaker: &str, conversation: &str, at: &str, content: &str) {
        let new = NewTurn {
            role: "user".to_owned(),
            content: content.to_owned(),
            speaker: Some(speaker.to_owned()),
            at: Some(at.parse().unwrap()),
            ..NewTurn::default()
        };
        self.mnemic.add_turns(&self.as_operator(), conversation, &[new]).await.unwrap();
    }

    async fn node_of(&self, name: &str) -> uuid::Uuid {
        let search = NodeSearch { query: name.to_owned(), ..NodeSearch::default() };
        let hits = self.mnemic.search_nodes(&self.operator, &search).await.unwrap();
        hits.into_iter().find(|hit| hit.node.name == name).unwrap().node.id.0
    }

    pub(crate) async fn learn(&self, conversation: &str) -> Learned {
        self.mnemic.learn(&self.as_operator(), conversation).await.unwrap()
    }

    pub(crate) async fn set(&self, patch: Value) {
        self.mnemic.update_settings(&self.operator, &patch).await.unwrap();
    }

    pub(crate) async fn run(&self, job: &str) -> u64 {
        self.mnemic.run_job(&self.operator, job, false).await.unwrap().changed
    }

    pub(crate) async fn would(&self, job: &str) -> u64 {
        self.mnemic.run_job(&self.operator, job, true).await.unwrap().changed
    }

    /// The same store, served with a language model.
    pub(crate) fn with_model(&self, model: Arc<dyn LanguageModel>) -> Mnemic {
        let slots = SlotSpace::new(InProcessSlots::default());
        let (store, slot, clock) = (self.another_store(), self.slot.clone(), self.clock.clone());
        Parts::new(store, slots, slot, clock).with_language_model(model).into()
    }

    pub(crate) async fn known(&self) -> Vec<String> {
        let mut known: Vec<_> = self.memories().await.into_iter().map(|m| m.content).collect();
        known.sort();
        known
    }

    pub(crate) async fn memories(&self) -> Vec<Memory> {
        self.list(&self.operator, &MemoryFilter::default()).await
    }

    pub(crate) async fn only(&self) -> Memory {
        let mut memories = self.memories().await;
        assert_eq!(memories.len(), 1, "{memories:?}");
        memories.remove(0)
    }
}

/// Answers what it was given to answer, in order, and fails afterwards.
pub(crate) struct Scripted(Mutex<Vec<String>>);

impl Scripted {
    pub(crate) fn new(answers: &[&str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(answers.iter().rev().map(|a| (*a).to_owned()).collect())))
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn label(&self) -> &'static str {
        "test:scripted"
    }

    async fn complete(&self, _: &Prompt) -> Result<String> {
        let answer = self.0.lock().unwrap().pop();
        answer.ok_or_else(|| Error::new(Code::ModelUnavailable, "no more answers"))
    }
}

pub(crate) async fn what_was_said_is_learned_once(w: World) {
    w.say_as(&w.operator, "c", Some("Ana"), "Hi! I live in Lisbon. How are you?").await;
    w.say_as(&w.operator, "c", Some("Ana"), "I visited Berlin last Tuesday.").await;
    let learned = w.learn("c").await;
    assert_eq!((learned.turns, learned.facts), (2, 2));
    assert_eq!(w.learn("c").await, Learned::default(), "there is nothing new");
    let known = w.known().await;
    assert_eq!(known, ["Ana lives in Lisbon.", "Ana visited Berlin on 2026-02-24."]);
    let memories = w.memories().await;
    let home = memories.iter().find(|memory| memory.content.contains("Lisbon")).unwrap();
    assert_eq!((home.kind, home.source.as_deref()), (Kind::Memory, Some("rules")));
    assert_eq!((home.topic.as_deref(), home.temporal), (Some("home"), Some(Temporal::Current)));
    assert!((home.confidence - 0.95).abs() < 1e-9);
    assert_eq!((home.entities.len(), home.source_ids.len()), (2, 1));
    let trip = memories.iter().find(|memory| memory.content.contains("Berlin")).unwrap();
    assert_eq!(trip.temporal, Some(Temporal::Past));
    assert!(trip.valid_from.is_some() && trip.valid_to.is_some());
    let found = w.found(&w.operator, &crate::world::query("where does Ana live")).await;
    assert_eq!(found[0], "Ana lives in Lisbon.");
    w.set(json!({"extraction": {"kind": "fact"}})).await;
    w.say("d", "I use Helix. I think I prefer tea over coffee.").await;
    w.learn("d").await;
    let memories = w.memories().await;
    let kind = |word: &str| memories.iter().find(|m| m.content.contains(word)).unwrap().kind;
    assert_eq!((kind("Helix"), kind("coffee")), (Kind::Fact, Kind::Memory));
}

pub(crate) async fn what_is_known_gets_support_instead_of_a_twin(w: World) {
    w.say("c", "I think I live in Lisbon.").await;
    w.learn("c").await;
    let before = w.only().await;
    assert!((before.confidence - 0.5).abs() < 1e-9);
    w.say("d", "I live in Lisbon!").await;
    let learned = w.learn("d").await;
    assert_eq!((learned.facts, learned.supported), (0, 1));
    let after = w.only().await;
    assert_eq!(after.id, before.id);
    assert_eq!(after.source_ids.len(), 2);
    assert!(after.confidence > before.confidence && after.confidence <= 0.99);
    assert_eq!(w.count_of(&w.operator, &SIGHTINGS, values![after.id.0]).await, 2);
}

pub(crate) async fn the_new_replaces_the_old_by_default(w: World) {
    w.say("c", "I live in Lisbon.").await;
    w.learn("c").await;
    let old = w.only().await;
    w.clock.forward(DAY);
    w.say("d", "I moved to Porto.").await;
    let learned = w.learn("d").await;
    assert_eq!((learned.facts, learned.superseded), (1, 1));
    let new = w.only().await;
    assert_eq!(new.content, "The user lives in Porto.");
    let old = w.get(&w.operator, old.id).await;
    assert_eq!(old.superseded_by, Some(new.id));
    assert_eq!(old.valid_to, new.valid_from, "it was true until then");
    let walk = Traversal { ids: vec![new.id.0], depth: 1, ..Traversal::default() };
    let graph = w.mnemic.traverse(&w.operator, &walk).await.unwrap();
    assert!(graph.edges.iter().any(|edge| edge.relation == "SUPERSEDES"), "{:?}", graph.edges);
}

const EARLY: &str = "2020-01-01T00:00:00Z";
const LATE: &str = "2026-02-01T00:00:00Z";

pub(crate) async fn what_was_said_last_holds_whatever_is_learned_first(w: World) {
    for (speaker, order) in [("Lea", [0, 1]), ("Kim", [1, 0])] {
        let said = [(EARLY, "I live in Bergen."), (LATE, "I live in Oslo.")];
        for place in order {
            let (at, text) = said[place];
            w.say_at(speaker, &format!("{speaker}-{place}"), at, text).await;
            w.clock.forward(DAY);
            w.run("consolidate").await;
        }
        let mut all = MemoryFilter::default();
        let known = w.list(&w.operator, &all).await;
        let of = |list: &[Memory], home: &str| {
            let content = format!("{speaker} lives in {home}.");
            list.iter().find(|memory| memory.content == content).cloned()
        };
        let new = of(&known, "Oslo").unwrap();
        assert_eq!(of(&known, "Bergen"), None, "{speaker}");
        all.include_superseded = true;
        let old = of(&w.list(&w.operator, &all).await, "Bergen").unwrap();
        assert_eq!((old.superseded_by, old.valid_to), (Some(new.id), LATE.parse().ok()));
        let walk =
            Traversal { ids: vec![w.node_of(speaker).await], depth: 1, ..Traversal::default() };
        let graph = w.mnemic.traverse(&w.operator, &walk).await.unwrap();
        let homes = graph.edges.into_iter().filter(|edge| edge.relation == "LOCATED_IN");
        let homes: Vec<_> = homes.map(|edge| edge.target_id).collect();
        assert_eq!(homes, [w.node_of("Oslo").await], "{speaker}");
    }
}

pub(crate) async fn what_is_older_than_what_is_known_never_takes_its_place(w: World) {
    w.say_at("Kim", "c", LATE, "I live in Oslo.").await;
    w.say_at("Kim", "c", EARLY, "I live in Bergen.").await;
    w.learn("c").await;
    assert_eq!(w.known().await, ["Kim lives in Oslo."], "stored in another order than it was said");
    let early = ["2019-01-01T00:00:00Z", "2021-01-01T00:00:00Z"];
    w.say_at("Kim", "d", early[0], "Actually, I live in Turku.").await;
    w.say_at("Kim", "e", early[1], "I moved to Malmö.").await;
    assert_eq!(w.learn("d").await.superseded, 1);
    assert_eq!(w.learn("e").await.superseded, 1);
    assert_eq!(w.known().await, ["Kim lives in Oslo."], "nor does a correction of then");
    let then = MemoryFilter { as_of: early[1].parse().ok(), ..MemoryFilter::default() };
    let held: Vec<_> = w.list(&w.operator, &then).await.into_iter().map(|m| m.content).collect();
    assert!(held.contains(&"Kim lives in Malmö.".to_owned()), "{held:?}");
    w.create(&w.operator, fact("Kim works for Acme.")).await.unwrap();
    w.say_at("Kim", "f", EARLY, "I work for Initech.").await;
    let learned = w.learn("f").await;
    assert_eq!((learned.superseded, learned.reviews), (1, 0), "a fact made by hand is newer");
    w.clock.forward(DAY);
    w.say_as(&w.operator, "g", Some("Kim"), "I live in Narvik.").await;
    w.learn("g").await;
    assert_eq!(w.known().await, ["Kim lives in Narvik.", "Kim works for Acme."]);
}

pub(crate) async fn a_move_is_two_facts_and_no_twins(w: World) {
    w.clock.forward(DAY * 200);
    for conversation in ["c", "d"] {
        w.say_as(&w.operator, conversation, Some("Eli"), "I moved from Lyon to Nantes in March.")
            .await;
        w.say_as(&w.operator, conversation, Some("Eli"), "I live in Nantes.").await;
        w.learn(conversation).await;
        let known = w.known().await;
        assert_eq!(known, ["Eli lives in Nantes since March 2026.", "Eli used to live in Lyon."]);
    }
    let memories = w.memories().await;
    let past = memories.iter().find(|memory| memory.content.contains("Lyon")).unwrap();
    let home = memories.iter().find(|memory| memory.content.contains("Nantes")).unwrap();
    assert_eq!((past.temporal, past.valid_to), (Some(Temporal::Past), home.valid_from));
    assert_eq!((past.source_ids.len(), home.source_ids.len()), (2, 2), "said again");
}

pub(crate) async fn the_old_is_kept_where_it_is_preferred(w: World) {
    w.set(json!({"extraction": {"contradictions": "prefer_old"}})).await;
    w.say("c", "I live in Lisbon.").await;
    w.say("c", "I like tea.").await;
    w.learn("c").await;
    w.say("d", "I live in Porto. I like coffee.").await;
    let learned = w.learn("d").await;
    assert_eq!((learned.facts, learned.refused), (1, 1));
    let known = w.known().await;
    assert_eq!(
        known,
        ["The user likes coffee.", "The user likes tea.", "The user lives in Lisbon."]
    );
}

pub(crate) async fn a_correction_replaces_whatever_the_policy(w: World) {
    for policy in ["prefer_old", "flag_review", "prefer_new"] {
        w.set(json!({"extraction": {"contradictions": policy}})).await;
        let (channel, old) = (policy.to_owned(), "The user lives in Lisbon.");
        let new = NewMemory { channel: Some(channel.clone()), ..fact(old) };
        let old = w.create(&w.operator, new).await.unwrap();
        let conversation = mnemic_core::conversation::NewConversation {
            id: Some(policy.to_owned()),
            channel: Some(channel),
            ..Default::default()
        };
        w.mnemic.create_conversation(&w.as_operator(), &conversation).await.unwrap();
        w.say(policy, "Actually, I live in Porto.").await;
        let learned = w.learn(policy).await;
        assert_eq!((learned.facts, learned.superseded), (1, 1), "{policy}");
        let old = w.get(&w.operator, old.id).await;
        let new = w.get(&w.operator, old.superseded_by.unwrap()).await;
        assert_eq!((new.content.as_str(), new.kind), ("The user lives in Porto.", Kind::Fact));
    }
}

pub(crate) async fn a_suggestion_does_not_overrule_a_fact(w: World) {
    let old = w.create(&w.operator, fact("The user lives in Lisbon.")).await.unwrap();
    w.say("c", "I live in Porto.").await;
    let learned = w.learn("c").await;
    assert_eq!((learned.facts, learned.superseded, learned.reviews), (1, 0, 1));
    assert!(w.get(&w.operator, old.id).await.is_live());
}

pub(crate) async fn what_was_erased_is_not_learned_again(w: World) {
    w.say("c", "I live in Lisbon.").await;
    w.learn("c").await;
    let memory = w.only().await;
    w.mnemic.erase_memory(&w.as_operator(), memory.id).await.unwrap();
    w.say("d", "I live in Lisbon. I like tea.").await;
    let learned = w.learn("d").await;
    assert_eq!((learned.facts, learned.refused), (1, 1));
    assert_eq!(w.known().await, ["The user likes tea."]);
}

pub(crate) async fn relations_join_entities_and_end_with_their_time(w: World) {
    w.say_as(&w.operator, "c", Some("Ana"), "I work for Acme. My sister Bela lives in Porto.")
        .await;
    w.learn("c").await;
    let relations = async || {
        let search = NodeSearch { query: "Ana".to_owned(), ..Default::default() };
        let hits = w.mnemic.search_nodes(&w.operator, &search).await.unwrap();
        let ana = &hits.iter().find(|hit| hit.node.name == "Ana").unwrap().node;
        assert_eq!(ana.node_type, "person");
        let walk = Traversal { ids: vec![ana.id.0], depth: 1, ..Traversal::default() };
        let graph = w.mnemic.traverse(&w.operator, &walk).await.unwrap();
        let mut relations: Vec<_> = graph.edges.into_iter().map(|edge| edge.relation).collect();
        relations.retain(|relation| relation != "ABOUT");
        relations.sort();
        relations
    };
    assert_eq!(relations().await, ["KNOWS", "WORKS_FOR"]);
    w.clock.forward(DAY);
    w.say_as(&w.operator, "c", Some("Ana"), "I joined Initech.").await;
    w.learn("c").await;
    assert_eq!(relations().await, ["KNOWS", "WORKS_FOR"], "one employer at a time");
}

pub(crate) async fn nothing_is_learned_while_memory_is_off(w: World) {
    w.say("c", "I live in Lisbon.").await;
    w.clock.forward(DAY);
    for off in [json!({"memory": {"enabled": false}}), json!({"extraction": {"enabled": false}})] {
        w.set(json!({"memory": {"enabled": true}, "extraction": {"enabled": true}})).await;
        w.set(off).await;
        assert_eq!((w.would("consolidate").await, w.run("consolidate").await), (0, 0));
        let refused = w.mnemic.learn(&w.as_operator(), "c").await;
        assert_eq!(seen(refused).0, "conflict");
    }
    w.set(json!({"memory": {"enabled": true}, "extraction": {"enabled": true}})).await;
    assert_eq!((w.would("consolidate").await, w.run("consolidate").await), (1, 1));
    assert_eq!((w.would("consolidate").await, w.run("consolidate").await), (0, 0));
    assert_eq!(w.known().await, ["The user lives in Lisbon."]);
    for wrong in [
        json!({"extraction": {"turns": 0}}),
        json!({"extraction": {"contradictions": "both"}}),
        json!({"rollup": {"retain_last": 10_001}}),
    ] {
        assert_eq!(seen(w.mnemic.update_settings(&w.operator, &wrong).await).0, "invalid_field");
    }
}

pub(crate) async fn conversations_are_learned_from_when_they_rest_or_grow(w: World) {
    w.say("resting", "I live in Lisbon.").await;
    w.clock.forward(SignedDuration::from_mins(4));
    w.say("young", "I like tea.").await;
    for _ in 0..20 {
        w.say("long", "I like coffee.").await;
    }
    assert_eq!(w.would("consolidate").await, 20, "one is long enough");
    w.clock.forward(SignedDuration::from_mins(1));
    assert_eq!(w.run("consolidate").await, 21, "and one has come to rest");
    assert_eq!(w.known().await, ["The user likes coffee.", "The user lives in Lisbon."]);
    w.clock.forward(SignedDuration::from_mins(5));
    assert_eq!(w.run("consolidate").await, 1);
}

pub(crate) async fn two_who_learn_at_once_learn_once(w: World) {
    for n in 0..50 {
        w.say("c", &format!("I like tea number {n}.")).await;
    }
    let learned = at_once(6, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move {
            if number == 0 {
                let job = mnemic.run_job(&caller.principal, "consolidate", false).await;
                return job.map_or(0, |report| report.changed);
            }
            mnemic.learn(&caller, "c").await.unwrap().turns
        }
    });
    assert_eq!(learned.await.into_iter().sum::<u64>(), 50);
    assert_eq!(w.known().await.len(), 50);
}

pub(crate) async fn a_model_learns_and_rules_stand_in_for_it(w: World) {
    let answer = json!({
        "entities": [{"name": "Ana", "kind": "person"}],
        "facts": [{
            "content": "Ana breeds alpacas.", "certainty": "inferred", "temporal": "current",
            "valid_from": null, "valid_to": null, "entities": ["Ana"], "correction": false, "turn": 0,
        }],
        "relations": [],
    })
    .to_string();
    let model = Scripted::new(&[&answer, "nonsense", &answer[..40]]);
    let mnemic = w.with_model(model);
    w.say("c", "I live in Lisbon, with my alpacas.").await;
    mnemic.learn(&w.as_operator(), "c").await.unwrap();
    let memory = w.only().await;
    assert_eq!(
        (memory.content.as_str(), memory.source.as_deref()),
        ("Ana breeds alpacas.", Some("test:scripted"))
    );
    assert!((memory.confidence - 0.70).abs() < 1e-9);
    for conversation in ["d", "e"] {
        w.say(conversation, "I live in Lisbon.").await;
        mnemic.learn(&w.as_operator(), conversation).await.unwrap();
    }
    let memories = w.memories().await;
    let home = memories.iter().find(|memory| memory.content.contains("Lisbon")).unwrap();
    assert_eq!((memories.len(), home.source.as_deref()), (2, Some("rules")));
    assert_eq!(home.source_ids.len(), 2, "said twice");
}

pub(crate) async fn what_means_the_same_is_no_twin(mut w: World) {
    w.embed_with(HashModel::new("hash")).await;
    let answer = |content: &str| {
        json!({"entities": [], "relations": [], "facts": [{
            "content": content, "certainty": "explicit", "temporal": "current", "valid_from": null,
            "valid_to": null, "entities": [], "correction": false, "turn": 0,
        }]})
        .to_string()
    };
    let long = "The user keeps seventeen speckled hens behind the old wooden barn near the river";
    let (first, second) =
        (answer(&format!("{long}.")), answer(&format!("{long}, and the the hens.")));
    let mnemic = w.with_model(Scripted::new(&[&first, &second]));
    w.say("c", "my hens, you know").await;
    mnemic.learn(&w.as_operator(), "c").await.unwrap();
    w.mnemic.embed_all().await.unwrap();
    w.say("d", "my hens again").await;
    let learned = mnemic.learn(&w.as_operator(), "d").await.unwrap();
    assert_eq!((learned.facts, learned.supported), (0, 1), "{:?}", w.known().await);
}
