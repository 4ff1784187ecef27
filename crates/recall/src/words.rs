//! Search by words: BM25 over the inverted lists, with pruning.
//!
//! Slots are visited in windows of one chunk. In each window the terms are divided (MaxScore, with
//! bounds per chunk): those that together cannot lift a document into the best k are not walked
//! but only looked up for documents that the others brought forward. The others are added up into
//! a small array that stays in the first-level cache, which costs about a nanosecond a posting.

use crate::bits;
use crate::bm25::{self, Saturation, TERMS_MAX};
use crate::document::Hit;
use crate::filter::Selection;
use crate::index::Index;
use crate::postings::{self, Bound, CHUNK, Chunk, List};
use crate::text::asked_terms;
use crate::top::Top;

pub(crate) fn search(selection: &Selection<'_>, query: &str, k: usize) -> Vec<Hit> {
    let index = selection.index;
    if k == 0 || selection.is_empty() {
        return Vec::new();
    }
    let mut terms = terms(index, query);
    if terms.is_empty() {
        return Vec::new();
    }
    let saturation = Saturation::new(index.average_length());
    let mut scorer = Scorer::new(selection, &saturation, Top::new(index.keys(), k));
    for window in 0..index.len().div_ceil(CHUNK) {
        scorer.window(window, &mut terms);
    }
    scorer.top.into_sorted().map(|(score, key)| Hit { key, score: bm25::score(score) }).collect()
}

/// One term of the query, and where the search stands in its list.
struct Term<'a> {
    list: &'a List,
    weight: u64,
    /// For sparse lists: the first posting that is not yet behind the current window.
    cursor: usize,
    here: Part<'a>,
    /// The most this term can add in the current window; 0 if it does not occur there.
    bound: u32,
}

/// The part of a list that lies in the current window.
#[derive(Clone, Copy)]
enum Part<'a> {
    Sparse(&'a [u32]),
    Dense(&'a Chunk),
}

impl Part<'_> {
    fn len(self) -> usize {
        match self {
            Part::Sparse(list) => list.len(),
            Part::Dense(chunk) => chunk.postings.len(),
        }
    }
}

/// The query's terms that occur at all; if there are too many, the rarest.
fn terms<'a>(index: &'a Index, query: &str) -> Vec<Term<'a>> {
    let list = |(term, asked): (String, u32)| {
        let id = index.lexicon().lookup(&term)?;
        Some((index.lexicon().get(id), asked))
    };
    let mut lists: Vec<(&List, u32)> = asked_terms(query).into_iter().filter_map(list).collect();
    if lists.len() > TERMS_MAX {
        lists.sort_by_key(|(list, _)| list.len());
        lists.truncate(TERMS_MAX);
    }
    let term = |(list, asked): (&'a List, u32)| Term {
        list,
        weight: bm25::weight(index.len(), list.len(), asked),
        cursor: 0,
        here: Part::Sparse(&[]),
        bound: 0,
    };
    lists.into_iter().map(term).collect()
}

impl Term<'_> {
    fn enter(&mut self, window: usize, saturation: &Saturation) {
        let end = (window + 1) * CHUNK;
        let bound = match self.list {
            List::One(packed, bound) => {
                let inside = postings::unpack(*packed).0 as usize / CHUNK == window;
                self.here = Part::Sparse(if inside { std::slice::from_ref(packed) } else { &[] });
                *bound
            }
            List::Sparse(list, bound) => {
                let rest = list.get(self.cursor..).unwrap_or_default();
                let inside = rest
                    .iter()
                    .take_while(|&&packed| (postings::unpack(packed).0 as usize) < end)
                    .count();
                self.here = Part::Sparse(&rest[..inside]);
                self.cursor += inside;
                *bound
            }
            List::Dense(dense) => {
                let chunk = dense.chunks.get(window);
                self.here = chunk.map_or(Part::Sparse(&[]), Part::Dense);
                chunk.map_or_else(Bound::default, |chunk| chunk.bound)
            }
        };
        self.bound =
            if self.here.len() == 0 { 0 } else { bound.best(self.weight, saturation).max(1) };
    }
}

struct Scorer<'a> {
    selection: &'a Selection<'a>,
    saturation: &'a Saturation,
    top: Top<'a>,
    /// The scores of the window's slots; all zero between windows.
    sums: Box<[u32; CHUNK]>,
    /// The window's length codes, padded, so that a posting's offset is always within.
    lengths: Box<[u8; CHUNK]>,
    /// Which groups of 32 slots have a score.
    touched: u64,
}

const GROUP: usize = CHUNK / 64;
/// Looking a slot up in a chunk costs about as much as adding up this many postings.
const LOOKUP_COST: usize = 12;

impl<'a> Scorer<'a> {
    fn new(selection: &'a Selection<'a>, saturation: &'a Saturation, top: Top<'a>) -> Self {
        let (sums, lengths) = (Box::new([0; CHUNK]), Box::new([0; CHUNK]));
        Self { selection, saturation, top, sums, lengths, touched: 0 }
    }

