//! The suite in process, with time that is moved by hand, and the limits that only it has.

use std::time::Duration;

use mnemic_core::slot::Portion;
use proptest::prelude::*;

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

/// What can happen to slots, in any order.
#[derive(Debug, Clone)]
enum Event {
    Put { name: usize, seconds: u32 },
    Read { name: usize },
    List,
    Delete { name: usize },
    Sweep,
    Pass { milliseconds: u64 },
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn event() -> impl Strategy<Value = Event> {
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (name.clone(), 1..20_u32).prop_map(|(name, seconds)| Event::Put { name, seconds }),
        3 => name.clone().prop_map(|name| Event::Read { name }),
        1 => Just(Event::List),
        1 => name.prop_map(|name| Event::Delete { name }),
        1 => Just(Event::Sweep),
        4 => (0..12_u64, 0..1_000_u64)
            .prop_map(|(seconds, rest)| Event::Pass { milliseconds: seconds * 1_000 + rest }),
    ]
}

/// What the slots ought to be: since when each has been left alone, and how long it may be.
#[derive(Default)]
struct Wanted([Option<(Timestamp, u32)>; NAMES.len()]);

impl Wanted {
    fn is_live(&self, name: usize, now: Timestamp) -> bool {
        self.0[name].is_some_and(|(since, seconds)| {
            now.duration_since(since) < SignedDuration::from_secs(i64::from(seconds))
        })
    }

    /// Reads a slot: one that lives begins anew.
    fn read(&mut self, name: usize, now: Timestamp) -> bool {
        let live = self.is_live(name, now);
        self.0[name] = self.0[name].filter(|_| live).map(|(_, seconds)| (now, seconds));
        live
    }
}

async fn a_slot_lives_as_long_as_it_should(events: &[Event]) {
    let (bench, mut wanted) = (open(), Wanted::default());
    for (step, event) in events.iter().enumerate() {
        let now = bench.time.now();
        match *event {
            Event::Put { name, seconds } => {
                bench.put("c", NAMES[name], "1", seconds).await;
                wanted.0[name] = Some((now, seconds));
            }
            Event::Read { name } => {
                let found = bench.read("c", NAMES[name]).await.is_some();
                assert_eq!(found, wanted.read(name, now), "step {step}");
            }
            Event::List => {
                let portion = Portion { slots_max: 10, bytes_max: usize::MAX };
                let listed = bench.slots.list(&bench.shelf("c"), None, portion, now).await.unwrap();
                let found: Vec<_> = listed.slots.iter().map(|slot| slot.name.as_str()).collect();
                let live = (0..NAMES.len()).filter(|name| wanted.read(*name, now));
                let live: Vec<_> = live.map(|name| NAMES[name]).collect();
                assert_eq!(found, live, "step {step}");
            }
            Event::Delete { name } => {
                let shelf = bench.shelf("c");
                let name_of = NAMES[name].parse().unwrap();
                let found = bench.slots.delete(&shelf, &name_of, now).await.unwrap();
                assert_eq!(found, wanted.is_live(name, now), "step {step}");
                wanted.0[name] = None;
            }
            Event::Sweep => bench.slots.sweep(now).await,
            Event::Pass { milliseconds } => {
                bench.time.pass(Duration::from_millis(milliseconds)).await;
            }
        }
    }
}

/// Never gone early, never there late, and refreshed by whoever reads it.
#[test]
fn whatever_happens_a_slot_lives_as_long_as_it_should() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    proptest!(|(events in proptest::collection::vec(event(), 1..60))| {
        runtime.block_on(a_slot_lives_as_long_as_it_should(&events));
    });
}
