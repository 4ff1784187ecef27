//! Recall through entities: what a query names or means, what is told of it and of what is next to
//! it, and how little of that is told to whom it is closed.

use mnemic_core::embed::{Embedder as _, Purpose};
use mnemic_core::grant::Permission;
use mnemic_core::ids::NodeId;
use mnemic_core::memory::{Kind, MemoryPatch, NewMemory};
use mnemic_core::node::{NewNode, NodePatch};
use mnemic_core::principal::Principal;
use mnemic_core::recall::{
    Bundle, ItemKind, Matched, Part, RecallRequest, SearchFilter, Technique,
};

use crate::access::grant;
use crate::model::HashModel;
use crate::node::{called, person};
use crate::recall::{all_have_vectors, create_many};
use crate::world::{DAY, TICK, World, by, contents, fact, query, seen, text};

const SECRET: &str = "secret";

fn about(name: &str, new: NewMemory) -> NewMemory {
    NewMemory { entities: vec![name.to_owned()], ..new }
}

fn names(bundle: &Bundle) -> Vec<&str> {
    bundle.entities.iter().map(|entity| entity.node.name.as_str()).collect()
}

fn explained(request: RecallRequest) -> RecallRequest {
    RecallRequest { explain: true, ..request }
}

/// By which technique each item was found, and through whom.
fn ways(bundle: &Bundle, content: &str) -> Vec<(Technique, Vec<String>)> {
    let item = bundle.items.iter().find(|item| item.memory.content == content).unwrap();
    let found_by = &item.why.as_ref().unwrap().found_by;
    let way = |found: &mnemic_core::recall::Found| {
        (found.technique, found.through.iter().map(|step| step.name.clone()).collect())
    };
    found_by.iter().map(way).collect()
}

pub(crate) async fn a_name_leads_to_a_fact_that_shares_no_word_with_the_query(w: World) {
    let ana = w.node(&called("Ana Díaz", &["Anita"])).await;
    w.create(&w.operator, about("Ana Díaz", fact("prefers oolong"))).await.unwrap();
    w.remember(&w.operator, "the plants need water").await;
    for asked in ["what does Anita drink?", "Is it ANA  DÍAZ's cup?"] {
        let bundle = w.recall(&w.operator, &explained(query(asked))).await;
        assert_eq!(contents(&bundle), ["prefers oolong"], "{asked}");
        let way = (Technique::Entities, vec!["Ana Díaz".to_owned()]);
        assert_eq!(ways(&bundle, "prefers oolong"), [way], "{asked}");
        assert_eq!((names(&bundle), bundle.entities[0].matched), (vec!["Ana Díaz"], Matched::Name));
        assert_eq!(bundle.entities[0].node.id, ana.id);
    }
    let nobody = w.recall(&w.operator, &query("what does Bo drink?")).await;
    assert!(nobody.entities.is_empty() && nobody.items.is_empty());
    w.mnemic.flush_accesses().await;
    let counted = w.mnemic.get_node(&w.operator, ana.id).await.unwrap();
    assert_eq!(counted.access_count, 2, "being returned counts");
}

pub(crate) async fn what_is_next_to_an_entity_is_told_behind_it(w: World) {
    let ana = w.node(&person("Ana")).await;
    let acme = w.node(&person("Acme")).await;
    let bo = w.node(&person("Bo")).await;
    w.edge(ana.id, "WORKS_FOR", acme.id).await;
    w.edge(bo.id, "KNOWS", ana.id).await;
    w.create(&w.operator, about("Acme", fact("ships on Fridays"))).await.unwrap();
    w.create(&w.operator, about("Ana", fact("prefers oolong"))).await.unwrap();
    let bundle = w.recall(&w.operator, &explained(query("tell me of Ana"))).await;
    assert_eq!(contents(&bundle), ["prefers oolong", "ships on Fridays"]);
    let way = (Technique::Entities, vec!["Ana".to_owned(), "Acme".to_owned()]);
    assert_eq!(ways(&bundle, "ships on Fridays"), [way]);
    let neighbours: Vec<_> = bundle.entities[0].neighbours.iter().collect();
    let said = neighbours.iter().map(|n| (n.name.as_str(), n.relation.as_str(), n.outgoing));
    assert_eq!(said.collect::<Vec<_>>(), [("Bo", "KNOWS", false), ("Acme", "WORKS_FOR", true)]);
    w.mnemic.delete_node(&w.as_operator(), acme.id).await.unwrap();
    let bundle = w.recall(&w.operator, &query("tell me of Ana")).await;
    assert_eq!(contents(&bundle), ["prefers oolong"]);
    assert_eq!(bundle.entities[0].neighbours.len(), 1);
}

