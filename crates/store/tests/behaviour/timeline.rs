//! The timeline: every turn in a record's life is told once, to those who may see the record.

use mnemic_core::grant::{Access, Grant, Permission};
use mnemic_core::memory::NewMemory;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::strategy::NewStrategy;
use mnemic_core::timeline::{Event, TimelineFilter};

use crate::world::{DAY, World, fact, seen, text};

impl World {
    async fn events(&self, who: &Principal, filter: &TimelineFilter) -> Vec<Event> {
        let page = PageRequest { limit: Some(200), cursor: None };
        self.mnemic.list_timeline(who, filter, &page).await.unwrap().items
    }

    /// The latest first.
    async fn narrated(&self, who: &Principal, filter: &TimelineFilter) -> Vec<String> {
        let events = self.events(who, filter).await;
        let told = |it: Event| {
            format!("{} {}: {}", it.happening.as_str(), it.subject.as_str(), it.summary)
        };
        events.into_iter().map(told).collect()
    }
}

/// Five days of a few memories and a strategy.
async fn live(w: &World) {
    let caller = w.as_operator();
    let tea = w.remember(&w.operator, "tea is hot").await;
    w.clock.forward(DAY);
    w.mnemic.promote_memory(&caller, tea.id).await.unwrap();
    w.clock.forward(DAY);
    let newer = w.mnemic.supersede_memory(&caller, tea.id, "tea is warm".to_owned()).await.unwrap();
    w.clock.forward(DAY);
    w.mnemic.forget_memory(&caller, newer.id).await.unwrap();
    w.clock.forward(DAY);
    w.mnemic.restore_memory(&caller, newer.id).await.unwrap();
    w.clock.forward(DAY);
    let way = NewStrategy {
        description: "pour slowly".to_owned(),
        channel: Some("kitchen".to_owned()),
        ..NewStrategy::default()
    };
    let way = w.mnemic.learn_strategy(&caller, &way).await.unwrap().strategy;
    w.clock.forward(DAY);
    w.mnemic.forget_strategy(&caller, way.id).await.unwrap();
}

pub(crate) async fn every_turn_of_a_life_is_told_once(w: World) {
    live(&w).await;
    let all = [
        "forgotten strategy: pour slowly",
        "learned strategy: pour slowly",
        "restored fact: tea is warm",
        "forgotten fact: tea is warm",
        "learned fact: tea is warm",
        "superseded fact: tea is hot",
        "promoted fact: tea is hot",
        "learned fact: tea is hot",
    ];
    let mut told = w.narrated(&w.operator, &TimelineFilter::default()).await;
    // Two of one batch have one time; their order is that of their ids.
    told[4..6].sort();
    assert_eq!(told, all);
    let of = |word: &str| TimelineFilter::default().of_type(Some(word)).unwrap();
    assert_eq!(w.narrated(&w.operator, &of("promoted")).await, [all[6]]);
    assert_eq!(w.narrated(&w.operator, &of("strategy")).await, all[..2]);
    let kitchen = TimelineFilter { channel: Some("kitchen".to_owned()), ..of("learned") };
    assert_eq!(w.narrated(&w.operator, &kitchen).await, [all[1]]);
    let window = TimelineFilter {
        since: Some(w.now() - DAY - DAY - DAY),
        until: Some(w.now() - DAY),
        ..TimelineFilter::default()
    };
    assert_eq!(w.narrated(&w.operator, &window).await, [all[2], all[3]]);
    // A change that is none of these is not told.
    let plain = w.remember(&w.operator, "plain").await;
    let before = w.events(&w.operator, &TimelineFilter::default()).await.len();
    w.mnemic.pin_memory(&w.as_operator(), plain.id, true).await.unwrap();
    assert_eq!(w.events(&w.operator, &TimelineFilter::default()).await.len(), before);
    let stranger = w.workspace("elsewhere").await;
    assert!(w.events(&stranger, &TimelineFilter::default()).await.is_empty());
}

pub(crate) async fn a_timeline_is_cut_into_pages_without_gaps_or_repeats(w: World) {
    // The clock stands still, so that only ids tell events apart.
    for number in 0..4 {
        let memory = w.remember(&w.operator, &format!("memory {number}")).await;
        w.mnemic.forget_memory(&w.as_operator(), memory.id).await.unwrap();
    }
    let all = w.events(&w.operator, &TimelineFilter::default()).await;
    assert_eq!(all.len(), 8);
    let (mut cursor, mut paged) = (None, Vec::new());
    loop {
        let page = PageRequest { limit: Some(3), cursor };
        let filter = TimelineFilter::default();
        let page = w.mnemic.list_timeline(&w.operator, &filter, &page).await.unwrap();
        paged.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    let noise = PageRequest { limit: None, cursor: Some("x".to_owned()) };
    let refused = w.mnemic.list_timeline(&w.operator, &TimelineFilter::default(), &noise).await;
    assert_eq!(seen(refused).0, "invalid_cursor");
}

pub(crate) async fn events_follow_their_record_behind_a_border(w: World) {
    let secret = NewMemory { domain: Some("vault".to_owned()), ..fact("the code is 7") };
    let secret = w.create(&w.operator, secret).await.unwrap();
    let open = w.remember(&w.operator, "the door is green").await;
    let intern = w.member("default", "intern").await;
    let grants = vec![Grant {
        role: "intern".to_owned(),
        domain: "vault".to_owned(),
        permission: Permission::None,
    }];
    w.mnemic.set_grants(&w.operator, grants.clone()).await.unwrap();
    let intern = Principal { access: Access::of("intern", &grants), ..intern };
    let told = w.narrated(&intern, &TimelineFilter::default()).await;
    assert_eq!(told, ["learned memory: the door is green"]);
    let patch = mnemic_core::memory::MemoryPatch {
        domain: Some(Some("vault".to_owned())),
        ..mnemic_core::memory::MemoryPatch::default()
    };
    w.mnemic.update_memory(&w.as_operator(), open.id, &patch).await.unwrap();
    assert!(w.events(&intern, &TimelineFilter::default()).await.is_empty());
    assert_eq!(w.events(&w.operator, &TimelineFilter::default()).await.len(), 2);
    // What is erased leaves no event.
    w.mnemic.erase_memory(&w.as_operator(), secret.id).await.unwrap();
    let left = w.events(&w.operator, &TimelineFilter::default()).await;
    assert_eq!(left.len(), 1);
    assert!(left.iter().all(|event| event.record_id == open.id.0));
}

pub(crate) async fn what_matters_more_is_said_to(w: World) {
    let plain = w.remember(&w.operator, "plain").await;
    let sure = w.create(&w.operator, fact("sure")).await.unwrap();
    let importance = async |id| {
        let events = w.events(&w.operator, &TimelineFilter::default()).await;
        events.iter().find(|event| event.record_id == id).unwrap().importance
    };
    let before = importance(plain.id.0).await;
    assert!((0.0..=1.0).contains(&before) && importance(sure.id.0).await > before);
    w.mnemic.pin_memory(&Caller::new(w.operator.clone()), plain.id, true).await.unwrap();
    assert!(importance(plain.id.0).await > before);
    let doubtful = w.create(&w.operator, NewMemory { confidence: Some(0.1), ..text("hm") }).await;
    assert!(importance(doubtful.unwrap().id.0).await < before);
}
