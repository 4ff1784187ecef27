//! Recall: by words and by meaning, at once after a write, within what may be seen, explained.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mnemic_core::embed::{Embedder as _, EmbedderState, Purpose};
use mnemic_core::memory::{Kind, MemoryPatch, NewMemory};
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::recall::{ItemKind, RecallRequest, SearchFilter, Technique};
use mnemic_store::{Statement, values};

use crate::citation::cite;
use crate::model::{Broken, Gated, HashModel};
use crate::world::{DAY, World, at_once, by, contents, eventually, fact, query, seen, text};

static WITHOUT_VECTOR: Statement = Statement::workspace(
    "test.without_vector",
    "SELECT count(*) AS rows FROM (
         SELECT id FROM memories WHERE workspace_id = $1 AND deleted_at IS NULL
         UNION ALL SELECT id FROM nodes WHERE workspace_id = $1 AND deleted_at IS NULL
     ) AS item
     WHERE NOT EXISTS (SELECT 1 FROM vectors v
                       WHERE v.workspace_id = $1 AND v.item_id = item.id AND v.model = $2)",
);
static VECTORS: Statement = Statement::workspace(
    "test.vectors",
    "SELECT count(*) AS rows FROM vectors WHERE workspace_id = $1",
);

/// How long a recall waits for the vectors of what was written just before it.
const FRESHNESS_WAIT: Duration = Duration::from_millis(250);

pub(crate) async fn what_was_written_is_found_by_words_at_once(w: World) {
    for number in 0..50 {
        let content = format!("the gate code is swordfish{number}");
        w.remember(&w.operator, &content).await;
        let found = w.found(&w.operator, &query(&format!("swordfish{number}"))).await;
        assert_eq!(found[0], content);
    }
}

pub(crate) async fn what_was_written_is_found_by_meaning_at_once(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let mut in_time = 0;
    for number in 0..20 {
        let content = format!("elephants number {number} like umbrellas");
        w.remember(&w.operator, &content).await;
        let request = RecallRequest { limit: Some(30), ..by(Technique::Vectors, &content) };
        let bundle = w.recall(&w.operator, &request).await;
        // Only where the machine was too busy for the vector to be made may it be missing.
        let found = contents(&bundle).contains(&content);
        assert!(found || bundle.took >= FRESHNESS_WAIT, "number {number}: {:?}", bundle.took);
        in_time += usize::from(found);
    }
    assert!(in_time > 0, "the vectors never came in time");
}

pub(crate) async fn meaning_finds_what_shares_no_word(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    w.remember(&who, "photosynthesising organisms").await;
    w.remember(&who, "quarterly bookkeeping").await;
    all_have_vectors(&w, &who).await;
    let request = "photosynthetically organismic";
    let found = w.found(&who, &by(Technique::Vectors, request)).await;
    assert_eq!(found[0], "photosynthesising organisms");
}

/// Databases count distances up and rank words down; a score is the better the higher it is.
pub(crate) async fn scores_fall_from_the_best_match_down(mut w: World) {
    let model = HashModel::new("small");
    let stamp = model.stamp().clone();
    let texts = ["red kites over the hill", "a red roof", "an unpaid bill of last year"];
    let asked = model.embed(vec![texts[0].to_owned()], Purpose::Query).await.unwrap().remove(0);
    let opposite: Vec<f32> = asked.iter().map(|x| -x).collect();
    w.embed_with(model).await;
    let (who, all) = (w.operator.clone(), SearchFilter::default());
    let mut ids = Vec::new();
    for content in texts {
        ids.push(w.remember(&who, content).await.id.0);
    }
    all_have_vectors(&w, &who).await;
    let words =
        w.store().search_words(who.scope(), ItemKind::Memory, "red kites", &all, 10).await.unwrap();
    assert_eq!(words.iter().map(|hit| hit.id).collect::<Vec<_>>(), ids[..2]);
    assert!(words[0].score > words[1].score && words[1].score > 0.0, "{words:?}");
    let nearest = async |vector: &[f32]| {
        let hits = w
            .store()
            .search_vectors(who.scope(), ItemKind::Memory, &stamp, vector, &all, 10)
            .await
            .unwrap();
        assert_eq!(hits.len(), 3);
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
        hits
    };
    let near = nearest(&asked).await[0];
    assert!(near.id == ids[0] && (near.score - 1.0).abs() < 1e-3, "{near:?}");
    let far = nearest(&opposite).await[2];
    assert!(far.id == ids[0] && (far.score + 1.0).abs() < 1e-3, "{far:?}");
}