pub(crate) async fn meaning_finds_an_entity_behind_those_that_are_named(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let description = Some("photosynthesising organisms".to_owned());
    let algae = w.node(&NewNode { description, ..person("Algae") }).await;
    w.node(&person("Tank")).await;
    w.create(&w.operator, about("Algae", fact("kept in number four"))).await.unwrap();
    all_have_vectors(&w, &w.operator).await;
    let asked = "Tank with photosynthesising organisms";
    let bundle = w.recall(&w.operator, &explained(by(Technique::Entities, asked))).await;
    assert_eq!(names(&bundle), ["Tank", "Algae"]);
    let matched: Vec<_> = bundle.entities.iter().map(|entity| entity.matched).collect();
    assert_eq!(matched, [Matched::Name, Matched::Meaning]);
    assert!(bundle.entities[1].score < 1.0 && bundle.entities[1].score >= 0.4);
    assert_eq!(contents(&bundle), ["kept in number four"]);
    let description = Some(Some("quarterly bookkeeping".to_owned()));
    let patch = NodePatch { description, ..NodePatch::default() };
    w.mnemic.update_node(&w.as_operator(), algae.id, &patch).await.unwrap();
    all_have_vectors(&w, &w.operator).await;
    let asked = by(Technique::Entities, "photosynthesising organisms");
    let bundle = w.recall(&w.operator, &asked).await;
    assert!(bundle.entities.is_empty() && bundle.items.is_empty(), "{:?}", names(&bundle));
}

/// The nearest nodes to the name of one, by store.
async fn near(w: &World, who: &Principal, name: &str, filter: &SearchFilter) -> Vec<NodeId> {
    let model = HashModel::new("small");
    let vector = model.embed(vec![name.to_owned()], Purpose::Query).await.unwrap().remove(0);
    let kind = ItemKind::Node;
    let hits = w.store().search_vectors(who.scope(), kind, model.stamp(), &vector, filter, 10);
    hits.await.unwrap().into_iter().map(|hit| NodeId(hit.id)).collect()
}

pub(crate) async fn the_nearest_nodes_follow_every_change(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let (who, caller, all) = (w.operator.clone(), w.as_operator(), SearchFilter::default());
    w.remember(&who, "Ana is no node").await;
    assert!(near(&w, &who, "Ana", &all).await.is_empty(), "the index is there, and empty");
    let ana = w.node(&person("Ana")).await.id;
    let other = w.node(&called("Annabel", &["Anna"])).await.id;
    let crm = |name: &str| NewNode { connection_id: Some("crm".to_owned()), ..person(name) };
    let (imported, erased) = (w.node(&crm("Anais")).await.id, w.node(&person("Anatol")).await.id);
    all_have_vectors(&w, &who).await;
    assert_eq!(near(&w, &who, "Ana", &all).await.len(), 4);
    assert_eq!(near(&w, &who, "Ana", &all).await[0], ana);
    w.mnemic.merge_nodes(&caller, other, ana).await.unwrap();
    assert!(!near(&w, &who, "Annabel", &all).await.contains(&other), "merged into another");
    w.mnemic.erase_connection(&caller, "crm").await.unwrap();
    assert!(!near(&w, &who, "Anais", &all).await.contains(&imported), "gone with its source");
    w.mnemic.erase_node(&caller, erased).await.unwrap();
    assert_eq!(near(&w, &who, "Ana", &all).await, [ana]);
    let renamed = NodePatch { name: Some("Zoë".to_owned()), ..NodePatch::default() };
    w.mnemic.update_node(&caller, ana, &renamed).await.unwrap();
    all_have_vectors(&w, &who).await;
    let far = w.recall(&who, &by(Technique::Entities, "the meaning of Anatol")).await;
    assert!(far.entities.is_empty(), "{:?}", names(&far));
    let elsewhere =
        SearchFilter { channels: Some(vec!["elsewhere".to_owned()]), ..SearchFilter::default() };
    assert!(near(&w, &who, "Zoë", &elsewhere).await.is_empty(), "another channel's");
    let findings = w.store().check(true).await.unwrap();
    assert!(findings.iter().all(|finding| finding.ok), "{findings:?}");
    let mut w = w.reopen().await;
    w.embed_with(HashModel::new("small")).await;
    assert_eq!(near(&w, &who, "Zoë", &all).await, [ana], "nor in an index built anew");
}

