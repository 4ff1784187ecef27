//! What search costs and finds in PostgreSQL, under row-level security:
//! `cargo bench -p mnemic-store -- [nearest|words] [--items 100000,500000] [--store URL] [--check]`.
//!
//! Without an address it starts a server of its own. With one, the address is the owner's, of a
//! database that may be filled; what a run before has left there is used again.

#![allow(clippy::print_stdout, reason = "printing the tables is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench may fail")]

mod load;
mod nearest;
mod words;

use std::time::Instant;

use mnemic_store::postgres::{MIGRATIONS, Options, PostgresEngine, setup};
use tokio_postgres::{Client, NoTls};

struct Arguments {
    benches: Vec<String>,
    items: Vec<usize>,
    store: Option<String>,
    check: bool,
}

fn arguments() -> Arguments {
    let mut given = Arguments { benches: vec![], items: vec![], store: None, check: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => given.check = true,
            "--store" => given.store = words.next(),
            "--items" => {
                let items = words.next().unwrap_or_default();
                given.items = items.split(',').flat_map(str::parse).collect();
            }
            // Cargo says this to every bench.
            "--bench" => {}
            bench => given.benches.push(bench.to_owned()),
        }
    }
    if given.benches.is_empty() {
        given.benches = vec!["nearest".to_owned(), "words".to_owned()];
    }
    if given.items.is_empty() {
        given.items = vec![100_000, 500_000];
    }
    given
}

#[tokio::main]
async fn main() {
    let given = arguments();
    let owner = given.store.clone().unwrap_or_else(|| {
        let server = mnemic_test_servers::postgres();
        server.owner_url(&server.database("template1"))
    });
    let url = setup(&owner, true).await.unwrap().url.expect("a new password comes with an address");
    let (client, connection) = tokio_postgres::connect(&owner, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("SET search_path = mnemic").await.unwrap();
    let place = Place { owner: client, url };
    for bench in &given.benches {
        match bench.as_str() {
            "nearest" => nearest::run(&place, given.check).await,
            "words" => words::run(&place, &given.items).await,
            other => panic!("{other}: there are the benches nearest and words"),
        }
    }
}

/// A database, as its owner fills it and as a server uses it.
struct Place {
    owner: Client,
    url: String,
}

impl Place {
    async fn open(&self) -> PostgresEngine {
        PostgresEngine::open(&self.url, Options::default(), MIGRATIONS).await.unwrap()
    }
}

/// Milliseconds that passed while it ran, and what it came to.
async fn timed<T>(future: impl Future<Output = T>) -> (f64, T) {
    let started = Instant::now();
    let done = future.await;
    (started.elapsed().as_secs_f64() * 1e3, done)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