/// An empty list is not an absent one.
pub(crate) async fn among_none_nothing_is_found(mut w: World) {
    let model = HashModel::new("small");
    let stamp = model.stamp().clone();
    let asked = model.embed(vec!["kites".to_owned()], Purpose::Query).await.unwrap().remove(0);
    w.embed_with(model).await;
    let who = w.operator.clone();
    w.remember(&who, "kites").await;
    all_have_vectors(&w, &who).await;
    let (scope, store) = (who.scope(), w.store());
    for (channels, count) in [(None, 1), (Some(vec![]), 0)] {
        let filter = SearchFilter { channels, ..SearchFilter::default() };
        let words =
            store.search_words(scope, ItemKind::Memory, "kites", &filter, 10).await.unwrap();
        let near = store
            .search_vectors(scope, ItemKind::Memory, &stamp, &asked, &filter, 10)
            .await
            .unwrap();
        assert_eq!((words.len(), near.len()), (count, count), "{filter:?}");
    }
    assert!(store.matched_words(scope, "kites", &[]).await.unwrap().is_empty());
    assert!(store.lookup_memories(scope, &[]).await.unwrap().is_empty());
    store.touch_memories(scope, &[], w.now()).await.unwrap();
    assert!(
        store
            .search_words(scope, ItemKind::Memory, "", &SearchFilter::default(), 10)
            .await
            .unwrap()
            .is_empty()
    );
}

/// The vector is made of the text that was read; what else changed meanwhile does not matter.
pub(crate) async fn a_memory_promoted_while_it_is_embedded_still_gets_its_vector(mut w: World) {
    let (model, gate) = Gated::new("slow");
    w.embed_with(model).await;
    let who = w.operator.clone();
    let memory = w.remember(&who, "walruses like oysters").await;
    gate.arrived().await;
    w.mnemic.promote_memory(&w.as_operator(), memory.id).await.unwrap();
    gate.open();
    all_have_vectors(&w, &who).await;
    let found = w.found(&who, &by(Technique::Vectors, "walruses oysters")).await;
    assert_eq!(found, ["walruses like oysters"]);
}

pub(crate) async fn a_text_changed_while_it_is_embedded_gets_the_vector_of_the_new_one(
    mut w: World,
) {
    let (model, gate) = Gated::new("slow");
    w.embed_with(model).await;
    let who = w.operator.clone();
    let memory = w.remember(&who, "walruses like oysters").await;
    gate.arrived().await;
    let content = Some("carpenters prefer bread".to_owned());
    let patch = MemoryPatch { content, ..MemoryPatch::default() };
    w.mnemic.update_memory(&w.as_operator(), memory.id, &patch).await.unwrap();
    gate.open();
    gate.arrived().await;
    assert_eq!(w.count(&who, &VECTORS).await, 0, "the vector of the old text was not taken");
    gate.open();
    all_have_vectors(&w, &who).await;
    let request =
        RecallRequest { explain: true, ..by(Technique::Vectors, "carpenters prefer bread") };
    let bundle = w.recall(&who, &request).await;
    let score = bundle.items[0].why.as_ref().unwrap().found_by[0].score;
    assert!(score > 0.999, "the very same text has cosine 1, not {score}");
}

pub(crate) async fn a_channel_is_searched_together_with_the_global_one(w: World) {
    let at = |channel: &str| NewMemory {
        channel: Some(channel.to_owned()),
        ..text(&format!("deploy notes of {channel}"))
    };
    for channel in ["apollo", "gemini", "_global"] {
        w.create(&w.operator, at(channel)).await.unwrap();
    }
    let found = async |channel: Option<&str>| {
        let channel = channel.map(str::to_owned);
        let request = RecallRequest { channel, ..query("deploy notes") };
        BTreeSet::from_iter(w.found(&w.operator, &request).await)
    };
    let expected = |channels: &[&str]| {
        channels.iter().map(|c| format!("deploy notes of {c}")).collect::<BTreeSet<_>>()
    };
    assert_eq!(found(Some("apollo")).await, expected(&["apollo", "_global"]));
    assert_eq!(found(Some("_global")).await, expected(&["_global"]));
    assert_eq!(found(Some("Apollo")).await, expected(&["_global"]), "names have case");
    assert_eq!(found(None).await, expected(&["apollo", "gemini", "_global"]));
}

