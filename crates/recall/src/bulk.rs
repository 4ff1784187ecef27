//! Many documents at once: tokenised on several threads, then listed on one.
//!
//! Tokenising and stemming are most of the work of a rebuild and need no shared state. Each thread
//! numbers the terms it meets for itself and remembers the stem of every word it has seen; the
//! numbers are translated once per distinct term when the lists are written.

use crate::analysis::{Analyzer, Stems};
use crate::document::{Document, Error};
use crate::index::{Index, Terms};
use crate::interner::{Interner, Text};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Documents per round; bounds the memory between tokenising and listing.
const ROUND: usize = 32_768;
/// Below this many documents a thread costs more than it saves.
const PER_THREAD_MIN: usize = 256;
const THREADS_MAX: usize = 8;

/// Adds many documents in batches, as they come from a database, and remembers from batch to batch
/// which words it has met. Made by [`Index::loader`].
pub struct Loader<'a> {
    index: &'a mut Index,
    workers: Vec<Worker>,
    /// Replacing a document may release ids and so end the translations made before it; a new
    /// epoch then starts, in which each term is looked up again.
    epoch: u32,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(index: &'a mut Index) -> Self {
        Self { index, workers: Vec::new(), epoch: 1 }
    }

    /// Adds or replaces documents, tokenising on all processors. Of several documents with one
    /// key the last stays. On an error nothing has changed. Batches of 10,000 or more pay best.
    pub fn extend(&mut self, documents: &[Document<'_>]) -> Result<(), Error> {
        self.index.check_all(documents)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        self.workers.resize_with(threads, Worker::new);
        for round in documents.chunks(ROUND) {
            let share = round.len().div_ceil(threads).max(PER_THREAD_MIN);
            std::thread::scope(|scope| {
                let mut shares = round.chunks(share).zip(&mut self.workers);
                let own = shares.next();
                for (documents, worker) in shares {
                    scope.spawn(|| worker.tokenise(documents));
                }
                if let Some((documents, worker)) = own {
                    worker.tokenise(documents);
                }
            });
            for (documents, worker) in round.chunks(share).zip(&mut self.workers) {
                worker.list(documents, self.index, &mut self.epoch);
            }
        }
        self.index.refresh_vectors();
        Ok(())
    }
}

struct Worker {
    analyzer: Analyzer,
    /// Words as they stand in texts, to this worker's number of their term.
    words: Words,
    terms: Interner<()>,
    /// The terms in the order of their numbers.
    vocabulary: Vec<String>,
    /// How often each term is in the current document; all zero between documents.
    frequencies: Vec<u32>,
    /// Terms and frequencies of all documents, one after the other.
    counts: Vec<(u32, u32)>,
    /// Where each document's counts end, and its length.
    documents: Vec<(usize, u32)>,
    /// This worker's numbers to the index's ids, and the epoch in which they hold.
    ids: Vec<(u32, u32)>,
}

impl Worker {
    fn new() -> Self {
        Self {
            analyzer: Analyzer::default(),
            words: Words::default(),
            terms: Interner::new(),
            vocabulary: Vec::new(),
            frequencies: Vec::new(),
            counts: Vec::new(),
            documents: Vec::new(),
            ids: Vec::new(),
        }
    }

    fn tokenise(&mut self, documents: &[Document<'_>]) {
        let Self { words, terms, vocabulary, frequencies, counts, .. } = self;
        let mut stems = Stems::default();
        for document in documents {
            let start = counts.len();
            let mut length = 0;
            self.analyzer.tokens(document.text, &mut |token| {
                let number = words.number(token, || {
                    let term = stems.term(token);
                    let number = terms.intern(term);
                    if number as usize == vocabulary.len() {
                        vocabulary.push(term.to_owned());
                        frequencies.push(0);
                    }
                    number
                });
                let frequency = &mut frequencies[number as usize];
                if *frequency == 0 {
                    counts.push((number, 0));
                }
                *frequency += 1;
                length += 1;
            });
            for (number, frequency) in &mut counts[start..] {
                *frequency = std::mem::take(&mut frequencies[*number as usize]);
            }
            self.documents.push((counts.len(), length));
        }
    }

    fn list(&mut self, documents: &[Document<'_>], index: &mut Index, epoch: &mut u32) {
        let mut start = 0;
        self.ids.resize(self.vocabulary.len(), (0, 0));
        let mut terms = Vec::new();
        for (document, &(end, length)) in documents.iter().zip(&self.documents) {
            let replaces = index.contains(&document.key);
            terms.clear();
            for &(number, tf) in &self.counts[start..end] {
                let (id, known) = &mut self.ids[number as usize];
                if *known != *epoch {
                    *id = index.lexicon_mut().intern(&self.vocabulary[number as usize]);
                    *known = *epoch;
                }
                terms.push((*id, tf));
            }
            terms.sort_unstable_by_key(|&(id, _)| id);
            index.write(document, &Terms { counts: &terms, length });
            start = end;
            *epoch += u32::from(replaces);
        }
        self.counts.clear();
        self.documents.clear();
    }
}

/// Words to the numbers of their terms, with the words inside the table: a look-up for every word
/// of every text is the greatest part of a rebuild, and costs what it misses in the cache.
#[derive(Default)]
struct Words {
    hasher: DefaultHashBuilder,
    table: HashTable<(Text, u32)>,
}

impl Words {
    fn number(&mut self, word: &str, make: impl FnOnce() -> u32) -> u32 {
        let Self { hasher, table } = self;
        let hash = hasher.hash_one(word.as_bytes());
        let found = table.find(hash, |(text, _)| text.bytes() == word.as_bytes());
        if let Some(&(_, number)) = found {
            return number;
        }
        let number = make();
        table.insert_unique(hash, (Text::new(word), number), |(text, _)| {
            hasher.hash_one(text.bytes())
        });
        number
    }
}
