//! Workspaces: the first start, settings and the toggle, deletion with and without a way back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mnemic_core::memory::NewMemory;
use mnemic_core::page::PageRequest;
use mnemic_core::principal::{AGENT, Caller, MEMBER, Principal};
use mnemic_core::workspace::{DEFAULT_NAME, Settings};
use mnemic_core::{Code, Kind};
use serde_json::json;

use crate::citation::cite;
use crate::model::HashModel;
use crate::world::{World, at_once, eventually, fact, keyed, query, seen, text};

pub(crate) async fn the_first_start_makes_one_workspace_and_an_operator(w: World) {
    let own = w.mnemic.own_workspace(&w.operator).await.unwrap();
    assert_eq!(own.name, DEFAULT_NAME);
    assert!(w.operator.operator);
    let again = w.mnemic.bootstrap().await.unwrap();
    let again = w.mnemic.authenticate(again.reveal()).await.unwrap();
    assert_eq!(again.workspace_id, own.id, "a second start makes no second workspace");
    assert_eq!(names(&w, &w.operator).await, [DEFAULT_NAME]);
}

pub(crate) async fn settings_merge_and_survive_reopening(w: World) {
    let admin = w.workspace("acme").await;
    let patch = json!({"memory": {"retention_days": 7}});
    w.mnemic.update_settings(&admin, &patch).await.unwrap();
    let patch = json!({"memory": {"injection": false}});
    let returned = w.mnemic.update_settings(&admin, &patch).await.unwrap();
    let w = w.reopen().await;
    let kept = w.mnemic.own_workspace(&admin).await.unwrap().settings;
    assert_eq!(kept, returned);
    let mut expected = Settings::default();
    (expected.memory.retention_days, expected.memory.injection) = (7, false);
    assert_eq!(kept, expected);
    let others = w.mnemic.own_workspace(&w.operator).await.unwrap().settings;
    assert_eq!(others, Settings::default(), "another workspace keeps its own");
}

pub(crate) async fn settings_refuse_what_they_do_not_know_and_stay_as_they_were(w: World) {
    for wrong in [
        json!({"memory": {"enable": false}}),
        json!({"memory": {"enabled": null}}),
        json!({"memory": {"retention_days": -1}}),
        json!({"memory": {"pin_references": 0}}),
        json!("off"),
    ] {
        let error = w.mnemic.update_settings(&w.operator, &wrong).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidField, "{wrong}");
    }
    let own = w.mnemic.own_workspace(&w.operator).await.unwrap();
    assert_eq!((own.settings, own.revision), (Settings::default(), 1));
}

pub(crate) async fn the_toggle_round_trips_through_either_way(w: World) {
    let admin = w.workspace("acme").await;
    let agent = w.member("acme", AGENT).await;
    let enabled = async || w.mnemic.own_workspace(&admin).await.unwrap().settings.memory.enabled;
    assert!(enabled().await);
    assert!(!w.mnemic.toggle_memory(&agent, false).await.unwrap().memory.enabled);
    assert!(!enabled().await);
    let patch = json!({"memory": {"enabled": true}});
    w.mnemic.update_settings(&admin, &patch).await.unwrap();
    assert!(enabled().await);
    let visitor = w.member("acme", "visitor").await;
    let error = w.mnemic.toggle_memory(&visitor, false).await.unwrap_err();
    assert_eq!(error.code(), Code::Denied);
    assert!(enabled().await);
}

pub(crate) async fn settings_changed_at_the_same_moment_are_all_kept(w: World) {
    let patches = [
        json!({"memory": {"enabled": false}}),
        json!({"memory": {"injection": false}}),
        json!({"memory": {"retention_days": 5}}),
        json!({"memory": {"pin_references": 9}}),
    ];
    let outcomes = at_once(patches.len(), |number| {
        let (mnemic, who, patch) = (w.mnemic.clone(), w.operator.clone(), patches[number].clone());
        async move { mnemic.update_settings(&who, &patch).await }
    })
    .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let own = w.mnemic.own_workspace(&w.operator).await.unwrap();
    let memory = own.settings.memory;
    assert_eq!((memory.enabled, memory.injection), (false, false));
    assert_eq!((memory.retention_days, memory.pin_references), (5, 9));
    assert_eq!(own.revision, 5);
}