pub(crate) async fn a_kind_can_be_asked_for(w: World) {
    w.remember(&w.operator, "rain is likely").await;
    w.create(&w.operator, fact("rain is wet")).await.unwrap();
    let request = RecallRequest { kind: Some(Kind::Fact), ..query("rain") };
    assert_eq!(w.found(&w.operator, &request).await, ["rain is wet"]);
}

pub(crate) async fn facts_pins_and_weights_raise_their_memories(w: World) {
    let who = w.operator.clone();
    let heavy = w.remember(&who, "tea at noon").await;
    w.mnemic.weight_memory(&w.as_operator(), heavy.id, 1.0).await.unwrap();
    let fact = w.create(&who, fact("tea at noon")).await.unwrap();
    let light = w.remember(&who, "tea at noon").await;
    w.mnemic.weight_memory(&w.as_operator(), light.id, -0.5).await.unwrap();
    let plain = w.remember(&who, "tea at noon").await;
    let bundle = w.recall(&who, &query("tea")).await;
    let order: Vec<_> = bundle.items.iter().map(|item| item.memory.id).collect();
    assert_eq!(order, [heavy.id, fact.id, plain.id, light.id]);
}

/// Ten thousand better matches that may not be seen, and one that may.
pub(crate) async fn what_may_not_be_seen_never_crowds_out_what_may(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let hidden = || text("needle needle needle");
    let elsewhere = || NewMemory { channel: Some("elsewhere".to_owned()), ..hidden() };
    create_many(&w, &acme, 4_000, elsewhere).await;
    create_many(&w, &globex, 3_000, hidden).await;
    let deleted = create_many(&w, &acme, 200, hidden).await;
    let superseded = create_many(&w, &acme, 2_800, hidden).await;
    forget_all(&w, &acme, deleted).await;
    supersede_all(&w, &acme, superseded).await;
    let visible = "somewhere in this long and winding heap of hay there is one needle";
    w.remember(&acme, visible).await;
    let request = RecallRequest { channel: Some("here".to_owned()), ..query("needle") };
    assert_eq!(w.found(&acme, &request).await, [visible]);
    let w = w.reopen().await;
    assert_eq!(w.found(&acme, &request).await, [visible], "nor in an index built anew");
}

/// The same for meaning, with more than one search looks at.
pub(crate) async fn what_may_not_be_seen_is_not_among_the_nearest(mut w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let hidden = || text("needle needle needle");
    let elsewhere = || NewMemory { channel: Some("elsewhere".to_owned()), ..hidden() };
    create_many(&w, &acme, 200, elsewhere).await;
    create_many(&w, &globex, 200, hidden).await;
    let deleted = create_many(&w, &acme, 200, hidden).await;
    let superseded = create_many(&w, &acme, 200, hidden).await;
    forget_all(&w, &acme, deleted).await;
    supersede_all(&w, &acme, superseded).await;
    let visible = "one needle in a heap of hay";
    w.remember(&acme, visible).await;
    w.embed_with(HashModel::new("small")).await;
    let request =
        RecallRequest { channel: Some("here".to_owned()), ..by(Technique::Vectors, "needle") };
    assert_eq!(w.found(&acme, &request).await[0], visible);
    assert!(!w.found(&acme, &request).await.contains(&"needle needle needle".to_owned()));
}

pub(crate) async fn techniques_can_be_switched_off(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    let entities = vec!["Umbrella".to_owned()];
    w.create(&who, NewMemory { entities, ..text("umbrella stand") }).await.unwrap();
    all_have_vectors(&w, &who).await;
    for technique in Technique::ALL {
        let request = RecallRequest { explain: true, ..by(technique, "umbrella") };
        let bundle = w.recall(&who, &request).await;
        assert_eq!(contents(&bundle), ["umbrella stand"]);
        let used: Vec<_> = bundle.techniques.iter().map(|report| report.technique).collect();
        assert_eq!(used, [technique]);
        let found_by = &bundle.items[0].why.as_ref().unwrap().found_by;
        assert_eq!(found_by.iter().map(|f| f.technique).collect::<Vec<_>>(), [technique]);
        assert_eq!(bundle.degraded, Vec::<String>::new());
    }
    let none = RecallRequest { techniques: Some(vec![]), ..query("umbrella") };
    assert_eq!(seen(w.mnemic.recall(&who, &none).await).0, "invalid_field");
}

