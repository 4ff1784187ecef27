//! SIGKILL while old turns are rolled up: each turn is still there, or told in one episode.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{OWN, Server, answer};
use crate::support::{Home, random_below, rounds};

const ROUNDS: usize = 5;
const CONVERSATIONS: usize = 30;
const TURNS: usize = 40;
const RETAINED: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_turn_is_lost_when_a_roll_up_is_killed() {
    let home = Home::new();
    let mut server = start(&home);
    let settings = json!({
        "rollup": {"retain_last": RETAINED, "max_age_days": 1}, "extraction": {"enabled": false},
    });
    let set = answer(server.put(&format!("{OWN}/settings"), &settings)).await;
    assert_eq!(set.0, 200, "{}", set.1);
    let mut broken_off = 0;
    for round in 0..rounds().unwrap_or(ROUNDS) {
        for number in 0..CONVERSATIONS {
            fill(&server, &format!("c-{round}-{number}")).await;
        }
        let job = server.post(&format!("{OWN}/jobs/rollup/run"), &json!({}));
        let job = tokio::spawn(job.send());
        tokio::time::sleep(Duration::from_millis(random_below(400))).await;
        server.kill();
        let _ = job.await;
        server = start(&home);
        let mut left = 0;
        for number in 0..CONVERSATIONS {
            left += check(&server, &format!("c-{round}-{number}")).await;
        }
        broken_off += usize::from(left > CONVERSATIONS * RETAINED);
        finish(&server).await;
        for number in 0..CONVERSATIONS {
            assert_eq!(check(&server, &format!("c-{round}-{number}")).await, RETAINED);
        }
    }
    println!("kill -9 while rolling up: {broken_off} rounds were broken off");
}

fn start(home: &Home) -> Server {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("MNEMIC_JOB_LEASE_SECONDS", "1");
    Server::start_by(home, command)
}

async fn fill(server: &Server, conversation: &str) {
    let turns: Vec<Value> = (0..TURNS)
        .map(|n| {
            json!({"role": "user", "content": format!("The harbour needs {n} cranes."),
                "timestamp": "2026-01-01T00:00:00Z"})
        })
        .collect();
    let path = format!("{OWN}/conversations/{conversation}/turns");
    let (status, said) = answer(server.post(&path, &json!(turns))).await;
    assert_eq!(status, 201, "{said}");
}

/// How many turns are left; all others are told, once.
async fn check(server: &Server, conversation: &str) -> usize {
    let path = format!("{OWN}/conversations/{conversation}");
    let (_, turns) = answer(server.get(&format!("{path}/turns?limit=200"))).await;
    let (_, episodes) = answer(server.get(&format!("{path}/episodes"))).await;
    let left = turns["items"].as_array().unwrap().len();
    let told = episodes["items"].as_array().unwrap().iter();
    let told: u64 = told.map(|episode| episode["turn_count"].as_u64().unwrap()).sum();
    assert_eq!(left + usize::try_from(told).unwrap(), TURNS, "{conversation}");
    left
}

/// Runs the job once the claim of the killed server has ended.
async fn finish(server: &Server) {
    for _ in 0..600 {
        let path = format!("{OWN}/jobs/rollup/run");
        let (status, said) = answer(server.post(&path, &json!({}))).await;
        if status == 200 {
            return;
        }
        assert_eq!(status, 409, "{said}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the job stays with a server that is no more");
}