pub(crate) async fn everybody_but_operators_sees_only_their_own(w: World) {
    let acme = w.workspace("acme").await;
    w.workspace("globex").await;
    assert_eq!(names(&w, &acme).await, ["acme"]);
    assert_eq!(names(&w, &w.operator).await, ["globex", "acme", DEFAULT_NAME], "newest first");
    let error = w.mnemic.create_workspace(&Caller::new(acme), "mine").await.unwrap_err();
    assert_eq!(error.code(), Code::Denied);
}

pub(crate) async fn workspaces_are_listed_page_by_page(w: World) {
    for number in 0..5 {
        w.workspace(&format!("w{number}")).await;
    }
    let mut request = PageRequest { limit: Some(2), cursor: None };
    let mut seen = Vec::new();
    loop {
        let page = w.mnemic.list_workspaces(&w.operator, &request).await.unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|workspace| workspace.name));
        request.cursor = page.next_cursor;
        if request.cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["w4", "w3", "w2", "w1", "w0", DEFAULT_NAME]);
}

pub(crate) async fn a_name_is_taken_until_its_workspace_is_deleted(w: World) {
    let first = w.workspace("acme").await;
    let taken = w.mnemic.create_workspace(&w.as_operator(), "acme").await.unwrap_err();
    assert_eq!(taken.kind(), Kind::Conflict);
    w.remember(&first, "the old tenant's secret").await;
    w.mnemic.delete_workspace(&w.operator, first.workspace_id, false).await.unwrap();
    let second = w.workspace("acme").await;
    assert_ne!(second.workspace_id, first.workspace_id);
    assert!(w.found(&second, &query("secret")).await.is_empty(), "nothing is inherited");
    w.mnemic.delete_workspace(&w.operator, second.workspace_id, true).await.unwrap();
    w.workspace("acme").await;
}