pub(crate) async fn an_explanation_says_what_found_each_item_and_why_it_stands_there(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let who = w.operator.clone();
    let best = NewMemory { confidence: Some(0.9), pinned: true, ..fact("umbrella stands in Oslo") };
    let best = w.create(&who, best).await.unwrap();
    w.remember(&who, "an umbrella for rainy days in the mountains").await;
    all_have_vectors(&w, &who).await;
    w.clock.forward(DAY * 30);
    let request = RecallRequest { explain: true, ..query("Umbrella stands in the Oslo office") };
    let bundle = w.recall(&who, &request).await;
    let first = &bundle.items[0];
    assert_eq!(first.memory.id, best.id);
    let why = first.why.as_ref().unwrap();
    let ranks: Vec<_> = why.found_by.iter().map(|f| (f.technique, f.rank)).collect();
    assert_eq!(ranks, [(Technique::Words, 1), (Technique::Vectors, 1)]);
    assert!(why.found_by.iter().all(|found| found.score > 0.0));
    assert!(why.found_by[1].score <= 1.000_1, "a cosine");
    assert_eq!(why.matched_words, ["Umbrella", "stands", "Oslo"], "as the query spells them");
    let factors = why.factors;
    assert!((factors.kind - 1.1).abs() < 1e-9 && (factors.pinned - 1.1).abs() < 1e-9);
    assert!((factors.confidence - 0.95).abs() < 1e-9, "{factors:?}");
    assert!((factors.recency - 1.05).abs() < 1e-9, "half after thirty days: {factors:?}");
    assert!((first.score - factors.product()).abs() < 1e-9, "first everywhere: fused to 1");
    let second = &bundle.items[1];
    assert_eq!(second.why.as_ref().unwrap().matched_words, ["Umbrella"]);
    assert!(first.score > second.score);
    let hits: Vec<_> = bundle.techniques.iter().map(|report| report.hits).collect();
    assert_eq!(hits, [2, 2, 0]);
    let plain = w.recall(&who, &query("umbrella")).await;
    assert!(plain.techniques.is_empty() && plain.items[0].why.is_none(), "only if asked for");
}

pub(crate) async fn an_answer_says_what_could_not_serve(w: World) {
    w.remember(&w.operator, "umbrella stand").await;
    let broken = EmbedderState::Ready(Arc::new(Broken(HashModel::new("away"))));
    for (state, said) in [
        (EmbedderState::Off, "switched off"),
        (EmbedderState::Loading("40 of 80 MB".to_owned()), "40 of 80 MB"),
        (EmbedderState::Failed("no weights; see the log".to_owned()), "no weights; see the log"),
        (broken, "the endpoint does not answer"),
    ] {
        w.slot.set(state);
        let bundle = w.recall(&w.operator, &query("umbrella")).await;
        assert_eq!(contents(&bundle), ["umbrella stand"], "words serve: {said}");
        assert_eq!(bundle.degraded.len(), 1, "{said}");
        let told = &bundle.degraded[0];
        assert!(told.starts_with("vectors: ") && told.contains(said), "{told}");
        let words = w.recall(&w.operator, &by(Technique::Words, "umbrella")).await;
        assert_eq!(words.degraded, Vec::<String>::new(), "what was not asked for is no loss");
        let only = w.mnemic.recall(&w.operator, &by(Technique::Vectors, "umbrella")).await;
        let (code, detail) = seen(only);
        assert_eq!(code, "model_unavailable");
        assert!(detail.contains(said), "{detail}");
    }
}

pub(crate) async fn a_recall_counts_as_an_access_of_what_it_returned(w: World) {
    let who = w.operator.clone();
    let (hit, miss) = (w.remember(&who, "umbrella").await, w.remember(&who, "parasol").await);
    w.clock.forward(DAY);
    for _ in 0..2 {
        w.recall(&who, &query("umbrella")).await;
    }
    w.mnemic.flush_accesses().await;
    let after = w.get(&who, hit.id).await;
    assert_eq!((after.access_count, after.last_accessed), (2, Some(w.now())));
    assert_eq!((after.updated_at, after.revision), (hit.updated_at, 1), "it was not changed");
    assert_eq!(w.get(&who, miss.id).await.access_count, 0);
    w.mnemic.flush_accesses().await;
    assert_eq!(w.get(&who, hit.id).await.access_count, 2, "once each");
    w.recall(&who, &query("umbrella")).await;
    let w = w.reopen().await;
    assert_eq!(w.get(&who, hit.id).await.access_count, 3, "closing loses none");
}

