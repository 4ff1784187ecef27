//! Keys to models: kept encrypted, read only with the master key, and gone with their workspace.

use std::sync::Arc;

use mnemic_core::clock::SystemClock;
use mnemic_core::language::ApiKey;
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::secret::MasterKey;
use mnemic_core::slot::SlotSpace;
use mnemic_core::{Mnemic, Parts};
use mnemic_store::slots::InProcessSlots;
use serde_json::json;

use crate::world::{World, seen};

const CANARY: &str = "sk-canary-qzvoxulk-0123456789";

/// A server of the same store that has a master key.
fn server(w: &World, master: &MasterKey) -> Mnemic {
    let slots = SlotSpace::new(InProcessSlots::default());
    Parts::new(w.another_store(), slots, w.slot.clone(), Arc::new(SystemClock))
        .with_master_key(master.clone())
        .into()
}

async fn choose(mnemic: &Mnemic, who: &Principal, provider: &str) {
    let patch = json!({"model": {"provider": provider, "name": "small"}});
    mnemic.update_settings(who, &patch).await.unwrap();
}

pub(crate) async fn a_key_is_kept_encrypted_replaced_and_forgotten(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let master = MasterKey::generate().unwrap();
    let mnemic = server(&w, &master);
    let caller = Caller::new(acme.clone());
    choose(&mnemic, &acme, "anthropic").await;
    for key in ["sk-first", CANARY] {
        mnemic.set_model_key(&caller, &ApiKey::new(key)).await.unwrap();
    }
    let view = mnemic.get_model(&acme).await.unwrap();
    assert!(view.key_set && view.problem.is_none(), "{view:?}");
    assert!(!mnemic.get_model(&globex).await.unwrap().key_set, "it is the workspace's own");
    assert!(!w.files_have("qzvoxulk"), "the key is in no file");
    assert!(w.files_have("anthropic https://api.anthropic.com"), "but whom it is for");
    choose(&mnemic, &acme, "openai").await;
    let moved = mnemic.get_model(&acme).await.unwrap();
    assert!(moved.problem.unwrap().contains("another address"));
    mnemic.delete_model_key(&caller).await.unwrap();
    assert_eq!(seen(mnemic.delete_model_key(&caller).await).0, "not_found");
    assert!(!mnemic.get_model(&acme).await.unwrap().key_set);
}

pub(crate) async fn a_key_needs_the_master_key_it_was_kept_with(w: World) {
    let caller = Caller::new(w.operator.clone());
    choose(&w.mnemic, &w.operator, "openai").await;
    let refused = w.mnemic.set_model_key(&caller, &ApiKey::new(CANARY)).await.unwrap_err();
    assert!(refused.to_string().contains("MNEMIC_SECRET_KEY"), "{refused}");
    let first = server(&w, &MasterKey::generate().unwrap());
    first.set_model_key(&caller, &ApiKey::new(CANARY)).await.unwrap();
    for other in [&*w.mnemic, &server(&w, &MasterKey::generate().unwrap())] {
        let view = other.get_model(&w.operator).await.unwrap();
        let problem = view.problem.unwrap();
        assert!(view.key_set && problem.contains("MNEMIC_SECRET_KEY"), "{problem}");
        w.remember(&w.operator, "all else works").await;
    }
    assert!(first.get_model(&w.operator).await.unwrap().problem.is_none());
    let acme = w.workspace("acme").await;
    choose(&first, &acme, "openai").await;
    first.set_model_key(&Caller::new(acme.clone()), &ApiKey::new(CANARY)).await.unwrap();
    let erasure = first.delete_workspace(&w.operator, acme.workspace_id, true).await.unwrap();
    assert_eq!(erasure.unwrap().removed["secrets"], 1);
}
