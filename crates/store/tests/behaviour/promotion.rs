//! Facts of a channel that prove themselves are lifted into `_global`.

use mnemic_core::audit::AuditFilter;
use mnemic_core::memory::{Memory, MemoryFilter, NewMemory};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::recall::RecallRequest;
use mnemic_store::{Statement, values};
use serde_json::json;

use crate::world::{World, fact, query};

static PROMOTED: Statement = Statement::workspace(
    "test.promoted",
    "SELECT count(*) AS rows FROM edges
     WHERE workspace_id = $1 AND target_id = $2 AND relation = 'PROMOTED_FROM'",
);

async fn in_kitchen(w: &World, confidence: f64) -> Memory {
    let new = NewMemory {
        channel: Some("kitchen".to_owned()),
        confidence: Some(confidence),
        // Tests erase it and begin anew.
        revive: true,
        ..fact("the kettle needs five minutes")
    };
    w.create(&w.operator, new).await.unwrap()
}

/// Recalls the fact so often, in turn in each of the conversations.
async fn recall(w: &World, times: usize, conversations: usize) {
    for time in 0..times {
        let request = RecallRequest {
            channel: Some("kitchen".to_owned()),
            conversation_id: Some(format!("c{}", time % conversations)),
            ..query("kettle")
        };
        w.recall(&w.operator, &request).await;
        w.mnemic.flush_accesses().await;
    }
}

/// A fact that was promoted: its origin in the kitchen.
pub(crate) async fn promoted(w: &World) -> Memory {
    let origin = in_kitchen(w, 1.0).await;
    recall(w, 5, 2).await;
    assert_eq!(promote(w).await, 1);
    origin
}

pub(crate) async fn promote(w: &World) -> u64 {
    w.mnemic.run_job(&w.operator, "promote", false).await.unwrap().changed
}

async fn global(w: &World) -> Vec<Memory> {
    let filter = MemoryFilter { channel: Some("_global".to_owned()), ..MemoryFilter::default() };
    w.list(&w.operator, &filter).await
}

pub(crate) async fn each_threshold_holds_on_both_sides(w: World) {
    let low = in_kitchen(&w, 0.84).await;
    recall(&w, 6, 3).await;
    assert_eq!(promote(&w).await, 0, "not sure enough");
    w.mnemic.erase_memory(&w.as_operator(), low.id).await.unwrap();

    in_kitchen(&w, 0.85).await;
    recall(&w, 4, 2).await;
    assert_eq!(promote(&w).await, 0, "recalled too seldom");
    recall(&w, 1, 1).await;
    assert_eq!(promote(&w).await, 1);
}

pub(crate) async fn one_conversation_is_not_enough(w: World) {
    in_kitchen(&w, 1.0).await;
    recall(&w, 9, 1).await;
    assert_eq!(promote(&w).await, 0);
    recall(&w, 2, 2).await;
    assert_eq!(w.mnemic.run_job(&w.operator, "promote", true).await.unwrap().changed, 1);
    assert!(global(&w).await.is_empty(), "that was a dry run");
    assert_eq!(promote(&w).await, 1);
}

pub(crate) async fn a_promotion_is_a_copy_with_its_origin_and_its_figures(w: World) {
    let origin = in_kitchen(&w, 0.9).await;
    recall(&w, 5, 2).await;
    assert_eq!(promote(&w).await, 1);
    let copies = global(&w).await;
    assert_eq!(copies.len(), 1);
    assert_eq!((&copies[0].content, copies[0].kind), (&origin.content, origin.kind));
    assert_eq!(w.count_of(&w.operator, &PROMOTED, values![origin.id.0]).await, 1);
    assert_eq!(promote(&w).await, 0, "once is enough");
    let filter =
        AuditFilter { operation: Some("job.promote".to_owned()), ..AuditFilter::default() };
    let page = PageRequest::default();
    let entries = w.mnemic.list_audit(&w.operator, &filter, &page).await.unwrap().items;
    assert_eq!(entries.len(), 1);
    let expected = json!({
        "confidence": 0.9, "access_count": 5, "conversations": 2,
        "thresholds": {"confidence": 0.85, "access_count": 5, "conversations": 2},
    });
    assert_eq!(entries[0].details.as_ref(), Some(&expected));
}

pub(crate) async fn a_fact_and_its_copy_are_one_answer(w: World) {
    in_kitchen(&w, 1.0).await;
    recall(&w, 5, 2).await;
    promote(&w).await;
    let everywhere = w.found(&w.operator, &query("kettle")).await;
    assert_eq!(everywhere, ["the kettle needs five minutes"]);
    let elsewhere = RecallRequest { channel: Some("garden".to_owned()), ..query("kettle") };
    assert_eq!(w.found(&w.operator, &elsewhere).await.len(), 1, "all channels know it now");
}

pub(crate) async fn what_is_global_already_is_not_promoted(w: World) {
    in_kitchen(&w, 1.0).await;
    w.create(&w.operator, fact("the kettle needs five minutes")).await.unwrap();
    recall(&w, 5, 2).await;
    assert_eq!(promote(&w).await, 0);
}

pub(crate) async fn thresholds_are_the_workspaces_own(w: World) {
    in_kitchen(&w, 0.5).await;
    recall(&w, 1, 1).await;
    let patch = json!({"promotion": {"confidence": 0.5, "access_count": 1, "conversations": 1}});
    w.mnemic.update_settings(&w.operator, &patch).await.unwrap();
    assert_eq!(promote(&w).await, 1);
    let wrong = json!({"promotion": {"confidence": 1.5}});
    assert!(w.mnemic.update_settings(&w.operator, &wrong).await.is_err());
}

pub(crate) async fn an_erased_fact_leaves_no_sighting(w: World) {
    static SIGHTINGS: Statement = Statement::workspace(
        "test.sightings",
        "SELECT count(*) AS rows FROM sightings WHERE workspace_id = $1",
    );
    let memory = in_kitchen(&w, 1.0).await;
    recall(&w, 3, 3).await;
    assert_eq!(w.count(&w.operator, &SIGHTINGS).await, 3);
    w.mnemic.erase_memory(&Caller::new(w.operator.clone()), memory.id).await.unwrap();
    assert_eq!(w.count(&w.operator, &SIGHTINGS).await, 0);
}
