//! What embedding a text costs, in floating point and in small integers, and how far the two
//! are apart.
//!
//! The yardstick is the time of the matrix products alone, in floating point. All are measured
//! by turns on one thread; what a question takes is shown beside them, which may wait for another thread.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use mnemic_core::embed::{Embedder as _, Purpose, Seen};
use mnemic_models::minilm::{GemmCeiling, Memory, Precision, TEXTS};
use mnemic_models::{MiniLm, ModelFiles};
use mnemic_recall::{cosine, pack_pieces};

use super::EmbedArgs;
use super::report::{Report, Target, median};
use super::stage::Stage;
use crate::config::CommonArgs;

/// A query, and a text of the length that the model knows best.
const LENGTHS: [usize; 2] = [20, 128];
/// The longer the text, the fewer rounds are needed for a steady median.
const TOKENS_PER_ROUND: usize = 20;
/// How many texts are given at once, as an import does.
const PILE: usize = 16;
const WARM_UP: usize = 3;

pub async fn run(common: &CommonArgs, args: &EmbedArgs) -> Result<Report> {
    if args.rounds == 0 {
        bail!("--rounds: at least one is needed");
    }
    let stage = Stage::new(common, None)?;
    let texts = texts(args.texts.as_deref())?;
    let files = stage.weights().await?;
    let models = tokio::task::spawn_blocking(move || Models::load(&files)).await??;
    let int8 = models.int8.as_ref().and_then(MiniLm::int8);
    let subject = int8.map_or_else(
        || "f32; nothing faster on this processor".to_owned(),
        |instructions| format!("f32 and int8 by {instructions}, one thread"),
    );
    let mut report = Report::new("embed", subject);
    for tokens in LENGTHS {
        time(&models, tokens, args.rounds, &mut report).await?;
    }
    if let Some(int8) = &models.int8 {
        compare(&models.f32, int8, &texts, &mut report);
    }
    Ok(report)
}

struct Models {
    f32: MiniLm,
    /// None, where the processor has no instructions for it.
    int8: Option<MiniLm>,
}

impl Models {
    fn load(files: &ModelFiles) -> Result<Self> {
        let f32 = MiniLm::load(files, 1, Precision::F32)?;
        let auto = MiniLm::load(files, 1, Precision::Auto)?;
        Ok(Self { f32, int8: auto.int8().is_some().then_some(auto) })
    }
}

fn texts(file: Option<&Path>) -> Result<Vec<String>> {
    let text = match file {
        None => TEXTS.to_owned(),
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("--texts: {} cannot be read", file.display()))?,
    };
    let texts: Vec<_> =
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    if texts.is_empty() {
        bail!("--texts: there is no text in the file; give one on each line");
    }
    Ok(texts)
}

/// What each took, in milliseconds.
#[derive(Default)]
struct Times {
    products: Vec<f64>,
    here: Vec<f64>,
    asked: Vec<f64>,
    pile: Vec<f64>,
}

async fn time(models: &Models, tokens: usize, rounds: usize, report: &mut Report) -> Result<()> {
    let text = text_of(tokens);
    let mut ceiling = GemmCeiling::new(tokens);
    let mut memory = Memory::default();
    let (mut f32, mut int8) = (Times::default(), Times::default());
    let rounds = (rounds * TOKENS_PER_ROUND).div_ceil(tokens);
    for round in 0..rounds + WARM_UP {
        if round == WARM_UP {
            (f32, int8) = (Times::default(), Times::default());
        }
        f32.products.push(ceiling.run().as_secs_f64() * 1e3);
        f32.take(&models.f32, &text, &mut memory).await?;
        if let Some(model) = &models.int8 {
            int8.take(model, &text, &mut memory).await?;
        }
    }
    let name = |what: &str| format!("{tokens} tokens: {what}");
    let products = median(&f32.products);
    report.add(name("f32 products alone, ms"), products);
    f32.tell("f32", products, tokens, report);
    if models.int8.is_some() {
        int8.tell("int8", products, tokens, report);
        report.add(name("f32 / int8"), median(&f32.here) / median(&int8.here));
        report.add(name("f32 / int8, many"), median(&f32.pile) / median(&int8.pile));
    }
    Ok(())
}

