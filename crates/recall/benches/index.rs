//! What the index costs: `cargo bench -p mnemic-recall -- --items 100000 1000000 [--uniform] [--json]`.
//!
//! Texts follow Zipf's law; vectors are a mixture of clusters (as embeddings are) and, as the
//! hardest case and if asked for, uniform. Times are those of one thread, per query. Memory is the growth of the
//! resident set.

#![allow(clippy::print_stdout, reason = "printing the table is what it is for")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use mnemic_recall::synthetic::{Noise, Texts, Vectors};
use mnemic_recall::{
    Clause, Code, Document, Filter, Index, Key, PieceQuery, cosine, pack_pieces, quantise,
};
use std::hint::black_box;
use std::time::Instant;

const QUERIES: usize = 200;
const SHORTLIST: usize = 30;

struct Options {
    items: Vec<usize>,
    dimensions: usize,
    json: bool,
    uniform: bool,
}

fn options() -> Options {
    let mut options = Options { items: Vec::new(), dimensions: 384, json: false, uniform: false };
    let mut target = "";
    for argument in std::env::args().skip(1) {
        match (argument.as_str(), target) {
            ("--json", _) => options.json = true,
            ("--uniform", _) => options.uniform = true,
            ("--items", _) => target = "items",
            ("--dimensions", _) => target = "dimensions",
            (value, "items") => {
                options.items.extend(value.split(',').flat_map(str::parse::<usize>));
            }
            (value, "dimensions") => options.dimensions = value.parse().unwrap_or(384),
            _ => {}
        }
    }
    if options.items.is_empty() {
        options.items.push(100_000);
    }
    options
}

fn main() {
    let options = options();
    for &items in &options.items {
        for clustered in [true, false] {
            if !clustered && !options.uniform {
                continue;
            }
            let mut report = Report::default();
            measure(items, options.dimensions, clustered, &mut report);
            let vectors = if clustered { "clustered" } else { "uniform" };
            report.print(items, options.dimensions, vectors, options.json);
        }
    }
}

#[derive(Default)]
struct Report(Vec<(String, f64)>);

impl Report {
    fn add(&mut self, name: impl Into<String>, value: f64) {
        self.0.push((name.into(), value));
    }

    fn print(&self, items: usize, dimensions: usize, vectors: &str, json: bool) {
        if json {
            let fields: Vec<String> =
                self.0.iter().map(|(name, value)| format!("\"{name}\":{value:.4}")).collect();
            println!(
                "{{\"items\":{items},\"dimensions\":{dimensions},\"vectors\":\"{vectors}\",{}}}",
                fields.join(",")
            );
            return;
        }
        println!("\n{items} items, {dimensions} dimensions, {vectors} vectors");
        for (name, value) in &self.0 {
            println!("  {name:<40} {value:>12.4}");
        }
    }
}

