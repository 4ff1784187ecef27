//! Tombstones: what was erased does not come back by itself, by whatever way it comes.

use mnemic_core::erasure::{
    Graveyard, Plot, Reach, Revoked, Tombstone, TombstoneKind, adopt_tombstones,
    apply_all_tombstones, apply_tombstones, export_tombstones,
};
use mnemic_core::memory::{Memory, MemoryPatch, NewMemory, Skipped, Wording};
use mnemic_core::node::{NewNode, NodePatch};
use mnemic_core::principal::{AGENT, Caller, Principal};
use mnemic_core::recall::RecallRequest;
use mnemic_core::store::{Change, TombstoneChange};
use mnemic_core::{Code, Kind};

use crate::erasure::user;
use crate::world::{TICK, World, at_once, query, seen, text};

const SONG: &str = "the canary sings at noon";

fn revived(content: &str) -> NewMemory {
    NewMemory { revive: true, ..text(content) }
}

async fn erase(w: &World, content: &str) -> Memory {
    let memory = w.remember(&w.operator, content).await;
    w.mnemic.erase_memory(&w.as_operator(), memory.id).await.unwrap();
    memory
}

pub(crate) async fn an_erased_text_does_not_come_back_by_itself(w: World) {
    erase(&w, SONG).await;
    let caller = w.as_operator();
    let again = "  the canary\nsings at  noon ";
    let (code, detail) = seen(w.create(&w.operator, text(again)).await);
    assert_eq!(code, "erased");
    assert!(detail.contains("2026-03-01T12:00:00Z") && detail.contains("revive"), "{detail}");
    let batch = vec![text("a plain one"), text(SONG)];
    let (code, detail) = seen(w.mnemic.create_memories(&caller, batch).await);
    assert_eq!((code, detail.starts_with("[1].content")), ("erased", true), "{detail}");
    let other = w.remember(&w.operator, "the canary is silent").await;
    let patch = MemoryPatch { content: Some(SONG.to_owned()), ..MemoryPatch::default() };
    assert_eq!(seen(w.mnemic.update_memory(&caller, other.id, &patch).await).0, "erased");
    let superseded = w.mnemic.supersede_memory(&caller, other.id, SONG.to_owned()).await;
    assert_eq!(seen(superseded).0, "erased");
    assert_eq!(w.search(&w.operator, "canary").await.len(), 1, "nothing was made");
    w.remember(&w.operator, "the canary sings at dawn").await;
    let w = w.reopen().await;
    assert_eq!(seen(w.create(&w.operator, text(SONG)).await).0, "erased", "nor after a restart");
}

pub(crate) async fn whoever_may_erase_may_revive(w: World) {
    erase(&w, SONG).await;
    let agent = w.member("default", AGENT).await;
    let (code, detail) = seen(w.create(&agent, revived(SONG)).await);
    assert_eq!((code, detail.starts_with("revive: ")), ("denied", true), "{detail}");
    w.create(&agent, revived("never erased")).await.unwrap();
    w.create(&w.operator, revived(SONG)).await.unwrap();
    w.create(&agent, text(SONG)).await.unwrap();
    assert_eq!(w.search(&w.operator, "canary").await.len(), 2);
    erase(&w, "a second song").await;
    let caller = w.as_operator();
    let other = w.remember(&w.operator, "silence").await;
    let content = Some("a second song".to_owned());
    let patch = MemoryPatch { content, revive: true, ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, other.id, &patch).await.unwrap();
    erase(&w, "a third song").await;
    let words = Wording { content: "a third song".to_owned(), revive: true };
    w.mnemic.supersede_memory(&caller, other.id, words).await.unwrap();
    let twice = vec![revived("a fourth song"), revived("a fourth song")];
    erase(&w, "a fourth song").await;
    assert_eq!(w.mnemic.create_memories(&caller, twice).await.unwrap().len(), 2);
}

pub(crate) async fn an_import_leaves_out_what_was_erased(w: World) {
    let at = w.now();
    erase(&w, SONG).await;
    let node = w.mnemic.upsert_node(&w.as_operator(), &entity("Tweety")).await.unwrap().node;
    w.mnemic.erase_node(&w.as_operator(), node.id).await.unwrap();
    let about = |names: &[&str]| NewMemory {
        entities: names.iter().map(|name| (*name).to_owned()).collect(),
        ..text(&format!("about {}", names.join(" and ")))
    };
    let news = vec![
        text("a plain one"),
        text(SONG),
        about(&["Sylvester", "tweety"]),
        about(&["Sylvester"]),
    ];
    let caller = w.as_operator();
    for _ in 0..2 {
        let imported = w.mnemic.import_memories(&caller, news.clone()).await.unwrap();
        let made: Vec<_> = imported.memories.iter().map(|m| m.content.as_str()).collect();
        assert_eq!(made, ["a plain one", "about Sylvester"]);
        let skipped = [1, 2].map(|index| Skipped { index, erased_at: at });
        assert_eq!(imported.skipped, skipped);
    }
    let none = w.mnemic.import_memories(&caller, vec![text(SONG)]).await.unwrap();
    assert_eq!((none.memories.len(), none.skipped.len()), (0, 1));
    let bad = vec![text(SONG), text("")];
    assert_eq!(seen(w.mnemic.import_memories(&caller, bad).await).0, "invalid_field");
}