impl Times {
    async fn take(&mut self, model: &MiniLm, text: &str, memory: &mut Memory) -> Result<()> {
        let started = Instant::now();
        std::hint::black_box(model.see_here(text, memory));
        self.here.push(started.elapsed().as_secs_f64() * 1e3);
        let started = Instant::now();
        model.see(vec![text.to_owned()], Purpose::Query).await?;
        self.asked.push(started.elapsed().as_secs_f64() * 1e3);
        let pile = vec![text.to_owned(); PILE];
        let started = Instant::now();
        model.see(pile, Purpose::Document).await?;
        self.pile.push(started.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    fn tell(&self, what: &str, products: f64, tokens: usize, report: &mut Report) {
        let name = |rest: &str| format!("{tokens} tokens: {what}{rest}");
        report.add(name(", ms"), median(&self.here));
        report.add(name(" as a question, ms"), median(&self.asked));
        report.add(name(", many, texts a second"), PILE as f64 * 1e3 / median(&self.pile));
        let (ratio, label) = (median(&self.here) / products, name(" / f32 products"));
        if what == "int8" && tokens == LENGTHS[0] {
            report.promise(label, ratio, Target::AtMost(0.5));
        } else {
            report.add(label, ratio);
        }
    }
}

/// Every word here is one token; two more mark the beginning and the end.
fn text_of(tokens: usize) -> String {
    let words = ["the", "cat", "went", "home", "after", "a", "long", "walk", "in", "rain"];
    words.iter().copied().cycle().take(tokens - 2).collect::<Vec<_>>().join(" ")
}

fn compare(f32: &MiniLm, int8: &MiniLm, texts: &[String], report: &mut Report) {
    let mut memory = Memory::default();
    let (mut cosines, mut signs) = (Vec::new(), Signs::default());
    for text in texts {
        let (full, small) = (f32.see_here(text, &mut memory), int8.see_here(text, &mut memory));
        cosines.push(f64::from(cosine(&full.vector, &small.vector)));
        signs.add(&full, &small);
    }
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let least = cosines.iter().copied().fold(f64::INFINITY, f64::min);
    report.add("texts compared", texts.len() as f64);
    report.promise("cosine of int8 to f32, mean", mean, Target::AtLeast(0.995));
    report.promise("cosine of int8 to f32, least", least, Target::AtLeast(0.99));
    report.add("signs of pieces that agree, %", signs.agreeing_percent());
}

/// The signs of pieces are all that is kept of them.
#[derive(Default)]
struct Signs {
    all: usize,
    differing: usize,
}

impl Signs {
    fn add(&mut self, one: &Seen, other: &Seen) {
        let [one, other] = [one, other].map(|seen| pack_pieces(&seen.pieces, seen.vector.len()));
        self.all += one.len() * 8;
        let differing = one.iter().zip(&other).map(|(a, b)| (a ^ b).count_ones());
        self.differing += differing.sum::<u32>() as usize;
    }

    fn agreeing_percent(&self) -> f64 {
        100.0 * (1.0 - self.differing as f64 / self.all.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_differ_are_counted() {
        let seen = |pieces: [f32; 2]| Seen { vector: vec![0.0; 64], pieces: pieces.repeat(32) };
        let mut signs = Signs::default();
        signs.add(&seen([1.0, -1.0]), &seen([1.0, -1.0]));
        assert!((signs.agreeing_percent() - 100.0).abs() < 1e-9);
        signs.add(&seen([1.0, -1.0]), &seen([1.0, 1.0]));
        assert!((signs.agreeing_percent() - 75.0).abs() < 1e-9);
    }

    #[test]
    fn texts_come_from_the_file_or_are_built_in() {
        assert!(texts(None).unwrap().len() >= 40);
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("texts");
        std::fs::write(&file, "one\n\ntwo\n").unwrap();
        assert_eq!(texts(Some(&file)).unwrap(), ["one", "two"]);
        std::fs::write(&file, "\n").unwrap();
        assert!(texts(Some(&file)).unwrap_err().to_string().contains("--texts"));
        assert!(texts(Some(&dir.path().join("none"))).is_err());
    }
}