pub(crate) async fn a_running_server_counts_accesses_by_itself(w: World) {
    let memory = w.remember(&w.operator, "umbrella").await;
    let mnemic = w.mnemic.clone();
    let counting = tokio::spawn(async move { mnemic.count_accesses().await });
    w.recall(&w.operator, &query("umbrella")).await;
    let counted = async || w.get(&w.operator, memory.id).await.access_count == 1;
    eventually("the access is counted", counted).await;
    counting.abort();
}

pub(crate) async fn accesses_do_not_disturb_changes_and_citations(w: World) {
    let memory = w.remember(&w.operator, "umbrella").await;
    w.recall(&w.operator, &query("umbrella")).await;
    cite(&w, &w.operator, "run", &[memory.id]).await;
    let patch = MemoryPatch { topic: Some(Some("rain".to_owned())), ..MemoryPatch::default() };
    w.mnemic.update_memory(&w.as_operator(), memory.id, &patch).await.unwrap();
    w.mnemic.flush_accesses().await;
    let after = w.get(&w.operator, memory.id).await;
    assert_eq!((after.access_count, after.times_referenced), (1, 1));
    assert_eq!(after.topic.as_deref(), Some("rain"));
}

pub(crate) async fn text_of_any_script_is_found(w: World) {
    let texts = [
        ("会议改到星期三下午三点", "星期三"),
        ("東京タワーの高さは333メートル", "タワー"),
        ("서울은 대한민국의 수도이다", "서울은"),
        ("Das Café in der Münchner Straße schließt früh", "cafe munchner strasse"),
        ("Le déjeuner est prêt à midi", "dejeuner pret"),
        ("Совещание перенесено на среду", "СОВЕЩАНИЕ"),
        ("Η σύσκεψη αρχίζει στις πέντε", "συσκεψη"),
        ("call parseHTTPResponse before user_id is set", "http response userId"),
    ];
    for (content, _) in texts {
        w.remember(&w.operator, content).await;
    }
    for (content, asked) in texts {
        let found = w.found(&w.operator, &query(asked)).await;
        assert_eq!(found.first().map(String::as_str), Some(content), "{asked}");
    }
}

pub(crate) async fn a_query_out_of_bounds_is_refused(w: World) {
    let long = "x".repeat(8 * 1024 + 1);
    for request in [
        query(""),
        query(" \n"),
        query("a\u{202E}b"),
        query(&long),
        RecallRequest { limit: Some(0), ..query("x") },
        RecallRequest { limit: Some(101), ..query("x") },
        RecallRequest { channel: Some(String::new()), ..query("x") },
        RecallRequest { since: Some(w.now()), until: Some(w.now()), ..query("x") },
    ] {
        let outcome = w.mnemic.recall(&w.operator, &request).await;
        assert_eq!(seen(outcome).0, "invalid_field", "{request:?}");
    }
    assert!(w.found(&w.operator, &query("?!")).await.is_empty(), "no words, no matches");
}

pub(crate) async fn vectors_of_two_models_are_never_compared(mut w: World) {
    w.embed_with(HashModel::new("first")).await;
    let who = w.operator.clone();
    w.remember(&who, "umbrella stand").await;
    all_have_vectors(&w, &who).await;
    // A query of the new model may come before the search has moved to it.
    w.slot.set(EmbedderState::Ready(Arc::new(HashModel::new("second"))));
    let bundle = w.recall(&who, &query("umbrella stand")).await;
    assert_eq!(contents(&bundle), ["umbrella stand"], "words serve");
    assert_eq!(bundle.degraded.len(), 1, "and the answer says that vectors do not");
    assert!(w.mnemic.recall(&who, &by(Technique::Vectors, "umbrella stand")).await.is_err());
    w.embed_with(HashModel::new("second")).await;
    let request = RecallRequest { explain: true, ..by(Technique::Vectors, "umbrella stand") };
    let bundle = w.recall(&who, &request).await;
    let score = bundle.items[0].why.as_ref().unwrap().found_by[0].score;
    assert!(score > 0.999, "the same text in the same model has cosine 1, not {score}");
    assert_eq!(w.count(&who, &VECTORS).await, 1, "the old model's vector is gone");
}

