//! Values: each type there and back, precision, NULL, order and case.

use jiff::Timestamp;
use serde_json::json;

use super::*;

pub(crate) async fn every_type_comes_back(engine: Arc<dyn Engine>) {
    let at: Timestamp = "2026-02-28T23:59:59.123456Z".parse().unwrap();
    let data = json!({"a": [1, 2.5, null, true, "ü"], "b": {"c": "'\"\\"}, "big": i64::MAX});
    let raw: Vec<u8> = (0..=255).collect();
    let vector = vec![0.0_f32, -1.5, f32::MIN_POSITIVE, f32::MAX];
    let params = values![
        id(u128::MAX),
        "naïve 日本 🦀 'quoted' \"too\" %_\\",
        i64::MIN,
        0.1_f64 + 0.2,
        true,
        at,
        data.clone(),
        raw.clone(),
        vector.clone(),
    ];
    engine.write(ONE, Step::new(&ADD, params).into()).await.unwrap();
    let row = get(&engine, u128::MAX).await.unwrap();
    assert_eq!(row.uuid("id").unwrap(), id(u128::MAX));
    assert_eq!(row.text("name").unwrap(), "naïve 日本 🦀 'quoted' \"too\" %_\\");
    assert_eq!(row.int("rank").unwrap(), i64::MIN);
    assert_eq!(row.float("score").unwrap().to_bits(), (0.1_f64 + 0.2).to_bits());
    assert!(row.bool("done").unwrap());
    assert_eq!(row.time("at").unwrap(), at);
    assert_eq!(row.json("data").unwrap(), data);
    assert_eq!(row.bytes("raw").unwrap(), raw);
    assert_eq!(row.vector("vec").unwrap(), vector);
    assert_eq!(row.string(1).unwrap(), row.text(1).unwrap());
}

pub(crate) async fn nulls_come_back_as_nulls(engine: Arc<dyn Engine>) {
    let params = [values![id(1), ""], vec![Value::Null; 7]].concat();
    engine.write(ONE, Step::new(&ADD, params).into()).await.unwrap();
    let row = get(&engine, 1).await.unwrap();
    assert_eq!(row.text("name").unwrap(), "", "an empty text is not NULL");
    assert_eq!(row.opt_int("rank").unwrap(), None);
    assert_eq!(row.opt_float("score").unwrap(), None);
    assert_eq!(row.opt_bool("done").unwrap(), None);
    assert_eq!(row.opt_time("at").unwrap(), None);
    assert_eq!(row.opt_json("data").unwrap(), None);
    assert_eq!(row.opt_bytes("raw").unwrap(), None);
    assert_eq!(row.opt_vector("vec").unwrap(), None);
    assert!(row.int("rank").is_err());
}

pub(crate) async fn times_are_kept_to_the_microsecond(engine: Arc<dyn Engine>) {
    for (number, nanoseconds, kept) in [
        (1, 1_700_000_000_123_456_789_i128, 1_700_000_000_123_456_i64),
        (2, 999, 0),
        (3, -1, -1),
        (4, -1_500, -2),
    ] {
        let at = Timestamp::from_nanosecond(nanoseconds).unwrap();
        let mut params = [values![id(number), number.to_string()], vec![Value::Null; 7]].concat();
        params[5] = at.into();
        engine.write(ONE, Step::new(&ADD, params).into()).await.unwrap();
        let read = get(&engine, number).await.unwrap().time("at").unwrap();
        assert_eq!(read, Timestamp::from_microsecond(kept).unwrap(), "{nanoseconds}");
    }
}

pub(crate) async fn nulls_and_ties_have_a_stated_order(engine: Arc<dyn Engine>) {
    let ranks = [("d", None), ("b", Some(2_i64)), ("a", Some(2)), ("c", None), ("z", Some(1))];
    for ((name, rank), number) in ranks.into_iter().zip(1..) {
        let set = Step::new(&RANK, values![id(number), rank]);
        engine.write(ONE, batch([add(number, name), set])).await.unwrap();
    }
    assert_eq!(names(&engine, ONE).await, ["z", "a", "b", "c", "d"]);
}

pub(crate) async fn text_compares_with_case(engine: Arc<dyn Engine>) {
    let different = [add(1, "note"), add(2, "Note"), add(3, "É"), add(4, "é"), add(5, "_")];
    engine.write(ONE, batch(different)).await.unwrap();
    assert_eq!(names(&engine, ONE).await, ["Note", "_", "note", "É", "é"]);
}

static TWICE: Statement = Statement::workspace(
    "sample.twice",
    "SELECT name FROM samples
     WHERE name = $3 AND rank = $2 AND workspace_id = $1 AND name = $3 AND workspace_id = $1",
);

pub(crate) async fn the_same_parameter_may_appear_twice_and_in_any_order(engine: Arc<dyn Engine>) {
    engine.write(ONE, add(1, "a").into()).await.unwrap();
    assert_eq!(engine.read(ONE, &TWICE, values![0_i64, "a"]).await.unwrap().len(), 1);
    assert_eq!(engine.read(ONE, &TWICE, values![1_i64, "a"]).await.unwrap().len(), 0);
}