    fn window(&mut self, window: usize, terms: &mut [Term<'_>]) {
        for term in terms.iter_mut() {
            term.enter(window, self.saturation);
        }
        if !self.any_selected(window) {
            return;
        }
        terms.sort_unstable_by_key(|term| term.bound);
        let first = terms.partition_point(|term| term.bound == 0);
        let terms = &terms[first..];
        let threshold = self.top.threshold();
        let looked_up = divide(terms, threshold);
        if looked_up == terms.len() {
            return;
        }
        let (looked_up, walked) = terms.split_at(looked_up);
        let lengths = self.selection.index.length_codes();
        let lengths = &lengths[window * CHUNK..lengths.len().min((window + 1) * CHUNK)];
        self.lengths[..lengths.len()].copy_from_slice(lengths);
        for term in walked {
            self.add_up(term);
        }
        self.collect(window, looked_up);
    }

    fn any_selected(&self, window: usize) -> bool {
        let Some(words) = &self.selection.words else { return true };
        let start = window * (CHUNK / 64);
        words[start..words.len().min(start + CHUNK / 64)].iter().any(|&word| word != 0)
    }

    fn add_up(&mut self, term: &Term<'_>) {
        match term.here {
            Part::Dense(chunk) => {
                for &posting in &chunk.postings {
                    self.add(term.weight, postings::offset(posting), postings::frequency(posting));
                }
            }
            Part::Sparse(list) => {
                for &packed in list {
                    let (slot, tf) = postings::unpack(packed);
                    self.add(term.weight, slot, tf);
                }
            }
        }
    }

    #[inline]
    fn add(&mut self, weight: u64, slot: u32, tf: u32) {
        let offset = slot as usize % CHUNK;
        self.sums[offset] += self.saturation.apply(weight, tf, self.lengths[offset]);
        self.touched |= 1 << (offset / GROUP);
    }

    /// Offers the documents of the window that may be among the best, and clears the sums.
    fn collect(&mut self, window: usize, looked_up: &[Term<'_>]) {
        let possible: u32 = looked_up.iter().map(|term| term.bound).sum();
        let touched = std::mem::take(&mut self.touched);
        for group in bits::positions(touched) {
            let start = group as usize * GROUP;
            let mut sums = [0; GROUP];
            sums.swap_with_slice(&mut self.sums[start..start + GROUP]);
            let need = self.top.threshold().saturating_sub(possible).max(1);
            // The greatest of all, as a vector unit finds it, instead of the first that suffices.
            if sums.iter().fold(0, |max, &sum| sum.max(max)) < need {
                continue;
            }
            for (offset, sum) in (start..).zip(sums) {
                if sum > 0 && sum + possible >= self.top.threshold() {
                    self.consider(window, offset, sum, possible, looked_up);
                }
            }
        }
    }

    fn consider(
        &mut self,
        window: usize,
        offset: usize,
        mut sum: u32,
        mut possible: u32,
        looked_up: &[Term<'_>],
    ) {
        let slot = slot(window, offset);
        if self.selection.words.as_ref().is_some_and(|words| !bits::get(words, slot)) {
            return;
        }
        for term in looked_up.iter().rev() {
            if sum + possible < self.top.threshold() {
                return;
            }
            possible -= term.bound;
            let tf = match term.here {
                Part::Dense(chunk) => {
                    chunk.find(offset).map(|at| postings::frequency(chunk.postings[at]))
                }
                Part::Sparse(list) => list
                    .binary_search_by_key(&slot, |&packed| postings::unpack(packed).0)
                    .ok()
                    .map(|at| postings::unpack(list[at]).1),
            };
            if let Some(tf) = tf {
                sum += self.saturation.apply(term.weight, tf, self.lengths[offset]);
            }
        }
        self.top.offer(sum, slot);
    }
}

/// How many of the terms, which are in ascending order of their bounds, need not be walked.
/// Equal scores can still win by their key, so a bound equal to the threshold counts.
fn divide(terms: &[Term<'_>], threshold: u32) -> usize {
    let mut sum = 0;
    let mut looked_up = 0;
    for term in terms {
        sum += term.bound;
        if sum >= threshold {
            break;
        }
        looked_up += 1;
    }
    if looked_up == terms.len() {
        return looked_up;
    }
    // Where the walked terms bring forward many documents, walking another is cheaper.
    let mut walked: usize = terms[looked_up..].iter().map(|term| term.here.len()).sum();
    while looked_up > 0 && terms[looked_up - 1].here.len() < walked * LOOKUP_COST {
        looked_up -= 1;
        walked += terms[looked_up].here.len();
    }
    looked_up
}

fn slot(window: usize, offset: usize) -> u32 {
    u32::try_from(window * CHUNK + offset).unwrap_or(u32::MAX)
}