pub(crate) async fn words_serve_while_a_new_model_moves_in(mut w: World) {
    w.embed_with(HashModel::new("first")).await;
    let who = w.operator.clone();
    w.remember(&who, "umbrella stand").await;
    all_have_vectors(&w, &who).await;
    let (model, gate) = Gated::new("second");
    w.mnemic.adopt_model(Arc::new(model)).await.unwrap();
    let mnemic = w.mnemic.clone();
    let moving = tokio::spawn(async move { mnemic.embed_all().await });
    gate.arrived().await;
    assert_eq!(w.found(&who, &query("umbrella")).await, ["umbrella stand"]);
    w.remember(&who, "written meanwhile").await;
    assert_eq!(w.found(&who, &query("meanwhile")).await, ["written meanwhile"]);
    for _ in 0..4 {
        gate.open();
    }
    moving.await.unwrap().unwrap();
    all_have_vectors(&w, &who).await;
    let found = w.found(&who, &by(Technique::Vectors, "written meanwhile")).await;
    assert_eq!(found[0], "written meanwhile");
}

pub(crate) async fn reembedding_fills_what_lacks_a_vector(mut w: World) {
    let who = w.operator.clone();
    create_many(&w, &who, 70, || text("umbrella stand")).await;
    let none = w.mnemic.run_job(&who, "reembed", false).await;
    assert_eq!(seen(none).0, "model_unavailable");
    w.slot.set(EmbedderState::Ready(Arc::new(HashModel::new("small"))));
    assert_eq!(w.mnemic.run_job(&who, "reembed", false).await.unwrap().changed, 70);
    assert_eq!(w.mnemic.run_job(&who, "reembed", false).await.unwrap().changed, 0);
    w.embed_with(HashModel::new("small")).await;
    let request = RecallRequest { limit: Some(100), ..by(Technique::Vectors, "umbrella") };
    assert_eq!(w.found(&who, &request).await.len(), 70);
    assert_eq!(seen(w.mnemic.run_job(&who, "no such", false).await).0, "invalid_field");
}

pub(crate) async fn a_restored_memory_is_found_by_meaning_again(mut w: World) {
    w.embed_with(HashModel::new("first")).await;
    let (who, caller) = (w.operator.clone(), w.as_operator());
    let memory = w.remember(&who, "umbrella stand").await;
    all_have_vectors(&w, &who).await;
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    w.embed_with(HashModel::new("second")).await;
    w.mnemic.restore_memory(&caller, memory.id).await.unwrap();
    all_have_vectors(&w, &who).await;
    assert_eq!(w.found(&who, &by(Technique::Vectors, "umbrella")).await, ["umbrella stand"]);
}

/// Waits until every visible memory and node has a vector of the model in use.
pub(crate) async fn all_have_vectors(w: &World, who: &Principal) {
    let model = w.slot.ready().unwrap().stamp().key();
    eventually("every memory has a vector", async || {
        w.count_of(who, &WITHOUT_VECTOR, values![model.as_str()]).await == 0
    })
    .await;
}

pub(crate) async fn create_many(
    w: &World,
    who: &Principal,
    count: usize,
    new: impl Fn() -> NewMemory,
) -> Vec<mnemic_core::ids::MemoryId> {
    let caller = Caller::new(who.clone());
    let mut made = Vec::new();
    while made.len() < count {
        let news = (0..(count - made.len()).min(1_000)).map(|_| new()).collect();
        let memories = w.mnemic.create_memories(&caller, news).await.unwrap();
        made.extend(memories.into_iter().map(|memory| memory.id));
    }
    made
}

async fn forget_all(w: &World, who: &Principal, all: Vec<mnemic_core::ids::MemoryId>) {
    at_once(all.len(), |number| {
        let (mnemic, caller, id) = (w.mnemic.clone(), Caller::new(who.clone()), all[number]);
        async move { mnemic.forget_memory(&caller, id).await.unwrap() }
    })
    .await;
}

async fn supersede_all(w: &World, who: &Principal, all: Vec<mnemic_core::ids::MemoryId>) {
    let caller = Caller::new(who.clone());
    for some in all.chunks(1_000) {
        let over = |id: &_| NewMemory { supersedes: Some(*id), ..text("replaced") };
        let news = some.iter().map(over).collect();
        w.mnemic.create_memories(&caller, news).await.unwrap();
    }
}
