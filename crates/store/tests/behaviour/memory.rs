//! Memories and facts: creation, change, promotion, deletion and restoration.

use std::collections::BTreeSet;

use mnemic_core::Code;
use mnemic_core::memory::{Kind, MemoryFilter, MemoryPatch, NewMemory, Temporal};
use mnemic_core::page::PageRequest;

use crate::world::{DAY, World, at_once, fact, ids, query, seen, text};

pub(crate) async fn a_new_memory_has_sensible_defaults(w: World) {
    let made = w.remember(&w.operator, "the sky is blue").await;
    assert_eq!(made, w.get(&w.operator, made.id).await, "what is returned is what is kept");
    assert_eq!((made.kind, made.channel.as_str()), (Kind::Memory, "_global"));
    assert!((made.confidence - 1.0).abs() < 1e-9 && (made.weight - 1.0).abs() < 1e-9);
    assert_eq!((made.access_count, made.times_referenced, made.revision), (0, 0, 1));
    assert_eq!((made.created_at, made.updated_at), (w.now(), w.now()));
    assert_eq!(made.created_by, "admin");
    assert!(!made.pinned && made.is_live());
    assert_eq!((made.domain, made.topic, made.source), (None, None, None));
    assert_eq!((made.temporal, made.valid_from, made.valid_to), (None, None, None));
    assert_eq!(made.id.0.get_version_num(), 7);
}

pub(crate) async fn every_field_comes_back_as_it_was_given(w: World) {
    let new = NewMemory {
        content: "Ada owns the deploy key\nsince March, naïvely 👩‍🔬".to_owned(),
        kind: Some(Kind::Fact),
        channel: Some("apollo".to_owned()),
        domain: Some("security".to_owned()),
        topic: Some("keys".to_owned()),
        confidence: Some(0.85),
        source: Some("chat".to_owned()),
        source_ids: vec!["turn-1".to_owned(), "turn-2".to_owned()],
        entities: vec!["Ada".to_owned(), "deploy key".to_owned()],
        temporal: Some(Temporal::Current),
        valid_from: Some("2026-02-01T00:00:00.123456Z".parse().unwrap()),
        valid_to: Some(w.now() + DAY),
        pinned: true,
        supersedes: None,
        revive: false,
    };
    let made = w.create(&w.operator, new.clone()).await.unwrap();
    let id = made.id;
    let w = w.reopen().await;
    let kept = w.get(&w.operator, id).await;
    assert_eq!(kept, made);
    assert_eq!((&kept.content, kept.kind), (&new.content, Kind::Fact));
    assert_eq!(kept.channel, "apollo");
    assert_eq!((&kept.domain, &kept.topic, &kept.source), (&new.domain, &new.topic, &new.source));
    assert_eq!((&kept.source_ids, &kept.entities), (&new.source_ids, &new.entities));
    assert_eq!((kept.valid_from, kept.valid_to), (new.valid_from, new.valid_to));
    assert_eq!((kept.temporal, kept.pinned), (Some(Temporal::Current), true));
    assert!((kept.confidence - 0.85).abs() < 1e-9);
}

pub(crate) async fn what_is_wrong_with_a_memory_is_named(w: World) {
    let long = "x".repeat(32 * 1024 + 1);
    let (now, earlier) = (Some(w.now()), Some(w.now() - DAY));
    let wrong = [
        (text(""), "content:"),
        (text("  \n"), "content:"),
        (text("zero\u{200B}width"), "U+200B"),
        (text("nul\0"), "U+0000"),
        (text(&long), "32768"),
        (NewMemory { channel: Some(String::new()), ..text("x") }, "channel:"),
        (NewMemory { domain: Some("a\nb".to_owned()), ..text("x") }, "domain:"),
        (NewMemory { confidence: Some(1.01), ..text("x") }, "confidence:"),
        (NewMemory { confidence: Some(f64::NAN), ..text("x") }, "confidence:"),
        (NewMemory { entities: vec!["ok".into(), " ".into()], ..text("x") }, "entities[1]:"),
        (NewMemory { source_ids: vec!["id".into(); 101], ..text("x") }, "source_ids:"),
        (NewMemory { valid_from: now, valid_to: now, ..text("x") }, "valid_to:"),
        (NewMemory { valid_from: now, valid_to: earlier, ..text("x") }, "valid_to:"),
    ];
    for (new, named) in wrong {
        let (code, detail) = seen(w.create(&w.operator, new).await);
        assert_eq!(code, "invalid_field");
        assert!(detail.contains(named), "{detail} should name {named}");
    }
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await, []);
}

