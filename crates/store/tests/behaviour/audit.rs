//! The audit: what is written down at each level, and for how long.

use jiff::SignedDuration;
use mnemic_core::audit::{AuditFilter, Entry};
use mnemic_core::grant::Permission;
use mnemic_core::memory::NewMemory;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{AGENT, Caller, MEMBER, Principal};
use mnemic_core::recall::RecallRequest;
use serde_json::json;

use crate::access::grant;
use crate::world::{DAY, World, fact, query, seen, text};

async fn entries(w: &World, filter: &AuditFilter) -> Vec<Entry> {
    let page = PageRequest { limit: Some(200), cursor: None };
    w.mnemic.list_audit(&w.operator, filter, &page).await.unwrap().items
}

async fn of(w: &World, operation: &str) -> Vec<Entry> {
    let filter = AuditFilter { operation: Some(operation.to_owned()), ..AuditFilter::default() };
    entries(w, &filter).await
}

/// The operator again, as the next request would find it.
async fn at_level(w: &World, level: &str) -> Principal {
    let patch = json!({"audit": {"level": level}});
    w.mnemic.update_settings(&w.operator, &patch).await.unwrap();
    w.member("default", "admin").await
}

pub(crate) async fn a_change_is_written_down_with_its_records(w: World) {
    let new = NewMemory { domain: Some("security".to_owned()), ..fact("keys rotate monthly") };
    let memory = w.create(&w.operator, new).await.unwrap();
    w.mnemic.promote_memory(&w.as_operator(), memory.id).await.unwrap();
    w.mnemic.forget_memory(&w.as_operator(), memory.id).await.unwrap();
    let all = of(&w, "memory.").await;
    let names: Vec<_> = all.iter().map(|entry| entry.operation.as_str()).collect();
    assert_eq!(names, ["memory.forget", "memory.create"], "promoting a fact changes nothing");
    let created = &all[1];
    assert_eq!((created.record_ids.as_slice(), created.count), (&[memory.id.0][..], 1));
    assert_eq!(created.domain.as_deref(), Some("security"));
    assert_eq!(created.channel.as_deref(), Some("_global"));
    assert_eq!((created.role.as_str(), &created.query, &created.details), ("admin", &None, &None));
    assert!(created.success());
}

pub(crate) async fn a_refusal_is_written_down(w: World) {
    let agent = w.member("default", AGENT).await;
    let memory = w.remember(&w.operator, "stays").await;
    let refused = w.mnemic.erase_memory(&Caller::new(agent), memory.id).await;
    assert_eq!(seen(refused).0, "denied");
    let filter = AuditFilter { success: Some(false), ..AuditFilter::default() };
    let failed = entries(&w, &filter).await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].operation, "memory.erase");
    assert_eq!((failed[0].role.as_str(), failed[0].error.as_deref()), (AGENT, Some("denied")));
}

pub(crate) async fn each_level_writes_what_it_says(w: World) {
    let off = at_level(&w, "off").await;
    w.remember(&off, "unseen").await;
    assert!(of(&w, "memory.create").await.is_empty());

    let writes = at_level(&w, "writes").await;
    w.remember(&writes, "tea at four").await;
    w.found(&writes, &query("tea")).await;
    assert_eq!(of(&w, "memory.create").await.len(), 1);
    assert!(of(&w, "recall").await.is_empty());

    let reads = at_level(&w, "reads").await;
    w.found(&reads, &query("tea")).await;
    let recalls = of(&w, "recall").await;
    assert_eq!((recalls.len(), recalls[0].count), (1, 1));
    assert_eq!(recalls[0].query.as_deref(), Some("tea"));

    let verbose = at_level(&w, "verbose").await;
    w.remember(&verbose, "coffee at five").await;
    let created = of(&w, "memory.create").await;
    assert!(created[0].details.as_ref().unwrap().to_string().contains("coffee at five"));
}

pub(crate) async fn a_recall_across_channels_is_written_down_without_its_query(w: World) {
    w.remember(&w.operator, "tea for all").await;
    let here = NewMemory { channel: Some("kitchen".to_owned()), ..text("tea for the kitchen") };
    w.create(&w.operator, here).await.unwrap();
    let request = RecallRequest {
        channel: Some("kitchen".to_owned()),
        conversation_id: Some("c1".to_owned()),
        ..query("tea")
    };
    assert_eq!(w.found(&w.operator, &request).await.len(), 2);
    let recalls = of(&w, "recall").await;
    assert_eq!(recalls.len(), 1);
    assert_eq!(recalls[0].channel.as_deref(), Some("kitchen"));
    assert_eq!(recalls[0].conversation_id.as_deref(), Some("c1"));
    assert_eq!(recalls[0].target_channels, ["_global"]);
    assert_eq!(recalls[0].query, None);
}

