//! What belongs together, what is kept apart, and lists.

use super::{Bench, HOUR, PLENTY, Portion, names};

pub(crate) async fn workspaces_do_not_see_each_other(bench: Bench) {
    let other = bench.next_door();
    bench.put("c", "a", "1", HOUR).await;
    other.put("c", "b", "2", HOUR).await;
    assert_eq!(other.read("c", "a").await, None);
    assert!(!other.delete("c", "a").await);
    assert_eq!(other.names("c").await, ["b"]);
    assert_eq!(other.clear("c").await, 1);
    assert_eq!(bench.names("c").await, ["a"]);
}

pub(crate) async fn conversations_do_not_see_each_other(bench: Bench) {
    for conversation in ["a", "ab", "a.b", "a-", "A"] {
        bench.put(conversation, "x", "1", HOUR).await;
    }
    bench.put("a", "b", "1", HOUR).await;
    assert_eq!(bench.names("a").await, ["b", "x"]);
    assert_eq!(bench.clear("a").await, 2);
    for conversation in ["ab", "a.b", "a-", "A"] {
        assert_eq!(bench.names(conversation).await, ["x"], "{conversation}");
    }
}

pub(crate) async fn clearing_counts_what_it_removes(bench: Bench) {
    for number in 0..300 {
        bench.put("c", &format!("slot-{number}"), "1", HOUR).await;
    }
    assert_eq!(bench.clear("c").await, 300);
    assert_eq!(bench.clear("c").await, 0);
    bench.put("c", "a", "1", HOUR).await;
    assert_eq!(bench.names("c").await, ["a"], "a cleared conversation goes on");
}

pub(crate) async fn erasing_removes_a_workspace_and_nothing_else(bench: Bench) {
    let other = bench.next_door();
    for conversation in ["a", "b", "c"] {
        bench.put(conversation, "x", "1", HOUR).await;
        other.put(conversation, "x", "1", HOUR).await;
    }
    let scope = bench.shelf("a").scope;
    assert_eq!(bench.slots.erase(scope, bench.now()).await.expect("it is erased"), 3);
    assert_eq!(bench.slots.erase(scope, bench.now()).await.expect("it is erased"), 0);
    for conversation in ["a", "b", "c"] {
        assert_eq!(bench.read(conversation, "x").await, None);
        assert!(other.read(conversation, "x").await.is_some());
    }
}

pub(crate) async fn a_list_goes_by_name_page_by_page(bench: Bench) {
    let mut expected: Vec<_> = (0..25).map(|number| format!("slot-{}", number * 7)).collect();
    for name in &expected {
        bench.put("c", name, "1", HOUR).await;
    }
    expected.sort();
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    for page in 0.. {
        assert!(page < 4, "it ends");
        let portion = Portion { slots_max: 10, ..PLENTY };
        let listing = bench.list("c", after.as_deref(), portion).await;
        found.extend(names(&listing));
        let Some(next) = listing.more_after else { break };
        // What goes meanwhile does not make others be passed over.
        assert!(bench.delete("c", next.as_str()).await);
        after = Some(next.to_string());
    }
    assert_eq!(found, expected);
    let whole = bench.list("c", None, Portion { slots_max: 23, ..PLENTY }).await;
    assert_eq!((whole.slots.len(), whole.more_after), (23, None), "the last page says so");
}

pub(crate) async fn a_page_has_so_many_bytes_and_at_least_one_slot(bench: Bench) {
    let value = format!("\"{}\"", "x".repeat(998));
    for name in ["a", "b", "c", "d"] {
        bench.put("c", name, &value, HOUR).await;
    }
    let of = |bytes_max| Portion { slots_max: 100, bytes_max };
    let listing = bench.list("c", None, of(2_500)).await;
    assert_eq!(names(&listing), ["a", "b"]);
    assert_eq!(listing.more_after.as_ref().map(ToString::to_string).as_deref(), Some("b"));
    let listing = bench.list("c", Some("b"), of(10)).await;
    assert_eq!(names(&listing), ["c"], "or it would never end");
    let listing = bench.list("c", Some("b"), of(2_000)).await;
    assert_eq!((names(&listing).len(), listing.more_after), (2, None));
}
