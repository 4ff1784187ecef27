//! The suite on a real Redis, whose time passes by itself, and what happens when it is away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mnemic_test_servers::{Redis, redis as server};

use super::*;
use crate::slots::conformance::{Bench, HOUR, Time, conformance, kept};

struct RealTime;

#[async_trait]
impl Time for RealTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

fn on(url: &str) -> Bench {
    Bench::new(Arc::new(RedisSlots::new(url).unwrap()), Arc::new(RealTime))
}

fn open() -> Bench {
    on(&server().url())
}

conformance!(open);

/// What a put comes to, which must not take long whatever it is.
async fn try_put(bench: &Bench) -> Result<()> {
    let started = Instant::now();
    let outcome = bench.slots.put(&bench.shelf("c"), kept("a", "1", HOUR), Timestamp::now()).await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    outcome
}

async fn eventually_put(bench: &Bench) {
    let started = Instant::now();
    while let Err(error) = try_put(bench).await {
        assert!(started.elapsed() < Duration::from_secs(10), "{error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn raw<T: redis::FromRedisValue>(command: &mut redis::Cmd) -> T {
    let client = redis::Client::open(server().url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    command.query_async(&mut connection).await.unwrap()
}

#[tokio::test]
async fn a_slot_is_kept_under_the_stated_key() {
    let bench = open();
    bench.put("0193A5B0-7E1C-7D3A-9B1F-2C3D4E5F6A7B", "plan", "[1]", 77).await;
    let workspace = bench.workspace;
    let key = format!("mnemic:ws:{workspace}:0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b:plan");
    assert_eq!(raw::<String>(redis::cmd("GET").arg(&key)).await, "77 [1]");
    assert_eq!(raw::<i64>(redis::cmd("TTL").arg(&key)).await, 77);
}

#[tokio::test]
async fn what_somebody_else_wrote_there_is_refused_and_can_be_replaced() {
    let bench = open();
    for (name, text) in [("a", "[1]"), ("b", "0 1"), ("c", ""), ("d", "99999999999 1")] {
        let (shelf, slot) = (bench.shelf("c"), name.parse().unwrap());
        raw::<()>(redis::cmd("SET").arg(key(&shelf, &slot)).arg(text)).await;
        let read = bench.slots.read(&shelf, &slot, Timestamp::now()).await;
        let error = read.expect_err(text);
        assert!(matches!(error.code(), Code::Corrupt | Code::SlotsUnavailable), "{error}");
        bench.put("c", name, "1", HOUR).await;
        assert!(bench.read("c", name).await.is_some());
    }
}

#[tokio::test]
async fn a_slot_is_read_and_refreshed_in_one_round_trip() {
    let own = Redis::start();
    let bench = on(&own.url());
    bench.put("c", "a", "1", HOUR).await;
    let client = redis::Client::open(own.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut evals = async || {
        let stats: String =
            redis::cmd("INFO").arg("commandstats").query_async(&mut connection).await.unwrap();
        let line = stats.lines().find(|line| line.starts_with("cmdstat_eval:"));
        let calls = line.and_then(|line| line.split(['=', ',']).nth(1)?.parse::<u64>().ok());
        let others = ["cmdstat_script", "cmdstat_evalsha", "cmdstat_getex"];
        assert!(others.iter().all(|other| !stats.contains(other)), "{stats}");
        calls.unwrap_or(0)
    };
    assert_eq!(evals().await, 0);
    for read in 1..=5 {
        assert!(bench.read("c", "a").await.is_some());
        assert_eq!(evals().await, read);
    }
}

#[tokio::test]
async fn a_redis_that_went_away_is_told_quickly_and_used_when_it_is_back() {
    let own = Redis::start();
    let bench = on(&own.url());
    try_put(&bench).await.unwrap();
    own.crash();
    for _ in 0..5 {
        let error = try_put(&bench).await.expect_err("it is away");
        assert_eq!(error.code(), Code::SlotsUnavailable);
        assert!(error.to_string().contains("when Redis is back"), "{error}");
    }
    assert!(!bench.slots.check().await.ok);
    own.restart();
    eventually_put(&bench).await;
    // A restart between two uses is not even seen.
    own.crash();
    own.restart();
    try_put(&bench).await.unwrap();
    assert!(bench.slots.check().await.ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_hangs_is_given_up_on_by_all_who_wait() {
    let own = Redis::start();
    let bench = Arc::new(on(&own.url()));
    try_put(&bench).await.unwrap();
    own.hang();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let bench = Arc::clone(&bench);
        waiting.spawn(async move { try_put(&bench).await.expect_err("it hangs").code() });
    }
    assert!(waiting.join_all().await.iter().all(|code| *code == Code::SlotsUnavailable));
    own.resume();
    eventually_put(&bench).await;
}

#[tokio::test]
async fn an_address_where_nobody_is_does_not_stop_us_from_starting() {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for scheme in ["redis", "rediss"] {
        let bench = on(&format!("{scheme}://{nobody}"));
        assert_eq!(try_put(&bench).await.expect_err("nobody").code(), Code::SlotsUnavailable);
    }
    // One that speaks no TLS is no harm either.
    let bench = on(&server().url().replace("redis:", "rediss:"));
    assert_eq!(try_put(&bench).await.expect_err("no TLS").code(), Code::SlotsUnavailable);
}

#[tokio::test]
async fn no_error_repeats_a_password() {
    let chain = |error: &Error| {
        let first: &dyn std::error::Error = error;
        std::iter::successors(Some(first), |error| error.source())
            .map(|error| format!("{error} {error:?}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for url in ["redis://:hunter2@", "hunter2", "http://:hunter2@h", "redis://:hunter2@h/hunter2"] {
        let error = RedisSlots::new(url).err().expect(url);
        assert_eq!(error.code(), Code::InvalidField);
        assert!(!chain(&error).contains("hunter2"), "{}", chain(&error));
    }
    let bench = on(&server().url_with("hunter2"));
    let error = try_put(&bench).await.expect_err("a wrong password");
    assert_eq!(error.code(), Code::SlotsUnavailable);
    assert!(error.to_string().contains("does not let us in"), "{}", chain(&error));
    assert!(!chain(&error).contains("hunter2"), "{}", chain(&error));
    assert!(!bench.slots.check().await.detail.contains("hunter2"));
}
