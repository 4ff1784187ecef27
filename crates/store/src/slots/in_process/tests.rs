//! The suite in process, with time that is moved by hand, and the limits that only it has.

use std::time::Duration;

use super::*;
use crate::slots::conformance::{Bench, HOUR, Time, conformance, kept};

struct HandTime(Mutex<Timestamp>);

#[async_trait]
impl Time for HandTime {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    async fn pass(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

fn with_room(bytes_max: usize) -> Bench {
    let start = "2026-03-01T12:00:00Z".parse().unwrap();
    let slots = Arc::new(InProcessSlots::new(bytes_max));
    Bench::new(slots, Arc::new(HandTime(Mutex::new(start))))
}

fn open() -> Bench {
    with_room(BYTES_MAX_DEFAULT)
}

conformance!(open);

async fn refused(bench: &Bench, conversation: &str, name: &str, value: &str) -> Error {
    let (shelf, now) = (bench.shelf(conversation), bench.time.now());
    bench.slots.put(&shelf, kept(name, value, HOUR), now).await.expect_err("no room")
}

#[tokio::test]
async fn a_conversation_has_so_many_slots_and_no_more() {
    let bench = open();
    for number in 0..CONVERSATION_SLOTS_MAX {
        bench.put("c", &format!("slot-{number}"), "1", if number == 0 { 1 } else { HOUR }).await;
    }
    let error = refused(&bench, "c", "one-more", "1").await;
    assert_eq!(error.code(), Code::Conflict);
    assert!(error.to_string().contains("1000"), "{error}");
    bench.put("c", "slot-5", "2", HOUR).await;
    bench.put("other", "one-more", "1", HOUR).await;
    bench.time.pass(Duration::from_secs(2)).await;
    bench.put("c", "one-more", "1", HOUR).await;
}

#[tokio::test]
async fn nothing_live_is_lost_to_make_room() {
    let bench = with_room(10_000);
    let value = "1".repeat(4_000);
    bench.put("c", "a", &value, 10).await;
    bench.put("c", "b", &value, HOUR).await;
    let error = refused(&bench, "c", "c", &value).await;
    assert_eq!(error.code(), Code::SlotsUnavailable);
    assert!(error.to_string().contains("10000 bytes"), "{error}");
    assert!(bench.read("c", "a").await.is_some() && bench.read("c", "b").await.is_some());
    // A replacement needs only what it takes more.
    bench.put("c", "b", &value, HOUR).await;
    bench.time.pass(Duration::from_secs(11)).await;
    bench.put("c", "c", &value, HOUR).await;
    assert!(
        bench
            .slots
            .delete(&bench.shelf("c"), &"b".parse().unwrap(), bench.time.now())
            .await
            .unwrap()
    );
    bench.put("c", "d", &value, HOUR).await;
}

#[tokio::test]
async fn what_has_gone_takes_no_memory() {
    let slots = InProcessSlots::default();
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let bench = open();
    let shelf = bench.shelf("c");
    for number in 0..500 {
        slots.put(&shelf, kept(&format!("slot-{number}"), "1", 1 + number % 3), now).await.unwrap();
        slots.read(&shelf, &format!("slot-{number}").parse().unwrap(), now).await.unwrap();
    }
    slots.sweep(now + Duration::from_secs(2)).await;
    assert_eq!(slots.state.lock().unwrap().slots.len(), 166);
    slots.sweep(now + Duration::from_secs(3)).await;
    let state = slots.state.lock().unwrap();
    assert_eq!((state.slots.len(), state.expiries.len(), state.bytes), (0, 0, 0));
}
