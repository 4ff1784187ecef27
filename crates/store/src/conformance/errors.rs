//! Errors: conflicts, scopes, and refusals before the database is touched.

use mnemic_core::{Code, Kind};

use super::*;
use crate::CheckDepth;

pub(crate) async fn a_taken_key_is_a_conflict(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "a").into()).await.unwrap();
    for taken in [add(1, "b"), add(2, "a")] {
        let refused = engine.write(ONE, batch([add(3, "c"), taken])).await.unwrap_err();
        assert_eq!(refused.code(), Code::Conflict);
    }
    assert_eq!(names(&engine, ONE).await, ["a"]);
}

pub(crate) async fn a_missing_parent_is_a_conflict(engine: Arc<dyn Engine>) {
    engine.write(TWO, add(1, "of another workspace").into()).await.unwrap();
    let orphan = Step::new(&ADD_PART, values![id(1), id(1)]);
    let refused = engine.write(ONE, orphan.into()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
}

pub(crate) async fn workspaces_do_not_see_each_other(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "a").into()).await.unwrap();
    engine.write(TWO, batch([add(1, "a"), add(2, "b")])).await.unwrap();
    let deleted = Step::new(&DELETE, values![id(2)]).expect(Expect::Rows(1));
    assert!(engine.write(ONE, deleted.into()).await.is_err());
    assert_eq!(names(&engine, ONE).await, ["a"]);
    assert_eq!(names(&engine, TWO).await, ["a", "b"]);
    let all = engine.read(Scope::System, &ALL, values![0_i64]).await.unwrap();
    assert_eq!(all.len(), 3);
}

pub(crate) async fn a_statement_in_the_wrong_scope_is_refused(engine: Arc<dyn Engine>) {
    let refusals = [
        engine.read(Scope::System, &NAMES, vec![]).await.map(drop),
        engine.read(ONE, &ALL, values![0_i64]).await.map(drop),
        engine.read_each(ONE, &ALL, vec![values![0_i64]]).await.map(drop),
        engine.write(Scope::System, add(1, "a").into()).await.map(drop),
        engine.write(ONE, batch([add(1, "a"), Step::new(&ALL, values![0_i64])])).await.map(drop),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap_err().code(), Code::Internal);
    }
    assert!(names(&engine, ONE).await.is_empty());
}

pub(crate) async fn nul_in_text_is_refused(engine: Arc<dyn Engine>) {
    let refused = engine.write(ONE, batch([add(1, "a"), add(2, "b\0")])).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidField);
    assert!(names(&engine, ONE).await.is_empty());
}

pub(crate) async fn wrong_parameters_are_our_fault(engine: Arc<dyn Engine>) {
    for params in [values![], values![id(1), id(2)]] {
        let refused = engine.read(ONE, &GET, params).await.unwrap_err();
        assert_eq!(refused.code(), Code::Internal);
    }
    let refused = engine.write(ONE, Step::new(&RANK, values![id(1)]).into()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
}

pub(crate) async fn a_read_must_not_write(engine: Arc<dyn Engine>) {
    let refused = engine.read(ONE, &ADD_NAME, values![id(1), "a"]).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    assert!(names(&engine, ONE).await.is_empty());
}

pub(crate) async fn a_sound_database_has_no_findings(engine: Arc<dyn Engine>) {
    engine.write(ONE, batch([add(1, "a"), add(2, "b")])).await.unwrap();
    for depth in [CheckDepth::Quick, CheckDepth::Full] {
        assert_eq!(engine.check(depth).await.unwrap(), []);
    }
    engine.scrub().await.unwrap();
    assert!(engine.size_bytes().await.unwrap() > 0);
}

pub(crate) async fn a_closed_engine_is_unavailable(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "a").into()).await.unwrap();
    engine.close().await;
    engine.close().await;
    let read = engine.read(ONE, &NAMES, vec![]).await.unwrap_err();
    let write = engine.write(ONE, add(2, "b").into()).await.unwrap_err();
    assert_eq!((read.kind(), write.kind()), (Kind::Unavailable, Kind::Unavailable));
}
