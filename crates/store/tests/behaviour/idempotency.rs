//! Idempotency: one key, one effect, one answer.

use mnemic_core::Code;
use mnemic_core::memory::{MemoryFilter, MemoryPatch, NewMemory, Purge};
use mnemic_core::principal::Caller;
use mnemic_store::{Statement, values};

use crate::world::{DAY, World, at_once, keyed, seen, text};

static ANSWERS: Statement = Statement::workspace(
    "test.answers",
    "SELECT count(*) AS rows FROM answers WHERE workspace_id = $1 AND key = $2",
);

pub(crate) async fn a_repetition_gets_the_first_answer_and_has_no_effect(w: World) {
    let key = keyed(&w.operator, "k1", "create");
    let first = w.mnemic.create_memory(&key, text("once")).await.unwrap();
    w.clock.forward(DAY / 2);
    let patch = MemoryPatch { topic: Some(Some("later".to_owned())), ..MemoryPatch::default() };
    w.mnemic.update_memory(&w.as_operator(), first.id, &patch).await.unwrap();
    let again = w.mnemic.create_memory(&key, text("once")).await.unwrap();
    assert_eq!(again, first, "the first answer, word for word");
    let w = w.reopen().await;
    assert_eq!(w.mnemic.create_memory(&key, text("once")).await.unwrap(), first);
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await.len(), 1);
}

pub(crate) async fn every_kind_of_write_honours_its_key(w: World) {
    let who = w.operator.clone();
    let key = |name: &str| keyed(&who, name, name);
    let m = &w.mnemic;
    let many = || vec![text("a"), text("b")];
    let made = m.create_memories(&key("many"), many()).await.unwrap();
    assert_eq!(m.create_memories(&key("many"), many()).await.unwrap(), made);
    let (a, b) = (made[0].id, made[1].id);
    let weighed = m.weight_memory(&key("weight"), a, 0.5).await.unwrap();
    assert_eq!(m.weight_memory(&key("weight"), a, 0.5).await.unwrap(), weighed);
    assert!((w.get(&who, a).await.weight - 1.5).abs() < 1e-9, "moved once");
    let said = format!("[mem:{a}]");
    let counted = m.finish_run(&key("run"), "run", &said, None).await.unwrap();
    assert_eq!(m.finish_run(&key("run"), "run", &said, None).await.unwrap(), counted);
    assert_eq!(counted.counted, [a], "the repetition does not say that it was counted before");
    let new = m.supersede_memory(&key("over"), a, "a2".to_owned()).await.unwrap();
    let again = m.supersede_memory(&key("over"), a, "a2".to_owned()).await.unwrap();
    assert_eq!(again.id, new.id);
    m.forget_memory(&key("forget"), b).await.unwrap();
    m.forget_memory(&key("forget"), b).await.unwrap();
    m.restore_memory(&key("restore"), b).await.unwrap();
    m.forget_memory(&key("forget"), b).await.unwrap();
    assert!(w.get(&who, b).await.is_live(), "a repeated deletion does not undo the restoration");
    m.erase_memory(&key("erase"), b).await.unwrap();
    m.erase_memory(&key("erase"), b).await.unwrap();
    w.clock.forward(DAY * 91);
    let purged = m.purge_memories(&key("purge"), &Purge::default()).await.unwrap();
    assert_eq!(purged.ids, [new.id]);
    let again = m.purge_memories(&key("purge"), &Purge::default()).await.unwrap();
    assert_eq!(again, purged);
    let made = m.create_workspace(&key("workspace"), "acme").await.unwrap();
    assert_eq!(m.create_workspace(&key("workspace"), "acme").await.unwrap(), made);
}

pub(crate) async fn one_key_at_sixteen_hands_has_one_effect(w: World) {
    let outcomes = at_once(16, |_| {
        let (mnemic, key) = (w.mnemic.clone(), keyed(&w.operator, "k1", "create"));
        async move { mnemic.create_memory(&key, text("once")).await.unwrap() }
    })
    .await;
    assert!(outcomes.iter().all(|memory| *memory == outcomes[0]), "one answer for all");
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await.len(), 1);
}

pub(crate) async fn a_key_holds_across_servers(w: World) {
    let (other, _) = w.another_server();
    for round in 0..10 {
        let servers = [w.mnemic.clone(), other.clone()];
        let operator = w.operator.clone();
        let made = at_once(8, |number| {
            let (mnemic, operator) = (servers[number % 2].clone(), operator.clone());
            async move {
                let caller = keyed(&operator, &format!("k{round}"), "create");
                mnemic.create_memory(&caller, text("once")).await.unwrap().id
            }
        })
        .await;
        assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
        let stored = w.list(&w.operator, &MemoryFilter::default()).await;
        assert_eq!(stored.len(), round + 1);
    }
}

pub(crate) async fn a_key_is_good_for_one_request_only(w: World) {
    w.mnemic.create_memory(&keyed(&w.operator, "k1", "one"), text("one")).await.unwrap();
    let other = keyed(&w.operator, "k1", "two");
    let error = w.mnemic.create_memory(&other, text("two")).await.unwrap_err();
    assert_eq!(error.code(), Code::KeyReused);
    assert_eq!(w.list(&w.operator, &MemoryFilter::default()).await.len(), 1);
}

pub(crate) async fn a_refused_request_leaves_its_key_free(w: World) {
    let key = keyed(&w.operator, "k1", "create");
    let missing = mnemic_core::ids::MemoryId(uuid::Uuid::now_v7());
    let over = NewMemory { supersedes: Some(missing), ..text("x") };
    assert_eq!(seen(w.mnemic.create_memory(&key, over).await).0, "not_found");
    w.mnemic.create_memory(&key, text("x")).await.unwrap();
}

pub(crate) async fn keys_of_two_workspaces_do_not_meet(w: World) {
    let (acme, globex) = (w.workspace("acme").await, w.workspace("globex").await);
    let a = w.mnemic.create_memory(&keyed(&acme, "k1", "a"), text("a")).await.unwrap();
    let b = w.mnemic.create_memory(&keyed(&globex, "k1", "b"), text("b")).await.unwrap();
    assert_ne!(a.id, b.id);
    let again = w.mnemic.create_memory(&keyed(&acme, "k1", "a"), text("a")).await.unwrap();
    assert_eq!(again.id, a.id);
}

pub(crate) async fn an_answer_is_kept_for_a_day(w: World) {
    let key = keyed(&w.operator, "k1", "create");
    let first = w.mnemic.create_memory(&key, text("daily")).await.unwrap();
    w.clock.forward(DAY);
    w.mnemic.run_job(&w.operator, "cleanup", false).await.unwrap();
    assert_eq!(w.mnemic.create_memory(&key, text("daily")).await.unwrap().id, first.id);
    w.clock.forward(crate::world::TICK);
    w.mnemic.run_job(&w.operator, "cleanup", false).await.unwrap();
    assert_ne!(w.mnemic.create_memory(&key, text("daily")).await.unwrap().id, first.id);
}

pub(crate) async fn a_key_out_of_bounds_is_refused(w: World) {
    for key in [String::new(), "x".repeat(256)] {
        let caller: Caller = keyed(&w.operator, &key, "create");
        let outcome = w.mnemic.create_memory(&caller, text("x")).await;
        assert_eq!(seen(outcome).0, "invalid_field");
        assert_eq!(w.count_of(&w.operator, &ANSWERS, values![key.as_str()]).await, 0);
    }
}
