//! The index against the plainest thing that could be right: a list of documents, each scored
//! from its own text on every query.

use crate::analysis::Analyzer;
use crate::bm25::{B, K1, TF_MAX, length_code, length_of};
use crate::top::rank;
use crate::{Clause, Code, Document, Filter, Hit, Index, Key, NUMBERS, cosine, fold, quantise};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
struct Entry {
    text: String,
    tags: Vec<String>,
    numbers: [i64; NUMBERS],
    vector: Option<Vec<f32>>,
}

impl Entry {
    fn terms(&self) -> Vec<String> {
        let mut terms = Vec::new();
        Analyzer::default().terms(&self.text, &mut |term| terms.push(term.to_owned()));
        terms
    }

    fn passes(&self, filter: &Filter) -> bool {
        filter.clauses.iter().all(|clause| match clause {
            Clause::AnyTag(tags) => tags.iter().any(|tag| self.tags.contains(tag)),
            Clause::NoTag(tags) => !tags.iter().any(|tag| self.tags.contains(tag)),
            Clause::Range { column, min, max } => {
                self.numbers.get(*column).is_some_and(|n| min <= n && n <= max)
            }
        })
    }
}

#[derive(Debug, Default)]
struct Oracle(BTreeMap<Key, Entry>);

impl Oracle {
    /// The scores of all documents that match, as BM25 defines them.
    fn words(&self, query: &str, filter: &Filter) -> BTreeMap<Key, f64> {
        let documents: Vec<(Key, &Entry, Vec<String>)> =
            self.0.iter().map(|(key, entry)| (*key, entry, entry.terms())).collect();
        let length = |terms: &[String]| length_of(length_code(u32::try_from(terms.len()).unwrap()));
        let n = documents.len() as f64;
        let average = documents.iter().map(|(.., terms)| f64::from(length(terms))).sum::<f64>() / n;
        let mut asked: Vec<String> = Analyzer::default()
            .query(&fold::normalise(query))
            .into_iter()
            .map(|asked| asked.term)
            .collect();
        asked.sort();
        let mut scores = BTreeMap::new();
        for said in asked.chunk_by(|a, b| a == b) {
            let (term, times) = (said[0].clone(), said.len() as f64);
            let df = documents.iter().filter(|(.., terms)| terms.contains(&term)).count() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for (key, entry, terms) in &documents {
                let tf = terms.iter().filter(|other| **other == term).count();
                let tf = tf.min(TF_MAX as usize) as f64;
                if tf > 0.0 && entry.passes(filter) {
                    let (k1, b) = (f64::from(K1), f64::from(B));
                    let norm = k1 * (1.0 - b + b * f64::from(length(terms)) / average.max(1.0));
                    *scores.entry(*key).or_insert(0.0) +=
                        times * idf * tf * (k1 + 1.0) / (tf + norm);
                }
            }
        }
        scores
    }

    fn nearest(&self, query: &[f32], filter: &Filter) -> Vec<(f32, Key)> {
        let passing = self.0.iter().filter(|(_, entry)| entry.passes(filter));
        let mut found: Vec<(f32, Key)> = passing
            .filter_map(|(key, entry)| Some((cosine(query, entry.vector.as_ref()?), *key)))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found
    }
}

#[derive(Debug, Clone)]
enum Change {
    Put(u8, Entry),
    Extend(Vec<(u8, Entry)>),
    Remove(u8),
    SetVector(u8, Option<Vec<f32>>),
}

const DIMENSIONS: usize = 8;

fn key(n: u8) -> Key {
    let mut key = [0; 16];
    key[3] = n;
    key
}

fn put(index: &mut Index, entries: &[(Key, Entry)]) {
    let tags: Vec<Vec<&str>> =
        entries.iter().map(|(_, e)| e.tags.iter().map(String::as_str).collect()).collect();
    let codes: Vec<Option<Vec<u8>>> =
        entries.iter().map(|(_, e)| e.vector.as_deref().map(quantise)).collect();
    let documents: Vec<Document<'_>> = entries
        .iter()
        .zip(&tags)
        .zip(&codes)
        .map(|(((key, entry), tags), code)| Document {
            key: *key,
            text: &entry.text,
            tags,
            numbers: entry.numbers,
            vector: code.as_ref().map(|code| Code::new(code).unwrap()),
            pieces: &[],
        })
        .collect();
    match &documents[..] {
        [one] => index.put(one).unwrap(),
        many => index.extend(many).unwrap(),
    }
}