/// Times are kept to the microsecond, so that is where a beginning must lie before its end.
pub(crate) async fn a_validity_too_short_to_be_kept_is_refused(w: World) {
    let start = w.now();
    let end = start + jiff::SignedDuration::from_nanos(900);
    let new = NewMemory { valid_from: Some(start), valid_to: Some(end), ..text("a blink") };
    assert_eq!(seen(w.create(&w.operator, new).await).0, "invalid_field");
}

pub(crate) async fn a_batch_is_created_in_order(w: World) {
    let texts: Vec<_> = (0..250).map(|n| format!("item {n}")).collect();
    let news = texts.iter().map(|content| text(content)).collect();
    let made = w.mnemic.create_memories(&w.as_operator(), news).await.unwrap();
    assert_eq!(made.iter().map(|m| m.content.clone()).collect::<Vec<_>>(), texts);
    let mut listed = ids(&w.list(&w.operator, &MemoryFilter::default()).await);
    listed.reverse();
    assert_eq!(listed, ids(&made), "a list is newest first, over all its pages");
}

pub(crate) async fn a_batch_with_one_bad_item_creates_nothing_and_says_which(w: World) {
    let caller = w.as_operator();
    let old = w.create(&w.operator, fact("a fact")).await.unwrap();
    let missing = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let over = |id| NewMemory { supersedes: Some(id), ..text("replacement") };
    let cases = [
        (vec![text("good"), text("good"), text("")], "[2].content", Code::InvalidField),
        (vec![text("good"), over(missing)], "[1].", Code::NotFound),
        (vec![text("good"), text("good"), over(old.id)], "[2].", Code::Conflict),
    ];
    for (news, named, code) in cases {
        let error = w.mnemic.create_memories(&caller, news).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().starts_with(named), "{error} should start with {named}");
    }
    for size in [0, 1_001] {
        let news = vec![text("x"); size];
        let error = seen(w.mnemic.create_memories(&caller, news).await);
        assert_eq!(error.0, "invalid_field", "{size} items");
    }
    assert_eq!(ids(&w.list(&w.operator, &MemoryFilter::default()).await), [old.id]);
    assert!(w.search(&w.operator, "good replacement").await.is_empty());
}

pub(crate) async fn a_patch_changes_what_it_names_and_empties_what_it_nulls(w: World) {
    let new = NewMemory {
        domain: Some("security".to_owned()),
        topic: Some("keys".to_owned()),
        source: Some("chat".to_owned()),
        valid_to: Some(w.now() + DAY),
        temporal: Some(Temporal::Current),
        entities: vec!["Ada".to_owned()],
        ..text("the key lies under the mat")
    };
    let before = w.create(&w.operator, new).await.unwrap();
    w.clock.forward(DAY * 2);
    let patch = MemoryPatch {
        domain: Some(None),
        topic: Some(Some("doors".to_owned())),
        temporal: Some(None),
        valid_to: Some(None),
        confidence: Some(0.5),
        entities: Some(vec![]),
        ..MemoryPatch::default()
    };
    let after = w.mnemic.update_memory(&w.as_operator(), before.id, &patch).await.unwrap();
    assert_eq!(after, w.get(&w.operator, before.id).await);
    let mut expected = before.clone();
    expected.domain = None;
    expected.topic = Some("doors".to_owned());
    expected.temporal = None;
    expected.valid_to = None;
    expected.confidence = 0.5;
    expected.entities = vec![];
    expected.updated_at = w.now();
    expected.revision = 2;
    assert_eq!(after, expected, "and nothing else");
}

pub(crate) async fn a_bad_patch_is_refused_and_changes_nothing(w: World) {
    let valid_from = Some(w.now());
    let new = NewMemory { valid_from, ..text("the key lies under the mat") };
    let before = w.create(&w.operator, new).await.unwrap();
    for patch in [
        MemoryPatch { content: Some(String::new()), ..MemoryPatch::default() },
        MemoryPatch { channel: Some(" ".to_owned()), ..MemoryPatch::default() },
        MemoryPatch { confidence: Some(-0.1), ..MemoryPatch::default() },
        MemoryPatch { valid_to: Some(valid_from), ..MemoryPatch::default() },
    ] {
        let outcome = w.mnemic.update_memory(&w.as_operator(), before.id, &patch).await;
        assert_eq!(seen(outcome).0, "invalid_field", "{patch:?}");
    }
    assert_eq!(w.get(&w.operator, before.id).await, before);
}