fn entity(name: &str) -> NewNode {
    NewNode { node_type: "entity".to_owned(), name: name.to_owned(), ..NewNode::default() }
}

pub(crate) async fn an_erased_node_does_not_come_back_by_any_of_its_names(w: World) {
    let caller = w.as_operator();
    let bird = NewNode { aliases: vec!["Tweety Bird".to_owned()], ..entity("Tweety") };
    let node = w.mnemic.upsert_node(&caller, &bird).await.unwrap().node;
    let receipt = w.mnemic.erase_node(&caller, node.id).await.unwrap();
    assert_eq!(receipt.tombstones, 3, "the record and two names");
    for name in ["Tweety", "tweety  BIRD"] {
        let (code, detail) = seen(w.mnemic.upsert_node(&caller, &entity(name)).await);
        assert_eq!(code, "erased", "{detail}");
    }
    let alias = NewNode { aliases: vec!["Tweety".to_owned()], ..entity("Sylvester") };
    assert_eq!(seen(w.mnemic.upsert_node(&caller, &alias).await).0, "erased");
    let cat = w.mnemic.upsert_node(&caller, &entity("Sylvester")).await.unwrap().node;
    let patch = NodePatch { name: Some("Tweety".to_owned()), ..NodePatch::default() };
    assert_eq!(seen(w.mnemic.update_node(&caller, cat.id, &patch).await).0, "erased");
    let about = NewMemory { entities: vec!["Tweety".to_owned()], ..text("a bird") };
    assert_eq!(seen(w.create(&w.operator, about.clone()).await).0, "erased");
    let place = NewNode { node_type: "place".to_owned(), ..entity("Tweety") };
    w.mnemic.upsert_node(&caller, &place).await.unwrap();
    w.create(&w.operator, NewMemory { revive: true, ..about }).await.unwrap();
    let patch = NodePatch {
        aliases: Some(vec!["Tweety Bird".to_owned()]),
        revive: true,
        ..NodePatch::default()
    };
    w.mnemic.update_node(&caller, cat.id, &patch).await.unwrap();
}

pub(crate) async fn a_tombstone_acts_in_its_workspace_alone(w: World) {
    let other = w.workspace("acme").await;
    let kept = w.remember(&other, SONG).await;
    erase(&w, SONG).await;
    assert_eq!(w.get(&other, kept.id).await, kept, "the same text elsewhere stays");
    w.remember(&other, SONG).await;
    let applied = apply_all_tombstones(w.store(), Reach::Texts).await.unwrap();
    assert!(applied.is_empty(), "{applied:?}");
    assert_eq!(w.search(&other, "canary").await.len(), 2);
}

/// Whatever the order of the two: no text that was erased last is there in the end.
pub(crate) async fn a_text_erased_and_written_at_once_ends_erased_or_written(w: World) {
    for round in 0..10 {
        let song = format!("the canary sings number {round}");
        let memory = w.remember(&w.operator, &song).await;
        let outcomes = at_once(4, |number| {
            let (mnemic, caller, song) = (w.mnemic.clone(), w.as_operator(), song.clone());
            async move {
                match number {
                    0 => mnemic.erase_memory(&caller, memory.id).await.map(|_| None),
                    _ => mnemic.create_memory(&caller, text(&song)).await.map(|m| Some(m.id)),
                }
            }
        })
        .await;
        for outcome in outcomes {
            match outcome {
                Ok(Some(id)) => drop(w.get(&w.operator, id).await),
                Ok(None) => {}
                Err(e) => assert_eq!((e.kind(), e.code()), (Kind::Conflict, Code::Erased), "{e}"),
            }
        }
        assert_eq!(seen(w.create(&w.operator, text(&song)).await).0, "erased");
    }
}