fn key(n: usize) -> Key {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&(n as u64).to_be_bytes());
    key[8..].copy_from_slice(&(n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    key
}

fn measure(items: usize, dimensions: usize, clustered: bool, report: &mut Report) {
    let mut noise = Noise(42);
    let texts = Texts::default();
    let mut vectors = Vectors::new(dimensions, clustered, &mut noise);
    let queries: Vec<String> = (0..QUERIES).map(|n| texts.query(3 + n % 6, &mut noise)).collect();
    let query_vectors: Vec<Vec<f32>> = (0..QUERIES).map(|_| vectors.next(&mut noise)).collect();
    let mut exact = Exact::new(items, &query_vectors);

    // Made in pieces, so that the benchmark's own data neither fills the memory nor the figures.
    let mut index = Index::new(Some(dimensions));
    let mut loader = index.loader();
    let (mut wall, mut cpu, mut grown) = (0.0, 0.0, 0);
    let piece = 20_000.min(items);
    let mut start = 0;
    while start < items {
        let count = piece.min(items - start);
        let batch: Vec<Made> = (start..start + count)
            .map(|n| Made::new(n, &texts, &mut vectors, &mut noise))
            .collect();
        exact.add(start, &batch);
        let documents: Vec<Document<'_>> = batch.iter().map(Made::document).collect();
        let (before, cpu_before, began) = (resident(), cpu_seconds(), Instant::now());
        loader.extend(&documents).unwrap_or_else(|error| println!("{error}"));
        wall += began.elapsed().as_secs_f64();
        cpu += cpu_seconds() - cpu_before;
        grown += resident().saturating_sub(before);
        start += count;
    }
    let before = resident();
    drop(loader);
    grown = grown.saturating_sub(before - resident().min(before));
    report.add("build, s wall", wall);
    report.add("build, s cpu of all threads", cpu);
    report.add("bytes per item, bytes()", index.bytes() as f64 / items as f64);
    report.add("bytes per item, resident", grown as f64 / items as f64);

    let filters = [
        ("all", Filter::all()),
        ("10 %", Filter::all().and(Clause::AnyTag(vec!["ten".into()]))),
        ("1 %", Filter::all().and(Clause::AnyTag(vec!["hundred".into()]))),
        (
            "valid",
            Filter::all()
                .and(Clause::Range { column: 1, min: i64::MIN, max: 1000 })
                .and(Clause::Range { column: 2, min: 1000, max: i64::MAX }),
        ),
    ];
    for (name, filter) in &filters {
        let words = timed(|n| drop(black_box(index.words(&queries[n], filter, 30))));
        let nearest = timed(|n| {
            drop(black_box(index.nearest(&query_vectors[n], filter, SHORTLIST)));
        });
        report.add(format!("words, {name}, ms mean"), words.0);
        report.add(format!("words, {name}, ms p99"), words.1);
        report.add(format!("nearest, {name}, ms mean"), nearest.0);
        report.add(format!("words + nearest, {name}, ms mean"), words.0 + nearest.0);
    }
    report.add("recall@10 of 30 rescored", exact.recall(&index, &query_vectors));

    let fresh: Vec<Made> =
        (0..1000).map(|n| Made::new(items + n, &texts, &mut vectors, &mut noise)).collect();
    let per_item = |began: Instant| began.elapsed().as_secs_f64() * 1e6 / fresh.len() as f64;
    let began = Instant::now();
    for made in &fresh {
        index.put(&made.document()).unwrap_or_else(|error| println!("{error}"));
    }
    report.add("put, µs", per_item(began));
    let began = Instant::now();
    for n in 0..fresh.len() {
        index.remove(&key(n * 7 % items));
    }
    report.add("remove, µs", per_item(began));
    measure_pieces(dimensions, &mut noise, report);
}

/// Texts whose pieces are compared with those of a query at once.
const COMPARED: usize = 250;

/// A sentence has about fourteen pieces; questions have some more or less.
fn measure_pieces(dimensions: usize, noise: &mut Noise, report: &mut Report) {
    let mut packed = |pieces: usize| {
        let values: Vec<f32> = (0..pieces * dimensions).map(|_| noise.gaussian()).collect();
        pack_pieces(&values, dimensions)
    };
    let texts: Vec<Vec<u8>> = (0..20_000).map(|_| packed(14)).collect();
    let mut index = Index::new(Some(dimensions));
    for (n, pieces) in texts.iter().enumerate() {
        let (tags, numbers) = (&[][..], [0; 4]);
        let document = Document { key: key(n), text: "", tags, numbers, vector: None, pieces };
        index.put(&document).unwrap_or_else(|error| println!("{error}"));
    }
    // Other ones each time: those that were just compared would still be at hand.
    let mut next = 0;
    let mut scattered = || {
        next += COMPARED;
        (next..).take(COMPARED).map(|n| n * 7_919 % texts.len())
    };
    for asked in [12, 20, 60] {
        let query = packed(asked);
        let held = timed(|_| {
            let keys: Vec<Key> = scattered().map(key).collect();
            drop(black_box(index.compare_pieces(&query, &keys)));
        });
        report.add(format!("{asked} pieces, {COMPARED} texts, µs mean"), held.0 * 1000.0);
        let handed = timed(|_| {
            let query = PieceQuery::new(&query, dimensions);
            scattered().for_each(|n| drop(black_box(query.likeness(&texts[n]))));
        });
        report.add(format!("{asked} pieces, {COMPARED} packed, µs mean"), handed.0 * 1000.0);
    }
}

/// Mean and 99th percentile in milliseconds. Each query counts with the best of three runs, which
/// leaves out what other processes of a busy machine do in between.
fn timed(mut query: impl FnMut(usize)) -> (f64, f64) {
    (0..QUERIES / 10).for_each(&mut query);
    let mut times: Vec<f64> = (0..QUERIES)
        .map(|n| {
            let runs = [0; 3].map(|_| {
                let began = Instant::now();
                query(n);
                began.elapsed().as_secs_f64() * 1000.0
            });
            runs.into_iter().fold(f64::INFINITY, f64::min)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times.iter().sum::<f64>() / QUERIES as f64, times[QUERIES * 99 / 100])
}

struct Made {
    key: Key,
    text: String,
    tags: Vec<&'static str>,
    numbers: [i64; 4],
    vector: Vec<f32>,
    code: Vec<u8>,
}

impl Made {
    fn new(n: usize, texts: &Texts, vectors: &mut Vectors, noise: &mut Noise) -> Self {
        let mut tags = vec![if noise.below(2) == 0 { "kind:fact" } else { "kind:event" }];
        if noise.below(10) == 0 {
            tags.push("ten");
        }
        if noise.below(100) == 0 {
            tags.push("hundred");
        }
        // One in twenty is no longer valid.
        let end = if noise.below(20) == 0 { 500 } else { i64::MAX };
        let vector = vectors.next(noise);
        let text = texts.text(15 + noise.below(20) as usize, noise);
        let numbers = [(n as u64).cast_signed(), 0, end, i64::MAX];
        Self { key: key(n), text, tags, numbers, code: quantise(&vector), vector }
    }

    fn document(&self) -> Document<'_> {
        Document {
            key: self.key,
            text: &self.text,
            tags: &self.tags,
            numbers: self.numbers,
            vector: Code::new(&self.code).ok(),
            pieces: &[],
        }
    }
}

/// The true ten nearest, and the f32 rows that rescoring needs.
struct Exact {
    queries: Vec<Vec<f32>>,
    best: Vec<Vec<(f32, usize)>>,
    rows: Vec<f32>,
}

const TRUTH_QUERIES: usize = 60;

impl Exact {
    fn new(items: usize, queries: &[Vec<f32>]) -> Self {
        let dimensions = queries.first().map_or(0, Vec::len);
        let queries = queries[..TRUTH_QUERIES.min(queries.len())].to_vec();
        let best = vec![Vec::new(); queries.len()];
        Self { queries, best, rows: Vec::with_capacity(items * dimensions) }
    }

    fn add(&mut self, start: usize, batch: &[Made]) {
        for (query, best) in self.queries.iter().zip(&mut self.best) {
            best.extend(
                batch.iter().enumerate().map(|(n, m)| (cosine(query, &m.vector), start + n)),
            );
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            best.truncate(10);
        }
        for made in batch {
            self.rows.extend(&made.vector);
        }
    }

    fn recall(&self, index: &Index, queries: &[Vec<f32>]) -> f64 {
        let dimensions = queries[0].len();
        let mut found = 0;
        for (query, best) in self.queries.iter().zip(&self.best) {
            let hits = index.nearest(query, &Filter::all(), SHORTLIST);
            let mut rescored: Vec<(f32, usize)> = hits
                .iter()
                .map(|hit| {
                    let n = u64::from_be_bytes(*hit.key.first_chunk().unwrap_or(&[0; 8])) as usize;
                    (cosine(query, &self.rows[n * dimensions..(n + 1) * dimensions]), n)
                })
                .collect();
            rescored.sort_by(|a, b| b.0.total_cmp(&a.0));
            rescored.truncate(10);
            found += best.iter().filter(|(_, n)| rescored.iter().any(|(_, m)| m == n)).count();
        }
        found as f64 / (10 * self.queries.len()) as f64
    }
}

/// Processor time of this process, user and system, of all its threads.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in brackets and may hold spaces; count from its end.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).flat_map(str::parse::<f64>).sum::<f64>() / 100.0
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0_u64) * 4096
}