pub(crate) async fn a_changed_text_is_found_by_its_new_words_only(w: World) {
    let memory = w.remember(&w.operator, "the key lies under the mat").await;
    let patch = MemoryPatch {
        content: Some("the key hangs beside the window".to_owned()),
        channel: Some("home".to_owned()),
        ..MemoryPatch::default()
    };
    w.mnemic.update_memory(&w.as_operator(), memory.id, &patch).await.unwrap();
    assert_eq!(ids(&w.search(&w.operator, "window").await), [memory.id]);
    assert!(w.search(&w.operator, "mat").await.is_empty());
    let elsewhere = mnemic_core::recall::RecallRequest {
        channel: Some("office".to_owned()),
        ..query("window")
    };
    assert!(w.found(&w.operator, &elsewhere).await.is_empty());
}

pub(crate) async fn promotion_makes_a_fact_once(w: World) {
    let memory = w.remember(&w.operator, "tests come first").await;
    w.clock.forward(DAY);
    let fact = w.mnemic.promote_memory(&w.as_operator(), memory.id).await.unwrap();
    assert_eq!((fact.kind, fact.revision, fact.updated_at), (Kind::Fact, 2, w.now()));
    w.clock.forward(DAY);
    let again = w.mnemic.promote_memory(&w.as_operator(), memory.id).await.unwrap();
    assert_eq!(again, fact, "a second time changes nothing");
    let facts = MemoryFilter { kind: Some(Kind::Fact), ..MemoryFilter::default() };
    assert_eq!(ids(&w.list(&w.operator, &facts).await), [memory.id]);
}

pub(crate) async fn a_forgotten_memory_is_nowhere_until_it_is_restored(w: World) {
    let caller = w.as_operator();
    let memory = w.remember(&w.operator, "the vault code is 1234").await;
    w.mnemic.forget_memory(&caller, memory.id).await.unwrap();
    let unknown = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let absent = seen(w.mnemic.get_memory(&w.operator, unknown).await);
    assert_eq!(seen(w.mnemic.get_memory(&w.operator, memory.id).await), absent);
    assert_eq!(seen(w.mnemic.forget_memory(&caller, memory.id).await), absent);
    assert_eq!(seen(w.mnemic.promote_memory(&caller, memory.id).await), absent);
    assert!(w.found(&w.operator, &query("vault")).await.is_empty());
    assert!(w.search(&w.operator, "vault").await.is_empty());
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await, []);
    let deleted = MemoryFilter { deleted: true, ..MemoryFilter::default() };
    assert_eq!(ids(&w.list(&w.operator, &deleted).await), [memory.id]);
    let restored = w.mnemic.restore_memory(&caller, memory.id).await.unwrap();
    assert!(restored.is_live());
    let again = w.mnemic.restore_memory(&caller, memory.id).await.unwrap();
    assert_eq!(again, restored, "a second time changes nothing");
    assert_eq!(w.found(&w.operator, &query("vault")).await, ["the vault code is 1234"]);
    assert_eq!(w.list(&w.operator, &deleted).await, []);
}