/// A restored row has its old id, whatever it said when the backup was made.
pub(crate) async fn a_restored_backup_loses_what_was_erased_since(w: World) {
    let scope = w.operator.scope();
    let twin = w.remember(&w.operator, SONG).await;
    let backup = w.remember(&w.operator, "an older song").await;
    let caller = w.as_operator();
    let patch = MemoryPatch { content: Some(SONG.to_owned()), ..MemoryPatch::default() };
    w.mnemic.update_memory(&caller, backup.id, &patch).await.unwrap();
    let node = w.mnemic.upsert_node(&caller, &entity("Tweety")).await.unwrap().node;
    w.mnemic.erase_memory(&caller, backup.id).await.unwrap();
    w.mnemic.erase_node(&caller, node.id).await.unwrap();
    let graveyard = export_tombstones(w.store()).await.unwrap();
    let graveyard = serde_json::to_string(&graveyard).unwrap();
    assert!(!graveyard.contains("song"));
    // The backup knows of no erasure: its rows are there and the tombstones are not.
    let stones = w.store().list_tombstones(scope).await.unwrap();
    assert_eq!(stones.len(), 4);
    let mut rows = vec![Change::AddMemory(backup), Change::AddNode(node)];
    let lifted = |s: Tombstone| TombstoneChange::Lift { kind: s.kind, digest: s.digest };
    rows.extend(stones.into_iter().map(lifted).map(Change::Tombstone));
    w.store().commit(scope, rows).await.unwrap();
    assert!(apply_all_tombstones(w.store(), Reach::Records).await.unwrap().is_empty());
    let graveyard: Graveyard = serde_json::from_str(&graveyard).unwrap();
    assert_eq!(adopt_tombstones(w.store(), &graveyard).await.unwrap(), 4);
    let applied = apply_all_tombstones(w.store(), Reach::Records).await.unwrap();
    assert_eq!(applied.len(), 1);
    assert_eq!((applied[0].1["memories"], applied[0].1["nodes"]), (1, 1));
    assert!(!w.files_have("an older song") && !w.files_have("Tweety"));
    w.get(&w.operator, twin.id).await;
    let again = apply_tombstones(w.store(), scope, Reach::Records).await.unwrap();
    assert!(again.is_empty(), "once is enough");
    adopts_into_a_workspace_that_never_erased(&w, &graveyard).await;
}

async fn adopts_into_a_workspace_that_never_erased(w: &World, graveyard: &Graveyard) {
    let other = w.workspace("acme").await;
    let plot = Plot { workspace_id: other.workspace_id, ..graveyard.plots[0].clone() };
    let moved = Graveyard { plots: vec![plot.clone()] };
    assert_eq!(adopt_tombstones(w.store(), &moved).await.unwrap(), 4);
    assert_eq!(seen(w.create(&other, text(SONG)).await).0, "erased");
    let third = w.workspace("globex").await;
    let memory = w.remember(&third, "a song of its own").await;
    w.mnemic.erase_memory(&Caller::new(third.clone()), memory.id).await.unwrap();
    let foreign = Graveyard { plots: vec![Plot { workspace_id: third.workspace_id, ..plot }] };
    assert_eq!(seen(adopt_tombstones(w.store(), &foreign).await).0, "conflict");
}

/// What a user and a conversation leave behind; and the user's secret.
async fn traces(w: &World, content: &str) -> (String, Principal) {
    let (secret, ana) = user(w, "ana-canary", None).await;
    let memory = w.remember(&ana, content).await;
    assert_eq!(memory.created_by, "ana-canary");
    let conversation_id = Some("c-canary".to_owned());
    w.recall(&w.again().await, &RecallRequest { conversation_id, ..query("noon canary") }).await;
    w.mnemic.flush_audit().await;
    w.mnemic.flush_accesses().await;
    (secret, ana)
}