pub(crate) async fn erased_text_leaves_the_audit_too(w: World) {
    let verbose = at_level(&w, "verbose").await;
    let memory = w.remember(&verbose, "zyxwv").await;
    assert!(w.files_have("zyxwv"));
    w.mnemic.erase_memory(&Caller::new(verbose), memory.id).await.unwrap();
    assert!(!w.files_have("zyxwv"));
    assert_eq!(of(&w, "memory.create").await[0].details, None);
}

pub(crate) async fn whole_days_go_after_their_retention(w: World) {
    w.remember(&w.operator, "old").await;
    w.clock.forward(DAY * 90);
    w.remember(&w.operator, "new").await;
    let run = |dry_run| w.mnemic.run_job(&w.operator, "audit-retention", dry_run);
    assert_eq!(run(false).await.unwrap().changed, 0, "the ninetieth day is still kept whole");
    w.clock.forward(SignedDuration::from_hours(12));
    let due = run(true).await.unwrap().changed;
    assert!(due >= 1, "the operator's first steps and the memory");
    assert_eq!(run(false).await.unwrap().changed, due);
    let created = of(&w, "memory.create").await;
    assert_eq!(created.len(), 1, "{created:?}");
}

pub(crate) async fn the_audit_is_for_admins_and_members_of_its_workspace(w: World) {
    let acme = w.workspace("acme").await;
    w.remember(&w.operator, "mine").await;
    let page = PageRequest::default();
    let foreign = w.mnemic.list_audit(&acme, &AuditFilter::default(), &page).await.unwrap();
    assert!(foreign.items.iter().all(|entry| !entry.operation.starts_with("memory.")));
    let agent = w.member("default", AGENT).await;
    let refused = w.mnemic.list_audit(&agent, &AuditFilter::default(), &page).await;
    assert_eq!(seen(refused.map(|page| page.items)).0, "denied");
}

pub(crate) async fn entries_are_listed_page_by_page(w: World) {
    for number in 0..5 {
        w.remember(&w.operator, &format!("number {number}")).await;
    }
    let filter =
        AuditFilter { operation: Some("memory.create".to_owned()), ..AuditFilter::default() };
    let mut request = PageRequest { limit: Some(2), cursor: None };
    let mut all = Vec::new();
    loop {
        let page = w.mnemic.list_audit(&w.operator, &filter, &request).await.unwrap();
        all.extend(page.items);
        request.cursor = page.next_cursor;
        if request.cursor.is_none() {
            break;
        }
    }
    assert_eq!(all.len(), 5);
    assert!(all.windows(2).all(|pair| pair[0].id > pair[1].id));
}

/// Entries about a closed domain are left out; of the others only who, what and when is shown.
pub(crate) async fn who_may_not_read_a_domain_learns_nothing_of_it(w: World) {
    let admin = at_level(&w, "verbose").await;
    let as_admin = Caller::new(admin.clone());
    let hidden = |content: &str| NewMemory { domain: Some("secret".to_owned()), ..fact(content) };
    let memory = w.create(&admin, hidden("zebra canary")).await.unwrap();
    let erased = w.create(&admin, hidden("zebra, erased")).await.unwrap();
    w.mnemic.promote_memory(&as_admin, memory.id).await.unwrap();
    w.mnemic.erase_memory(&as_admin, erased.id).await.unwrap();
    w.remember(&admin, "giraffe").await;
    assert_eq!(w.found(&admin, &query("zebra")).await.len(), 1);
    let page = PageRequest { limit: Some(200), cursor: None };
    let seen_by = async |who: &Principal| {
        w.mnemic.list_audit(who, &AuditFilter::default(), &page).await.unwrap().items
    };
    grant(&w, &[("member", "secret", Permission::Read)]).await;
    let reader = w.member("default", MEMBER).await;
    assert!(format!("{:?}", seen_by(&reader).await).contains("zebra canary"), "all is open");
    grant(&w, &[("member", "secret", Permission::None)]).await;
    let member = w.member("default", MEMBER).await;
    let shown = seen_by(&member).await;
    let text = format!("{shown:?}");
    for canary in ["zebra", "secret", &memory.id.to_string(), &erased.id.to_string()] {
        assert!(!text.contains(canary), "{canary}: {text}");
    }
    let of = |operation: &str| shown.iter().filter(|e| e.operation == operation).count();
    assert_eq!((of("memory.create"), of("memory.erase"), of("recall")), (1, 0, 1));
    assert!(shown.iter().all(|entry| entry.count == 0 && entry.details.is_none()));
    assert!(format!("{:?}", seen_by(&admin).await).contains("zebra canary"));
}