pub(crate) async fn a_soft_delete_hides_at_once_and_refuses_tokens(w: World) {
    let admin = w.workspace("acme").await;
    let wish = mnemic_core::token::NewToken { role: MEMBER.to_owned(), ..Default::default() };
    let (_, secret) = w.mnemic.create_token(&admin, wish).await.unwrap();
    let gone = w.mnemic.delete_workspace(&admin, admin.workspace_id, false).await.unwrap();
    assert_eq!(gone, None, "nothing is removed");
    let refused = w.mnemic.authenticate(secret.reveal()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    assert_eq!(names(&w, &w.operator).await, [DEFAULT_NAME]);
    assert_eq!(seen(w.mnemic.own_workspace(&admin).await).0, "not_found");
    let tokens = w.mnemic.list_tokens(&w.operator, &PageRequest::default()).await.unwrap();
    assert!(tokens.items.iter().all(|token| token.workspace_id != admin.workspace_id));
    let again = w.mnemic.delete_workspace(&w.operator, admin.workspace_id, false).await;
    assert_eq!(seen(again).0, "not_found");
}

pub(crate) async fn only_admins_delete_and_only_operators_another_workspace(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let member = w.member("acme", MEMBER).await;
    let denied = w.mnemic.delete_workspace(&member, member.workspace_id, false).await;
    assert_eq!(seen(denied).0, "denied");
    for hard in [false, true] {
        let foreign = w.mnemic.delete_workspace(&acme, globex.workspace_id, hard).await;
        let unknown = mnemic_core::ids::WorkspaceId(uuid::Uuid::now_v7());
        let unknown = w.mnemic.delete_workspace(&acme, unknown, hard).await;
        assert_eq!(seen(foreign), seen(unknown));
    }
    w.mnemic.own_workspace(&globex).await.unwrap();
}

pub(crate) async fn a_hard_delete_removes_everything_and_counts_it(mut w: World) {
    w.embed_with(HashModel::new("small")).await;
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    fill(&w, &acme).await;
    fill(&w, &globex).await;
    crate::recall::all_have_vectors(&w, &acme).await;
    crate::recall::all_have_vectors(&w, &globex).await;
    let erasure = w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap();
    let erasure = erasure.unwrap();
    assert_eq!(erasure.remaining, 0);
    let removed: Vec<_> = erasure.removed.iter().map(|(table, n)| (table.as_str(), *n)).collect();
    let expected = [
        ("action_counts", 0),
        ("action_nodes", 0),
        ("actions", 0),
        ("answers", 1),
        ("audit", 4),
        ("benchmarks", 0),
        ("citations", 1),
        ("conversations", 0),
        ("domains", 0),
        ("edges", 3),
        ("episodes", 0),
        ("goals", 0),
        ("intent_words", 0),
        ("intents", 0),
        ("jobs", 0),
        ("key_counts", 0),
        ("memories", 3),
        ("metrics", 0),
        ("minings", 0),
        ("node_aliases", 1),
        ("node_words", 3),
        ("nodes", 1),
        ("owners", 0),
        ("patterns", 0),
        ("policies", 0),
        ("profiles", 0),
        ("reviews", 0),
        ("runs", 1),
        ("scratchpads", 0),
        ("secrets", 0),
        ("sequence_keys", 0),
        ("sequences", 0),
        ("showings", 0),
        ("sightings", 0),
        ("slots", 0),
        ("strategies", 0),
        ("strategy_words", 0),
        ("timeline", 4),
        ("tokens", 1),
        ("tombstones", 0),
        ("tool_invocations", 0),
        ("tools", 0),
        ("turns", 0),
        ("unmined", 0),
        ("vectors", 4),
        ("workspaces", 1),
    ];
    assert_eq!(removed, expected);
    assert!(!w.files_have("zanzibar-acme"), "the texts have left the files");
    assert!(w.files_have("zanzibar-globex"), "and only those");
    assert_eq!(w.found(&globex, &query("zanzibar")).await.len(), 2);
    let again = w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await;
    assert_eq!(seen(again).0, "not_found");
}

pub(crate) async fn a_hidden_workspace_can_still_be_removed_for_good(w: World) {
    let acme = w.workspace("acme").await;
    w.remember(&acme, "zanzibar").await;
    w.mnemic.delete_workspace(&w.operator, acme.workspace_id, false).await.unwrap();
    let erasure = w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap();
    assert_eq!(erasure.unwrap().removed["memories"], 1);
    assert!(!w.files_have("zanzibar"));
}

/// Requests that were let in before the deletion go on writing throughout it.
pub(crate) async fn a_hard_delete_outlasts_concurrent_writers(w: World) {
    let acme = w.workspace("acme").await;
    let written = Arc::new(AtomicU64::new(0));
    let deletion = async {
        eventually("some are written", async || written.load(Ordering::Relaxed) >= 20).await;
        w.mnemic.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap().unwrap()
    };
    let writers = at_once(8, |number| {
        let (mnemic, who, written) = (w.mnemic.clone(), acme.clone(), written.clone());
        async move {
            loop {
                let new = text(&format!("zanzibar, as {number} said"));
                if let Err(error) = mnemic.create_memory(&Caller::new(who.clone()), new).await {
                    return error.kind();
                }
                written.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let (erasure, ends) = tokio::join!(deletion, writers);
    assert_eq!(erasure.remaining, 0);
    assert_eq!(erasure.removed["memories"], written.load(Ordering::Relaxed), "every write counts");
    let ends: BTreeSet<_> = ends.iter().map(|kind| format!("{kind:?}")).collect();
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["Conflict"], "writers are told");
    assert!(!w.files_have("zanzibar"));
}

/// Something in every table.
async fn fill(w: &World, who: &Principal) {
    let name = w.mnemic.own_workspace(who).await.unwrap().name;
    let old = NewMemory {
        entities: vec![format!("zanzibar-{name}")],
        ..fact(&format!("zanzibar-{name} is an island"))
    };
    let old = w.create(who, old).await.unwrap();
    let new = format!("zanzibar-{name} is an archipelago");
    w.mnemic.supersede_memory(&Caller::new(who.clone()), old.id, new).await.unwrap();
    let key = keyed(who, "key", "request");
    let kept = w.mnemic.create_memory(&key, text(&format!("zanzibar-{name} is warm"))).await;
    cite(w, who, "run", &[kept.unwrap().id]).await;
}

async fn names(w: &World, who: &Principal) -> Vec<String> {
    let page = w.mnemic.list_workspaces(who, &PageRequest::default()).await.unwrap();
    page.items.into_iter().map(|workspace| workspace.name).collect()
}