/// What came after an erasure stays, and what is as old as it goes: the same rows are first the
/// one and then, when the erasure is said to have been later, the other.
pub(crate) async fn a_restored_backup_loses_users_and_conversations_erased_since(w: World) {
    let level = serde_json::json!({"audit": {"level": "verbose"}});
    w.mnemic.update_settings(&w.operator, &level).await.unwrap();
    w.remember(&w.operator, "the church bell rings at noon").await;
    traces(&w, SONG).await;
    let (caller, scope) = (w.as_operator(), w.operator.scope());
    w.mnemic.erase_user(&caller, "ana-canary").await.unwrap();
    w.mnemic.erase_conversation(&caller, "c-canary").await.unwrap();
    assert!(!w.files_have("-canary"));
    w.clock.forward(TICK);
    let (secret, _) = traces(&w, "the cuckoo calls at noon").await;
    let mut graveyard = export_tombstones(w.store()).await.unwrap();
    adopt_tombstones(w.store(), &graveyard).await.unwrap();
    let applied = apply_all_tombstones(w.store(), Reach::Texts).await.unwrap();
    // Only that the bell was seen is of an unknown time.
    assert!(applied.iter().all(|(_, counts)| counts.keys().eq(["sightings"])), "{applied:?}");
    w.mnemic.authenticate(&secret).await.unwrap();
    assert_eq!(w.search(&w.operator, "cuckoo").await.len(), 1);
    for stone in &mut graveyard.plots[0].tombstones {
        stone.erased_at = w.now();
    }
    w.clock.forward(TICK);
    let (newer, _) = user(&w, "ana-canary", None).await;
    adopt_tombstones(w.store(), &graveyard).await.unwrap();
    let applied = apply_tombstones(w.store(), scope, Reach::Records).await.unwrap();
    assert_eq!((applied["memories"], applied["tokens"]), (1, 1), "{applied:?}");
    assert!(applied["audit_details"] >= 2, "{applied:?}");
    assert_eq!(seen(w.mnemic.authenticate(&secret).await).0, "unauthenticated");
    assert!(!w.files_have("c-canary") && !w.files_have("noon canary"));
    assert!(!w.files_have("cuckoo"));
    w.mnemic.authenticate(&newer).await.unwrap();
    let again = apply_tombstones(w.store(), scope, Reach::Records).await.unwrap();
    assert!(again.is_empty(), "once is enough: {again:?}");
    let receipt = w.mnemic.erase_user(&caller, "ana-canary").await.unwrap();
    assert_eq!(receipt.counts["tokens"], 1, "the newer one alone still had the name");
}

pub(crate) async fn a_token_that_was_revoked_stays_so(w: World) {
    let (kept, _) = user(&w, "bo", None).await;
    let (early, first) = user(&w, "bo", None).await;
    let (late, second) = user(&w, "bo", None).await;
    assert!(export_tombstones(w.store()).await.unwrap().plots.is_empty());
    w.mnemic.revoke_token(&w.operator, first.token_id).await.unwrap();
    let mut graveyard = export_tombstones(w.store()).await.unwrap();
    let at = w.now();
    let Plot { key, revoked, .. } = &mut graveyard.plots[0];
    assert_eq!(
        (&*key, revoked.as_slice()),
        (&None, &[Revoked { token_id: first.token_id, at }][..])
    );
    w.clock.forward(TICK);
    *revoked = [first.token_id, second.token_id]
        .map(|token_id| Revoked { token_id, at: w.now() })
        .to_vec();
    assert_eq!(adopt_tombstones(w.store(), &graveyard).await.unwrap(), 0);
    for secret in [&early, &late] {
        assert_eq!(seen(w.mnemic.authenticate(secret).await).0, "unauthenticated");
    }
    w.mnemic.authenticate(&kept).await.unwrap();
    adopt_tombstones(w.store(), &Graveyard::default()).await.unwrap();
    let after = export_tombstones(w.store()).await.unwrap();
    let when = |token_id| after.plots[0].revoked.iter().find(|it| it.token_id == token_id);
    assert_eq!(when(first.token_id).unwrap().at, at, "the first time holds");
    assert_eq!(when(second.token_id).unwrap().at, w.now());
}

/// Rows that came in past the rules, under ids of their own.
pub(crate) async fn imported_rows_lose_what_was_erased(w: World) {
    let memory = erase(&w, SONG).await;
    let plain = w.remember(&w.operator, "a plain one").await;
    w.clock.forward(TICK);
    let id = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let row = Change::AddMemory(Memory { id, ..memory });
    let scope = w.operator.scope();
    w.store().commit(scope, vec![row]).await.unwrap();
    assert!(apply_tombstones(w.store(), scope, Reach::Records).await.unwrap().is_empty());
    let applied = apply_tombstones(w.store(), scope, Reach::Texts).await.unwrap();
    assert_eq!(applied["memories"], 1);
    assert!(!w.files_have(SONG));
    assert_eq!(w.search(&w.operator, "plain").await, [plain]);
    let kinds: Vec<_> =
        w.store().list_tombstones(scope).await.unwrap().iter().map(|stone| stone.kind).collect();
    assert_eq!(kinds, [TombstoneKind::Memory, TombstoneKind::Record], "they stay");
}

pub(crate) async fn what_was_erased_is_not_promoted(w: World) {
    let origin = crate::promotion::promoted(&w).await;
    let copy = w.search(&w.operator, "kettle").await;
    let copy = copy.iter().find(|memory| memory.id != origin.id).unwrap();
    w.mnemic.erase_memory(&w.as_operator(), copy.id).await.unwrap();
    w.clock.forward(crate::world::DAY);
    assert_eq!(crate::promotion::promote(&w).await, 0);
    w.get(&w.operator, origin.id).await;
}
