//! How long one text takes on one thread in floating point, against the time of its matrix products alone.
//!
//! The products are timed twice in the same run, by turns with the whole: with our own kernel,
//! and with the `gemm` crate, which knows nothing of ours and so keeps the comparison honest.
//! `--json` prints the same figures for machines.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use mnemic_models::minilm::{
    GemmCeiling, Memory, Precision, Shape, TOKENS_MAX, WordPiece, gemm_shapes,
};
use mnemic_models::{MiniLm, WeightsSource, default_cache, obtain};

type Failure = Box<dyn std::error::Error>;

const ROUNDS: usize = 60;

struct Figures {
    tokens: usize,
    whole_ms: f64,
    own_gemm_ms: f64,
    crate_gemm_ms: f64,
}

fn main() -> Result<(), Failure> {
    let source = WeightsSource { path: None, cache: default_cache(), offline: false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let show = Arc::new(|progress: mnemic_models::Progress| eprintln!("{}", progress.step));
    let files = runtime.block_on(obtain(&source, show))?;
    let wordpiece = WordPiece::parse(files.vocabulary())?;
    let model = MiniLm::load(&files, 1, Precision::F32)?;
    drop(files);

    let mut figures = Vec::new();
    for tokens in [20, 128] {
        let text = text_of(tokens);
        assert_eq!(wordpiece.encode(&text, TOKENS_MAX).len(), tokens, "the text has its length");
        figures.push(measure(&model, &text, tokens));
    }
    if std::env::args().any(|argument| argument == "--json") {
        print_json(&figures);
    } else {
        print_table(&figures);
    }
    Ok(())
}

/// Every word here is one token; two more mark the beginning and the end.
fn text_of(tokens: usize) -> String {
    let words = ["the", "cat", "went", "home", "after", "a", "long", "walk", "in", "rain"];
    words.iter().copied().cycle().take(tokens - 2).collect::<Vec<_>>().join(" ")
}

/// By turns, so that a noisy neighbour disturbs all three alike; the median of each.
fn measure(model: &MiniLm, text: &str, tokens: usize) -> Figures {
    let mut memory = Memory::default();
    let mut own = GemmCeiling::new(tokens);
    let mut other = CrateGemm::new(tokens);
    let (mut whole_times, mut own_times, mut other_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(model.see_here(text, &mut memory));
        whole_times.push(start.elapsed());
        own_times.push(own.run());
        other_times.push(other.run());
    }
    Figures {
        tokens,
        whole_ms: median_ms(whole_times),
        own_gemm_ms: median_ms(own_times),
        crate_gemm_ms: median_ms(other_times),
    }
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn print_table(figures: &[Figures]) {
    println!("tokens   whole ms   own gemm ms   ratio   gemm crate ms   ratio");
    for f in figures {
        let Figures { tokens, whole_ms, own_gemm_ms, crate_gemm_ms } = f;
        println!(
            "{tokens:>6} {whole_ms:>10.2} {own_gemm_ms:>13.2} {:>7.2} {crate_gemm_ms:>15.2} {:>7.2}",
            whole_ms / own_gemm_ms,
            whole_ms / crate_gemm_ms,
        );
    }
}

fn print_json(figures: &[Figures]) {
    let rows: Vec<_> = figures
        .iter()
        .map(|f| {
            serde_json::json!({
                "tokens": f.tokens,
                "whole_ms": f.whole_ms,
                "own_gemm_ms": f.own_gemm_ms,
                "crate_gemm_ms": f.crate_gemm_ms,
                "ratio_own": f.whole_ms / f.own_gemm_ms,
                "ratio_crate": f.whole_ms / f.crate_gemm_ms,
            })
        })
        .collect();
    println!("{}", serde_json::json!({ "bench": "embed", "threads": 1, "rows": rows }));
}

/// The same products by the `gemm` crate, each with a right side of its own, as layers have.
struct CrateGemm {
    steps: Vec<(Shape, Vec<f32>)>,
    left: Vec<f32>,
    out: Vec<f32>,
}

impl CrateGemm {
    fn new(tokens: usize) -> Self {
        let steps: Vec<_> = gemm_shapes(tokens)
            .into_iter()
            .map(|shape| (shape, vec![0.01; shape.depth * shape.columns]))
            .collect();
        let left = steps.iter().map(|(shape, _)| shape.rows * shape.depth).max().unwrap_or(0);
        let out = steps.iter().map(|(shape, _)| shape.rows * shape.columns).max().unwrap_or(0);
        Self { steps, left: vec![0.5; left], out: vec![0.0; out] }
    }

    fn run(&mut self) -> Duration {
        let start = Instant::now();
        for (shape, right) in &self.steps {
            product(*shape, &self.left, right, &mut self.out);
        }
        std::hint::black_box(&self.out);
        start.elapsed()
    }
}

/// `out = left · right`, all in rows.
#[expect(unsafe_code, clippy::cast_possible_wrap, reason = "the crate takes pointers and strides")]
fn product(shape: Shape, left: &[f32], right: &[f32], out: &mut [f32]) {
    let Shape { rows, depth, columns, .. } = shape;
    assert!(left.len() >= rows * depth && right.len() >= depth * columns);
    assert!(out.len() >= rows * columns);
    let (depth_step, columns_step) = (depth as isize, columns as isize);
    // SAFETY: the assertions above keep every element within its slice, and `out` is borrowed
    // exclusively, so that it overlaps with neither side.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            out.as_mut_ptr(),
            1,
            columns_step,
            false,
            left.as_ptr(),
            1,
            depth_step,
            right.as_ptr(),
            1,
            columns_step,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
