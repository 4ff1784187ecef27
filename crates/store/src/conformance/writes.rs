//! Batches: all or nothing, expectations, and what they return.

use mnemic_core::Code;

use super::*;

pub(crate) async fn an_unmet_expectation_undoes_the_whole_batch(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "kept").into()).await.unwrap();
    let steps = [
        add(2, "undone"),
        Step::new(&RANK, values![id(1), 7_i64]).expect(Expect::Rows(1)),
        Step::new(&DELETE, values![id(99)]).expect(Expect::Rows(1)),
    ];
    let refused = engine.write(ONE, batch(steps)).await.unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert_eq!(names(&engine, ONE).await, ["kept"]);
    assert_eq!(get(&engine, 1).await.unwrap().int("rank").unwrap(), 0);
    // What failed left nothing in the way of doing it right.
    engine.write(ONE, add(2, "undone").into()).await.unwrap();
}

pub(crate) async fn an_unmet_expectation_gives_the_error_it_was_given(engine: Arc<dyn Engine>) {
    let step = Step::new(&DELETE, values![id(1)])
        .expect(Expect::Rows(1))
        .otherwise(Code::NotFound, "no such sample");
    let refused = engine.write(ONE, step.into()).await.unwrap_err();
    assert_eq!((refused.code(), refused.to_string().as_str()), (Code::NotFound, "no such sample"));
}

pub(crate) async fn expectations_count_rows_returned_or_changed(engine: Arc<dyn Engine>) {
    engine.write(ONE, batch([add(1, "a"), add(2, "b")])).await.unwrap();
    for (expect, met) in [
        (Expect::Any, true),
        (Expect::Rows(2), true),
        (Expect::Rows(1), false),
        (Expect::AtLeast(2), true),
        (Expect::AtLeast(3), false),
    ] {
        let returned = Step::new(&NAMES, vec![]).expect(expect);
        assert_eq!(engine.write(ONE, returned.into()).await.is_ok(), met, "{expect:?}");
    }
    let changed = Step::new(&RANK, values![id(1), 3_i64]).expect(Expect::AtLeast(1));
    engine.write(ONE, changed.into()).await.unwrap();
    let unchanged = Step::new(&RANK, values![id(9), 3_i64]).expect(Expect::Rows(0));
    engine.write(ONE, unchanged.into()).await.unwrap();
}

pub(crate) async fn a_row_whose_key_is_taken_is_judged_and_undoes_its_batch(
    engine: Arc<dyn Engine>,
) {
    let new = |number, name: &str| {
        Step::new(&ADD_NEW, values![id(number), name]).otherwise(Code::Stale, "it came meanwhile")
    };
    engine.write(ONE, batch([new(1, "a"), new(2, "b")])).await.unwrap();
    // Alone, and in a batch that has more to judge.
    let judged = Step::new(&RANK, values![id(1), 3_i64]).expect(Expect::Rows(1));
    for steps in
        [vec![new(3, "c"), new(2, "d"), new(4, "e")], vec![new(3, "c"), new(2, "d"), judged]]
    {
        let refused = engine.write(ONE, batch(steps)).await.unwrap_err();
        assert_eq!(
            (refused.code(), refused.to_string().as_str()),
            (Code::Stale, "it came meanwhile")
        );
        assert_eq!(names(&engine, ONE).await, ["a", "b"]);
    }
    engine.write(ONE, batch([new(3, "c")])).await.unwrap();
}

pub(crate) async fn what_is_required_and_not_there_undoes_its_batch(engine: Arc<dyn Engine>) {
    let require =
        |number| Step::new(&REQUIRE, values![id(number)]).otherwise(Code::Stale, "it has gone");
    engine.write(ONE, add(1, "a").into()).await.unwrap();
    // Alone, and in a batch that has more to judge.
    let judged = || Step::new(&RANK, values![id(1), 3_i64]).expect(Expect::Rows(1));
    let new = || Step::new(&ADD_NEW, values![id(2), "b"]);
    for steps in [vec![require(7), new()], vec![new(), require(7)], vec![require(7), judged()]] {
        let refused = engine.write(ONE, batch(steps)).await.unwrap_err();
        assert_eq!((refused.code(), refused.to_string().as_str()), (Code::Stale, "it has gone"));
        assert_eq!(names(&engine, ONE).await, ["a"]);
    }
    let refused = engine.write(TWO, require(1).into()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Stale, "it is another workspace's");
    engine.write(ONE, batch([require(1), new(), judged()])).await.unwrap();
    assert_eq!(names(&engine, ONE).await, ["b", "a"]);
}

pub(crate) async fn each_step_returns_its_rows(engine: Arc<dyn Engine>) {
    let nulls = || vec![Value::Null; 7];
    let steps = [
        Step::new(&ADD, [values![id(1), "a"], nulls()].concat()),
        add(2, "b"),
        Step::new(&NAMES, vec![]),
        Step::new(&ADD, [values![id(3), "c"], nulls()].concat()),
    ];
    let rows = engine.write(ONE, batch(steps)).await.unwrap();
    let counts: Vec<_> = rows.iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 0, 2, 1]);
    assert_eq!(rows[0][0].uuid("id").unwrap(), id(1));
    assert_eq!(rows[2][0].text("name").unwrap(), "b");
    assert_eq!(rows[3][0].text(1).unwrap(), "c");
}

pub(crate) async fn nothing_asked_is_nothing_done(engine: Arc<dyn Engine>) {
    assert!(engine.write(ONE, Batch::new()).await.unwrap().is_empty());
    assert!(engine.read_each(ONE, &GET, vec![]).await.unwrap().is_empty());
    assert!(engine.read(ONE, &NAMES, vec![]).await.unwrap().is_empty());
    let each = engine.read_each(ONE, &GET, vec![values![id(1)], values![id(2)]]).await.unwrap();
    assert_eq!(each.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0]);
}

pub(crate) async fn what_was_written_is_read(engine: Arc<dyn Engine>) {
    for number in 0..50 {
        engine.write(ONE, add(number, &number.to_string()).into()).await.unwrap();
        assert!(get(&engine, number).await.is_some(), "{number}");
    }
    let wanted = [7, 99, 3].map(|number| values![id(number)]).to_vec();
    let each = engine.read_each(ONE, &GET, wanted).await.unwrap();
    assert_eq!(each[0][0].text("name").unwrap(), "7");
    assert!(each[1].is_empty());
    assert_eq!(each[2][0].text("name").unwrap(), "3");
}

pub(crate) async fn deleting_a_parent_deletes_its_children(engine: Arc<dyn Engine>) {
    let part = |number: u128| Step::new(&ADD_PART, values![id(number), id(1)]);
    engine.write(ONE, batch([add(1, "a"), part(1), part(2)])).await.unwrap();
    let deleted = Step::new(&DELETE, values![id(1)]).expect(Expect::Rows(1));
    engine.write(ONE, deleted.into()).await.unwrap();
    let rows = engine.read(ONE, &PARTS, vec![]).await.unwrap();
    assert_eq!(rows[0].int("parts").unwrap(), 0);
}
