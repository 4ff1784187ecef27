//! What happens when time goes by. The times leave room for a machine that is late.

use super::{Bench, HOUR};

pub(crate) async fn an_expired_slot_is_absent_to_everybody(bench: Bench) {
    for name in ["a", "b", "c"] {
        bench.put("c", name, "1", 1).await;
    }
    bench.put("c", "d", "1", HOUR).await;
    bench.pass(1_300).await;
    assert_eq!(bench.read("c", "a").await, None);
    assert!(!bench.delete("c", "b").await);
    assert_eq!(bench.names("c").await, ["d"]);
    assert_eq!(bench.clear("c").await, 1, "what has expired is not counted");
}

pub(crate) async fn a_read_lets_its_time_begin_anew(bench: Bench) {
    bench.put("c", "read", "1", 3).await;
    bench.put("c", "unread", "1", 3).await;
    for _ in 0..2 {
        bench.pass(1_800).await;
        assert!(bench.read("c", "read").await.is_some(), "it was read in time");
    }
    assert_eq!(bench.read("c", "unread").await, None);
    bench.pass(3_300).await;
    assert_eq!(bench.read("c", "read").await, None, "it was read too late");
}

pub(crate) async fn a_listing_lets_the_time_of_what_it_shows_begin_anew(bench: Bench) {
    for name in ["a", "b", "c"] {
        bench.put("c", name, "1", 3).await;
    }
    let first_two = super::Portion { slots_max: 2, bytes_max: usize::MAX };
    for _ in 0..2 {
        bench.pass(1_800).await;
        bench.list("c", None, first_two).await;
    }
    assert_eq!(bench.names("c").await, ["a", "b"], "the third was not shown");
}

pub(crate) async fn each_slot_has_a_time_of_its_own(bench: Bench) {
    bench.put("c", "short", "1", 1).await;
    bench.put("c", "long", "1", 4).await;
    bench.pass(1_300).await;
    assert_eq!(bench.read("c", "short").await, None);
    assert!(bench.read("c", "long").await.is_some());
    bench.pass(3_000).await;
    assert!(bench.read("c", "long").await.is_some(), "read by its own time, not another's");
}