fn apply(index: &mut Index, oracle: &mut Oracle, change: Change) {
    match change {
        Change::Put(n, entry) => {
            put(index, &[(key(n), entry.clone())]);
            oracle.0.insert(key(n), entry);
        }
        Change::Extend(entries) => {
            let entries: Vec<_> = entries.into_iter().map(|(n, e)| (key(n), e)).collect();
            put(index, &entries);
            oracle.0.extend(entries);
        }
        Change::Remove(n) => {
            assert_eq!(index.remove(&key(n)), oracle.0.remove(&key(n)).is_some());
        }
        Change::SetVector(n, vector) => {
            let bytes = vector.as_deref().map(quantise);
            let code = bytes.as_ref().map(|bytes| Code::new(bytes).unwrap());
            let found = index.set_vector(&key(n), code).unwrap();
            assert_eq!(found, oracle.0.contains_key(&key(n)));
            if let Some(entry) = oracle.0.get_mut(&key(n)) {
                entry.vector = vector;
            }
        }
    }
}

fn check_words(index: &Index, oracle: &Oracle, query: &str, filter: &Filter, k: usize) {
    let hits = index.words(query, filter, k);
    let expected = oracle.words(query, filter);
    assert_eq!(hits.len(), expected.len().min(k), "{query} {filter:?}");
    let mut ranked: Vec<f64> = expected.values().copied().collect();
    ranked.sort_by(|a, b| b.total_cmp(a));
    for (hit, best) in hits.iter().zip(ranked) {
        assert!((f64::from(hit.score) - best).abs() < 1e-4, "{hit:?} {best}");
        assert!((f64::from(hit.score) - expected[&hit.key]).abs() < 1e-4);
        assert!(!index.matched_terms(query, &hit.key).is_empty());
    }
    check_order(&hits);
}

fn check_order(hits: &[Hit]) {
    let order = |hit: &Hit| (rank(hit.score), hit.key);
    assert!(hits.is_sorted_by(|a, b| order(a) > order(b)));
}

fn check_nearest(index: &Index, oracle: &Oracle, query: &[f32], filter: &Filter, k: usize) {
    let hits = index.nearest(query, filter, k);
    let expected = oracle.nearest(query, filter);
    assert_eq!(hits.len(), expected.len().min(k));
    for (hit, (best, _)) in hits.iter().zip(&expected) {
        assert!((hit.score - best).abs() < 0.02, "{hit:?} {best}");
    }
    check_order(&hits);
}

fn entry() -> impl Strategy<Value = Entry> {
    let text = prop_oneof![
        8 => proptest::collection::vec("[abc]{1,2}|the|run|running|東京|user_id", 0..8)
            .prop_map(|words| words.join(" ")),
        1 => any::<String>(),
    ];
    let tags = proptest::collection::vec("[xyz]", 0..3);
    let numbers = proptest::array::uniform4(-3_i64..3);
    let vector = proptest::option::of(vector());
    (text, tags, numbers, vector).prop_map(|(text, tags, numbers, vector)| Entry {
        text,
        tags,
        numbers,
        vector,
    })
}

fn vector() -> impl Strategy<Value = Vec<f32>> {
    proptest::collection::vec(-1.0_f32..1.0, DIMENSIONS)
}