pub(crate) async fn what_is_closed_to_a_role_is_no_entity_nor_told_of_one(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let closed = |new: NewNode| NewNode { domain: Some(SECRET.to_owned()), ..new };
    let ana = w.node(&called("Ana", &["Anita"])).await;
    let spy = w.node(&closed(person("Mata Hari"))).await;
    w.edge(ana.id, "KNOWS", spy.id).await;
    let hidden = NewMemory { domain: Some(SECRET.to_owned()), ..fact("meets at midnight") };
    let hidden = w.create(&w.operator, hidden).await.unwrap();
    let link = crate::node::link(hidden.id.0, "ABOUT", ana.id.0);
    w.mnemic.link(&w.as_operator(), &link).await.unwrap();
    let told = NewMemory { domain: Some(SECRET.to_owned()), ..fact("dances in Paris") };
    w.create(&w.operator, about("Mata Hari", told)).await.unwrap();
    all_have_vectors(&w, &w.operator).await;
    w.member("default", "intern").await;
    for (permission, sees) in [(Permission::Read, true), (Permission::None, false)] {
        grant(&w, &[("intern", SECRET, permission)]).await;
        let intern = w.member("default", "intern").await;
        for asked in ["what of Anita", "what of Mata Hari", "the midnight dances of Mata Hari"] {
            let bundle = w.recall(&intern, &explained(query(asked))).await;
            let all = format!("{bundle:?}");
            for secret in ["Mata", "midnight", "Paris", SECRET] {
                assert_eq!(all.contains(secret), sees, "{asked}: {secret}");
            }
            let hits: usize = bundle.techniques.iter().map(|report| report.hits).sum();
            assert_eq!(hits > 0, sees, "{asked}");
        }
    }
}

pub(crate) async fn what_entities_lead_to_passes_the_same_filters(w: World) {
    let (who, caller) = (w.operator.clone(), w.as_operator());
    w.node(&person("Ana")).await;
    let asked = || by(Technique::Entities, "Ana");
    let old = w.create(&who, about("Ana", fact("lives in Oslo"))).await.unwrap();
    let gone = w.create(&who, about("Ana", fact("has a cat"))).await.unwrap();
    w.mnemic.forget_memory(&caller, gone.id).await.unwrap();
    assert_eq!(w.found(&who, &asked()).await, ["lives in Oslo"]);
    let before = w.now();
    w.clock.forward(DAY);
    let content = "lives in Rome".to_owned();
    w.mnemic.supersede_memory(&caller, old.id, content).await.unwrap();
    assert_eq!(w.found(&who, &asked()).await, ["lives in Rome"]);
    for then in [
        RecallRequest { as_of: Some(before), ..asked() },
        RecallRequest { known_at: Some(before), ..asked() },
    ] {
        assert_eq!(w.found(&who, &then).await, ["lives in Oslo"], "{then:?}");
    }
    let long_ago = RecallRequest { known_at: Some(before - DAY), ..asked() };
    assert!(w.recall(&who, &long_ago).await.entities.is_empty(), "nobody knew her");
    let since = RecallRequest { since: Some(before + TICK), ..asked() };
    assert_eq!(w.found(&who, &since).await, ["lives in Rome"]);
    let until = RecallRequest { until: Some(before + TICK), ..asked() };
    assert!(w.found(&who, &until).await.is_empty(), "what was replaced is not told");
    w.create(&who, about("Ana", text("may like tea"))).await.unwrap();
    let kind = RecallRequest { kind: Some(Kind::Memory), ..asked() };
    assert_eq!(w.found(&who, &kind).await, ["may like tea"]);
    let here = Some("here".to_owned());
    let elsewhere = NewMemory { channel: Some("elsewhere".to_owned()), ..text("elsewhere only") };
    w.create(&who, about("Ana", elsewhere)).await.unwrap();
    let channel = RecallRequest { channel: here, ..asked() };
    assert_eq!(w.found(&who, &channel).await, ["lives in Rome", "may like tea"]);
    let unlike = MemoryPatch { entities: Some(vec![]), ..MemoryPatch::default() };
    let kind = RecallRequest { channel: Some("here".to_owned()), ..kind };
    let head = w.recall(&who, &kind).await.items[0].memory.id;
    w.mnemic.update_memory(&caller, head, &unlike).await.unwrap();
    assert!(w.found(&who, &kind).await.is_empty(), "it is about her no more");
}