pub(crate) async fn lists_filter_by_every_field_they_offer(w: World) {
    let who = w.operator.clone();
    let full = NewMemory {
        channel: Some("apollo".to_owned()),
        domain: Some("security".to_owned()),
        topic: Some("keys".to_owned()),
        pinned: true,
        ..fact("keys rotate monthly")
    };
    let full = w.create(&who, full).await.unwrap().id;
    let bare = w.remember(&who, "keys are kept in a drawer").await.id;
    let name = |name: &str| Some(name.to_owned());
    let all = MemoryFilter::default;
    let cases = [
        (MemoryFilter { kind: Some(Kind::Fact), ..all() }, vec![full]),
        (MemoryFilter { kind: Some(Kind::Memory), ..all() }, vec![bare]),
        (MemoryFilter { channel: name("apollo"), ..all() }, vec![full]),
        (MemoryFilter { channel: name("_global"), ..all() }, vec![bare]),
        (MemoryFilter { domain: name("security"), ..all() }, vec![full]),
        (MemoryFilter { domain: name("Security"), ..all() }, vec![]),
        (MemoryFilter { topic: name("keys"), ..all() }, vec![full]),
        (MemoryFilter { pinned: Some(true), ..all() }, vec![full]),
        (MemoryFilter { pinned: Some(false), ..all() }, vec![bare]),
        (all(), vec![bare, full]),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(&w.list(&who, &filter).await), expected, "{filter:?}");
        let page = PageRequest::default();
        let by_words = w.mnemic.list_memories(&who, &filter, Some("keys"), &page).await.unwrap();
        let by_words: BTreeSet<_> = ids(&by_words.items).into_iter().collect();
        assert_eq!(by_words, expected.into_iter().collect(), "by words: {filter:?}");
    }
}

pub(crate) async fn a_list_by_words_is_cut_into_pages_without_gaps_or_repeats(w: World) {
    for number in 0..25 {
        let topic = (number % 2 == 0).then(|| "even".to_owned());
        w.create(&w.operator, NewMemory { topic, ..text("the same words") }).await.unwrap();
    }
    let filter = MemoryFilter { topic: Some("even".to_owned()), ..MemoryFilter::default() };
    let mut request = PageRequest { limit: Some(4), cursor: None };
    let (mut all, mut sizes) = (BTreeSet::new(), Vec::new());
    loop {
        let words = Some("words");
        let page = w.mnemic.list_memories(&w.operator, &filter, words, &request).await.unwrap();
        sizes.push(page.items.len());
        all.extend(ids(&page.items));
        request.cursor = page.next_cursor;
        if request.cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [4, 4, 4, 1]);
    assert_eq!(all.len(), 13);
    let forged = PageRequest { limit: Some(4), cursor: Some("AAAA".to_owned()) };
    let outcome = w.mnemic.list_memories(&w.operator, &filter, None, &forged).await;
    assert_eq!(seen(outcome).0, "invalid_cursor");
}

pub(crate) async fn no_patch_is_lost_when_many_come_at_once(w: World) {
    let memory = w.remember(&w.operator, "contended").await;
    let outcomes = at_once(32, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        async move {
            // Each changes a field of its own kind; together they change all of them.
            let patch = match number % 4 {
                0 => MemoryPatch { topic: Some(Some("t".into())), ..Default::default() },
                1 => MemoryPatch { domain: Some(Some("d".into())), ..Default::default() },
                2 => MemoryPatch { source: Some(Some("s".into())), ..Default::default() },
                _ => MemoryPatch { confidence: Some(0.25), ..Default::default() },
            };
            mnemic.update_memory(&caller, memory.id, &patch).await
        }
    })
    .await;
    let revisions: BTreeSet<_> = outcomes.iter().flatten().map(|memory| memory.revision).collect();
    assert_eq!(revisions, (2..=33).collect(), "each took its turn: {outcomes:?}");
    let after = w.get(&w.operator, memory.id).await;
    assert_eq!(after.revision, 33);
    let fields = (after.topic.as_deref(), after.domain.as_deref(), after.source.as_deref());
    assert_eq!(fields, (Some("t"), Some("d"), Some("s")));
    assert!((after.confidence - 0.25).abs() < 1e-9);
}

pub(crate) async fn promotions_weights_and_citations_at_once_are_all_kept(w: World) {
    let memory = w.remember(&w.operator, "contended").await;
    let outcomes = at_once(33, |number| {
        let (mnemic, caller) = (w.mnemic.clone(), w.as_operator());
        let said = format!("[mem:{}]", memory.id);
        async move {
            match number % 3 {
                0 => mnemic.promote_memory(&caller, memory.id).await.map(drop),
                1 => mnemic.pin_memory(&caller, memory.id, true).await.map(drop),
                _ => mnemic.finish_run(&caller, &number.to_string(), &said, None).await.map(drop),
            }
        }
    })
    .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let after = w.get(&w.operator, memory.id).await;
    assert_eq!((after.kind, after.pinned, after.times_referenced), (Kind::Fact, true, 11));
    assert_eq!(after.revision, 3, "one promotion and one pin; the rest found it done");
}
