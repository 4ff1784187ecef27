//! Many callers at once.

use mnemic_core::Code;
use tokio::task::JoinSet;

use super::*;

const WRITERS: u128 = 64;

pub(crate) async fn failing_neighbours_do_not_harm(engine: Arc<dyn Engine>) {
    let mut tasks = JoinSet::new();
    for number in 0..WRITERS {
        let engine = engine.clone();
        tasks.spawn(async move {
            let (good, bad) = (number * 2, number * 2 + 1);
            engine.write(ONE, add(good, &format!("good {number}")).into()).await.unwrap();
            let again = batch([add(bad, &format!("bad {number}")), add(good, "taken")]);
            let refused = engine.write(ONE, again).await.unwrap_err();
            assert_eq!(refused.code(), Code::Conflict);
            assert!(get(&engine, good).await.is_some(), "a reader sees what was answered");
            assert!(get(&engine, bad).await.is_none());
        });
    }
    tasks.join_all().await;
    let names = names(&engine, ONE).await;
    assert_eq!(names.len() as u128, WRITERS);
    assert!(names.iter().all(|name| name.starts_with("good")));
}

static CLAIM: Statement = Statement::workspace(
    "sample.claim",
    "UPDATE samples SET rank = rank + 1 WHERE workspace_id = $1 AND id = $2 AND rank = $3",
);

pub(crate) async fn one_of_many_wins_a_race(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "claimed").into()).await.unwrap();
    let mut tasks = JoinSet::new();
    for number in 0..WRITERS {
        let engine = engine.clone();
        tasks.spawn(async move {
            let claim = Step::new(&CLAIM, values![id(1), 0_i64]).expect(Expect::Rows(1));
            let note = add(100 + number, &number.to_string());
            engine.write(ONE, batch([note, claim])).await.is_ok()
        });
    }
    let won = tasks.join_all().await.into_iter().filter(|won| *won).count();
    assert_eq!(won, 1);
    assert_eq!(get(&engine, 1).await.unwrap().int("rank").unwrap(), 1);
    assert_eq!(names(&engine, ONE).await.len(), 2, "the losers left nothing behind");
}

pub(crate) async fn a_read_sees_one_state(engine: Arc<dyn Engine>) {
    engine.write(ONE, batch([add(1, "a"), add(2, "b")])).await.unwrap();
    let writer = tokio::spawn({
        let engine = engine.clone();
        async move {
            for rank in 1..100_i64 {
                let set = |number| Step::new(&RANK, values![id(number), rank]);
                engine.write(ONE, batch([set(1), set(2)])).await.unwrap();
            }
        }
    });
    while !writer.is_finished() {
        let wanted = [1, 2].repeat(10).into_iter().map(|number| values![id(number)]).collect();
        let each = engine.read_each(ONE, &GET, wanted).await.unwrap();
        let ranks: Vec<_> = each.iter().map(|rows| rows[0].int("rank").unwrap()).collect();
        assert!(ranks.iter().all(|rank| *rank == ranks[0]), "{ranks:?}");
    }
    writer.await.unwrap();
}