/// Being about somebody says little where a thousand are.
pub(crate) async fn many_memories_of_an_entity_do_not_push_out_what_words_find(w: World) {
    let who = w.operator.clone();
    w.node(&person("Ana")).await;
    for number in 0..9 {
        w.remember(&who, &format!("the umbrella stand of floor {number}")).await;
    }
    let hers = about("Ana", text("an umbrella in the hall by the door"));
    w.create(&who, hers).await.unwrap();
    create_many(&w, &who, 1_000, || about("Ana", text("something else entirely"))).await;
    let asked = query("Ana umbrella stand");
    let plain = RecallRequest { techniques: Some(vec![Technique::Words]), ..asked.clone() };
    let (plain, all) = (w.found(&who, &plain).await, w.found(&who, &asked).await);
    assert_eq!(plain.len(), 10);
    assert!(all.iter().all(|content| plain.contains(content)), "{all:?}");
    let place = |found: &[String]| found.iter().position(|c| c.contains("by the door")).unwrap();
    assert_eq!(place(&plain), 9, "words alone find it last");
    assert!(place(&all) < 9, "it is about her: {all:?}");
    let bundle = w.recall(&who, &explained(asked)).await;
    let report = bundle.techniques.iter().find(|it| it.technique == Technique::Entities).unwrap();
    assert!(report.hits <= 4, "few come along: {}", report.hits);
}

pub(crate) async fn a_query_that_names_nobody_finds_what_it_found_without(mut w: World) {
    let who = w.operator.clone();
    for (number, name) in ["Ana", "Quito", "The", "It"].iter().enumerate() {
        w.create(&who, about(name, text(&format!("the note {number} of it")))).await.unwrap();
        w.remember(&who, &format!("the umbrella {number} is in the hall")).await;
    }
    finds_the_same(&w, &who).await;
    // Alone, the letters of a short word are near a query that has it.
    for name in ["The", "It"] {
        let bundle = w.recall(&who, &query(name)).await;
        w.mnemic.delete_node(&w.as_operator(), bundle.entities[0].node.id).await.unwrap();
    }
    w.embed_with(HashModel::new("small")).await;
    all_have_vectors(&w, &who).await;
    finds_the_same(&w, &who).await;
}

async fn finds_the_same(w: &World, who: &Principal) {
    for asked in ["is the umbrella in the hall?", "notes of it", "where is it"] {
        let both = Some(vec![Technique::Words, Technique::Vectors]);
        let plain = RecallRequest { techniques: both, ..query(asked) };
        let (plain, all) = (w.recall(who, &plain).await, w.recall(who, &query(asked)).await);
        assert_eq!(names(&all), Vec::<&str>::new(), "{asked}");
        assert_eq!(contents(&all), contents(&plain), "{asked}");
        let scores = |bundle: &Bundle| bundle.items.iter().map(|i| i.score).collect::<Vec<_>>();
        assert_eq!(scores(&all), scores(&plain), "{asked}");
    }
}

pub(crate) async fn parts_of_the_answer_can_be_left_out(w: World) {
    let who = w.operator.clone();
    w.create(&who, about("Ana", fact("Ana prefers oolong"))).await.unwrap();
    let with = |parts: &[Part]| RecallRequest { include: Some(parts.to_vec()), ..query("Ana") };
    for (parts, items, entities) in [
        (&[Part::Memories][..], 1, 0),
        (&[Part::Entities][..], 0, 1),
        (&[Part::Memories, Part::Entities][..], 1, 1),
    ] {
        let bundle = w.recall(&who, &with(parts)).await;
        assert_eq!((bundle.items.len(), bundle.entities.len()), (items, entities), "{parts:?}");
    }
    let only =
        RecallRequest { techniques: Some(vec![Technique::Words]), ..with(&[Part::Entities]) };
    for wrong in [with(&[]), only] {
        assert_eq!(seen(w.mnemic.recall(&who, &wrong).await).0, "invalid_field");
    }
}
