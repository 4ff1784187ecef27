//! Which documents a search may find.

use crate::bits;
use crate::document::{Hit, NUMBERS};
use crate::index::Index;

/// A conjunction of clauses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub clauses: Vec<Clause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// Has at least one of the tags; with no tags given, nothing does.
    AnyTag(Vec<String>),
    /// Has none of the tags.
    NoTag(Vec<String>),
    /// The number lies within `min..=max`. No document has a column beyond [`NUMBERS`].
    Range { column: usize, min: i64, max: i64 },
}

impl Filter {
    /// Everything passes.
    pub fn all() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn and(mut self, clause: Clause) -> Self {
        self.clauses.push(clause);
        self
    }
}

/// The documents of an index that pass a filter. It borrows the index, so it cannot outlive a
/// change; run several searches on it to evaluate the filter once.
#[derive(Debug)]
pub struct Selection<'a> {
    pub(crate) index: &'a Index,
    /// None when everything passes.
    pub(crate) words: Option<Vec<u64>>,
    count: usize,
}

impl<'a> Selection<'a> {
    pub(crate) fn new(index: &'a Index, filter: &Filter) -> Self {
        if filter.clauses.is_empty() {
            return Self { index, words: None, count: index.len() };
        }
        let mut words = None;
        for clause in &filter.clauses {
            if let Clause::AnyTag(tags) = clause {
                keep_tagged(index, tags, &mut words);
            }
        }
        let mut words = words.unwrap_or_else(|| bits::ones(index.len()));
        // Tags first: ranges look only at words in which something is left.
        for clause in &filter.clauses {
            match clause {
                Clause::AnyTag(_) => {}
                Clause::NoTag(tags) => {
                    for set in tags.iter().filter_map(|tag| index.tag(tag)) {
                        set.subtract_from(&mut words);
                    }
                }
                Clause::Range { column, min, max } if *column < NUMBERS => {
                    index.column(*column).keep_range(*min, *max, &mut words);
                }
                Clause::Range { .. } => words.fill(0),
            }
        }
        let count = bits::count(&words);
        // Where a filter leaves nothing out, as most do, nobody has to look at it again.
        Self { index, words: Some(words).filter(|_| count < index.len()), count }
    }

    /// How many documents pass.
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The best `k` documents for the words of a query.
    pub fn words(&self, query: &str, k: usize) -> Vec<Hit> {
        crate::words::search(self, query, k)
    }

    /// The `k` documents whose vectors are nearest to the query by approximate cosine.
    pub fn nearest(&self, query: &[f32], k: usize) -> Vec<Hit> {
        crate::nearest::search(self, query, k)
    }
}

fn keep_tagged(index: &Index, tags: &[String], words: &mut Option<Vec<u64>>) {
    let mut tagged = vec![0; bits::words_for(index.len())];
    for set in tags.iter().filter_map(|tag| index.tag(tag)) {
        set.union_into(&mut tagged);
    }
    match words {
        Some(words) => words.iter_mut().zip(tagged).for_each(|(word, other)| *word &= other),
        None => *words = Some(tagged),
    }
}
