//! What is put, read, replaced and deleted.

use std::sync::Arc;

use mnemic_core::slot::VALUE_BYTES_MAX;
use tokio::task::JoinSet;

use super::{Bench, HOUR, kept};

pub(crate) async fn a_value_comes_back_as_it_was_put(bench: Bench) {
    let long = "x".repeat(128);
    for (name, value) in [
        ("a", "null"),
        ("A", "0"),
        ("-", "\"\""),
        ("_", "{}"),
        ("..a", "[1, 2]"),
        ("0", r#"{"a":{"b":[true,null,1.5e300]}}"#),
        ("1.2-x_y", "\"記憶 👩‍👩‍👧 \\u0000\\n\""),
        (&long, "\"3600 looks like a time\""),
    ] {
        bench.put("c", name, value, HOUR).await;
        assert_eq!(bench.read("c", name).await, Some(kept(name, value, HOUR)), "{name}");
    }
    assert_eq!(bench.names("c").await.len(), 8, "none took the place of another");
}

pub(crate) async fn a_large_value_comes_back_whole(bench: Bench) {
    let value = format!("\"{}\"", "é".repeat(VALUE_BYTES_MAX / 2 - 1));
    bench.put("c", "large", &value, HOUR).await;
    assert_eq!(bench.value("c", "large").await, Some(value));
}

pub(crate) async fn a_put_replaces_the_value_and_its_time(bench: Bench) {
    bench.put("c", "a", "1", 1).await;
    bench.put("c", "a", "22", HOUR).await;
    bench.pass(1_300).await;
    assert_eq!(bench.read("c", "a").await, Some(kept("a", "22", HOUR)));
    bench.put("c", "a", "3", 1).await;
    bench.pass(1_300).await;
    assert_eq!(bench.read("c", "a").await, None);
}

pub(crate) async fn what_was_never_put_is_absent(bench: Bench) {
    assert_eq!(bench.read("c", "a").await, None);
    assert!(!bench.delete("c", "a").await);
    assert_eq!(bench.clear("c").await, 0);
    let listing = bench.list("c", None, super::PLENTY).await;
    assert!(listing.slots.is_empty() && listing.more_after.is_none());
}

pub(crate) async fn a_deleted_slot_is_absent_and_deleted_once(bench: Bench) {
    bench.put("c", "a", "1", HOUR).await;
    bench.put("c", "b", "2", HOUR).await;
    assert!(bench.delete("c", "a").await);
    assert!(!bench.delete("c", "a").await);
    assert_eq!(bench.read("c", "a").await, None);
    assert_eq!(bench.names("c").await, ["b"]);
}

pub(crate) async fn many_writers_at_once_leave_whole_values(bench: Bench) {
    const WRITERS: usize = 16;
    const SHARED: usize = 4;
    let bench = Arc::new(bench);
    let value = |writer: usize| format!("[{writer}]").repeat(1_000);
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let (bench, value) = (Arc::clone(&bench), value(writer));
        tasks.spawn(async move {
            for shared in 0..SHARED {
                bench.put("c", &format!("shared-{shared}"), &value, HOUR).await;
                bench.put("c", &format!("own-{writer}-{shared}"), &value, HOUR).await;
                bench.names("c").await;
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(bench.names("c").await.len(), SHARED * (WRITERS + 1));
    for shared in 0..SHARED {
        let found = bench.value("c", &format!("shared-{shared}")).await.expect("somebody won");
        assert!((0..WRITERS).any(|writer| found == value(writer)), "torn");
    }
    for writer in 0..WRITERS {
        assert_eq!(bench.value("c", &format!("own-{writer}-0")).await, Some(value(writer)));
    }
    assert_eq!(bench.clear("c").await, (SHARED * (WRITERS + 1)) as u64);
}
