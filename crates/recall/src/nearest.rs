//! Search by vector: approximate cosines from the quantised codes.
//!
//! Planned by how many rows pass the filter: where they are few, the int8 codes of exactly those are
//! scanned; otherwise one-bit codes first thin them to a shortlist. Of these all rows are read, whether they
//! pass or not, but a row costs a small part of what its int8 code does. The caller rescores the
//! results with f32 vectors.

use crate::bits;
use crate::document::Hit;
use crate::filter::Selection;
use crate::index::Index;
use crate::kernels::{self, BLOCK};
use crate::top::{Top, rank, unrank};
use crate::vectors::{SIGNS_FROM, Vectors};
use std::borrow::Cow;

/// How many rows the one-bit codes leave for the int8 codes: one in so many, within these bounds.
/// How far down a near one can be by its signs grows with how many there are.
const SHORTLIST_PART: usize = 60;
const SHORTLIST_MIN: usize = 900;
const SHORTLIST_MAX: usize = 2_400;
/// It is at least so many times as long as what is asked for.
const SHORTLIST_TIMES: usize = 9;
/// How many rows of one-bit codes are read in the time of one int8 code.
const SIGNS_PER_CODE: usize = 16;
/// Rows per call of a kernel.
const BATCH: usize = 1024;

pub(crate) fn search(selection: &Selection<'_>, query: &[f32], k: usize) -> Vec<Hit> {
    let Some(vectors) = selection.index.vectors() else { return Vec::new() };
    let Some(query) = Query::new(query, vectors.dimensions()) else { return Vec::new() };
    if k == 0 || selection.is_empty() {
        return Vec::new();
    }
    let mask = match &selection.words {
        None => Cow::Borrowed(vectors.present()),
        Some(words) => words.iter().zip(vectors.present()).map(|(a, b)| a & b).collect(),
    };
    let mut scan = Scan { vectors, query: &query, best: Top::new(selection.index.keys(), k) };
    match scan.shortlist(&mask, k) {
        Some(slots) => scan.score(&slots),
        None => scan.score_all(&mask),
    }
    let hits = scan.best.into_sorted();
    hits.map(|(score, key)| Hit { key, score: unrank(score) }).collect()
}

/// The cosine of each slot that has a vector.
#[expect(clippy::cast_precision_loss, reason = "a cosine needs no more than an f32 holds")]
pub(crate) fn cosines(index: &Index, query: &[f32], slots: &[Option<u32>]) -> Vec<Option<f32>> {
    let Some(vectors) = index.vectors() else { return vec![None; slots.len()] };
    let Some(query) = Query::new(query, vectors.dimensions()) else {
        return vec![None; slots.len()];
    };
    let has_vector = |slot: &u32| bits::get(vectors.present(), *slot);
    let rows: Vec<u32> = slots.iter().flatten().copied().filter(has_vector).collect();
    let mut dots = Vec::with_capacity(rows.len());
    kernels::dots(&query.codes, vectors.codes(), &rows, &mut dots);
    let mut dots = dots.into_iter();
    let cosine = |slot: &Option<u32>| {
        let slot = slot.filter(has_vector)?;
        Some(dots.next()? as f32 * (vectors.factors()[slot as usize] * query.factor))
    };
    slots.iter().map(cosine).collect()
}

/// A query vector in the forms the kernels want.
struct Query {
    /// Within ± 1.
    values: Vec<f32>,
    codes: Vec<i16>,
    /// What brings the codes to length one.
    factor: f32,
}

impl Query {
    /// None for a query that has no direction or the wrong dimensions.
    #[expect(clippy::cast_possible_truncation, reason = "values are scaled to ±4,095")]
    fn new(vector: &[f32], dimensions: usize) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |max, v| max.max(v.abs()));
        let usable = largest > 0.0 && vector.iter().all(|v| v.is_finite());
        if vector.len() != dimensions || !usable {
            return None;
        }
        // Scaled by the largest value, lest squares overflow or vanish.
        let values: Vec<f32> = vector.iter().map(|v| v / largest).collect();
        let codes: Vec<i16> = values.iter().map(|v| (v * 4095.0).round() as i16).collect();
        let code_length = codes.iter().map(|&c| f32::from(c) * f32::from(c)).sum::<f32>().sqrt();
        Some(Self { values, codes, factor: 1.0 / code_length })
    }
}

struct Scan<'a> {
    vectors: &'a Vectors,
    query: &'a Query,
    best: Top<'a>,
}

impl Scan<'_> {
    /// Scores every slot of the mask by its int8 code.
    fn score_all(&mut self, mask: &[u64]) {
        let mut slots = Vec::with_capacity(BATCH + 64);
        for (base, &word) in (0..).step_by(64).zip(mask) {
            slots.extend(bits::positions(word).map(|bit| base + bit));
            if slots.len() >= BATCH {
                self.score(&slots);
                slots.clear();
            }
        }
        self.score(&slots);
    }

    #[expect(clippy::cast_precision_loss, reason = "a cosine needs no more than an f32 holds")]
    fn score(&mut self, slots: &[u32]) {
        let mut dots = Vec::with_capacity(slots.len());
        kernels::dots(&self.query.codes, self.vectors.codes(), slots, &mut dots);
        let factors = self.vectors.factors();
        for (&slot, dot) in slots.iter().zip(dots) {
            let cosine = dot as f32 * (factors[slot as usize] * self.query.factor);
            self.best.offer(rank(cosine), slot);
        }
    }

    /// The slots of the mask whose one-bit codes are nearest, ascending. None where the int8 codes of all
    /// are read sooner.
    fn shortlist(&self, mask: &[u64], k: usize) -> Option<Vec<u32>> {
        let passing = bits::count(mask);
        let worth = passing > SIGNS_FROM && passing * SIGNS_PER_CODE > mask.len() * BLOCK;
        let signs = self.vectors.signs().filter(|_| worth)?;
        let part = passing / SHORTLIST_PART;
        let wanted =
            part.clamp(SHORTLIST_MIN, SHORTLIST_MAX).max(k.saturating_mul(SHORTLIST_TIMES));
        Some(signs.shortlist(&self.query.values, mask, wanted))
    }
}