fn change() -> impl Strategy<Value = Change> {
    let n = 0_u8..24;
    prop_oneof![
        4 => (n.clone(), entry()).prop_map(|(n, entry)| Change::Put(n, entry)),
        1 => proptest::collection::vec((n.clone(), entry()), 2..12).prop_map(Change::Extend),
        3 => n.clone().prop_map(Change::Remove),
        1 => (n, proptest::option::of(vector())).prop_map(|(n, v)| Change::SetVector(n, v)),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let tags = proptest::collection::vec("[wxyz]", 0..3);
    let clause = prop_oneof![
        tags.clone().prop_map(Clause::AnyTag),
        tags.prop_map(Clause::NoTag),
        (0_usize..5, -3_i64..3, -3_i64..3).prop_map(|(column, min, max)| Clause::Range {
            column,
            min,
            max
        }),
    ];
    proptest::collection::vec(clause, 0..3).prop_map(|clauses| Filter { clauses })
}

proptest! {
    #[test]
    fn any_sequence_of_changes_equals_the_oracle(
        changes in proptest::collection::vec(change(), 0..60),
        queries in proptest::collection::vec(
            ("([abc]{1,2} |the |runs |京 |東京 |userId ){0,5}", filter(), 0_usize..8, vector()),
            4,
        ),
    ) {
        let (mut index, mut oracle) = (Index::new(Some(DIMENSIONS)), Oracle::default());
        for change in changes {
            apply(&mut index, &mut oracle, change);
            prop_assert_eq!(index.len(), oracle.0.len());
        }
        let vectors = oracle.0.values().filter(|entry| entry.vector.is_some()).count();
        prop_assert_eq!(index.vectors_len(), vectors);
        for (query, filter, k, vector) in &queries {
            let passing = oracle.0.values().filter(|entry| entry.passes(filter)).count();
            prop_assert_eq!(index.select(filter).len(), passing);
            check_words(&index, &oracle, query, filter, *k);
            check_nearest(&index, &oracle, vector, filter, *k);
        }
        for n in 0..24 {
            prop_assert_eq!(index.contains(&key(n)), oracle.0.contains_key(&key(n)));
            index.remove(&key(n));
        }
        prop_assert_eq!((index.len(), index.vectors_len(), index.is_empty()), (0, 0, true));
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), query in any::<String>()) {
        let mut index = Index::new(None);
        let document =
            Document { key: key(1), text: &text, tags: &[&query], numbers: [0; 4], vector: None, pieces: &[] };
        index.put(&document).unwrap();
        index.words(&query, &Filter::all(), 10);
        index.matched_terms(&query, &key(1));
        let has_words = index.lexicon().len() > 0;
        let own = index.words(&text, &Filter::all(), 10);
        prop_assert_eq!(own.len(), usize::from(has_words));
        prop_assert!(index.remove(&key(1)));
    }
}

/// Numbers that look random and are the same every time.
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// Small numbers often, great ones seldom.
    fn skewed(&mut self, limit: u64) -> u64 {
        let bound = self.below(limit) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }

    fn text(&mut self, words: u64) -> String {
        let words: Vec<String> =
            (0..self.below(words)).map(|_| format!("w{}", self.skewed(400))).collect();
        words.join(" ")
    }
}

/// Large enough for chunked lists, several windows and real pruning.
#[test]
fn pruning_changes_nothing() {
    let mut noise = Noise(5);
    let (mut index, mut oracle) = (Index::new(None), Oracle::default());
    let make = |noise: &mut Noise| Entry {
        text: noise.text(30),
        tags: vec![format!("t{}", noise.below(20)), "all".into()],
        numbers: [noise.below(100).cast_signed(), 0, 0, 0],
        vector: None,
    };
    let wide = |n: u64| {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&n.to_be_bytes());
        key
    };
    let first: Vec<_> = (0..9000).map(|n| (wide(n), make(&mut noise))).collect();
    put(&mut index, &first);
    oracle.0.extend(first);
    for _ in 0..6000 {
        let key = wide(noise.below(9500));
        if noise.below(2) == 0 {
            let entry = make(&mut noise);
            put(&mut index, &[(key, entry.clone())]);
            oracle.0.insert(key, entry);
        } else {
            assert_eq!(index.remove(&key), oracle.0.remove(&key).is_some());
        }
    }
    let some = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let filters = [
        Filter::all(),
        Filter::all().and(Clause::AnyTag(some(&["t3"]))),
        Filter::all().and(Clause::NoTag(some(&["t3", "t4"]))),
        Filter::all().and(Clause::AnyTag(some(&["all"]))).and(Clause::Range {
            column: 0,
            min: 20,
            max: 60,
        }),
    ];
    for round in 0..24 {
        let query = noise.text(8);
        check_words(&index, &oracle, &query, &filters[round % 4], [1, 10, 100][round % 3]);
    }
}
