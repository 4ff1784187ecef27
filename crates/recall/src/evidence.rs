//! What single documents hold of a query, for those who weigh documents together with what
//! stands around them.

use crate::bm25::length_of;
use crate::document::Key;
use crate::index::Index;
use crate::nearest;
use crate::postings::List;
use crate::text::asked_terms;

/// How often documents have the words of a query, and how common these are.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// How many documents there are.
    pub documents: usize,
    pub average_length: f32,
    /// How often the query asks for each of its terms.
    pub asked: Vec<u32>,
    /// In how many documents each term of the query is.
    pub held_by: Vec<usize>,
    /// How often documents have each term: all terms of the first key, then those of the next.
    pub counts: Vec<u32>,
    /// How many words each has. A key that is not there has none.
    pub lengths: Vec<u32>,
}

impl Index {
    /// What these documents hold of the query's words.
    pub fn evidence(&self, query: &str, keys: &[Key]) -> Evidence {
        let (terms, asked): (Vec<_>, _) = asked_terms(query).into_iter().unzip();
        let lists: Vec<_> = terms
            .iter()
            .map(|term| self.lexicon().lookup(term).map(|id| self.lexicon().get(id)))
            .collect();
        let slots = self.slots(keys);
        let length = |slot: &Option<u32>| {
            slot.map_or(0, |slot| length_of(self.length_codes()[slot as usize]))
        };
        let mut counts = vec![0; lists.len() * keys.len()];
        // One term after the other: what a list is looked up by stays at hand.
        for (place, list) in lists.iter().enumerate() {
            let Some(list) = list else { continue };
            let counts = counts.iter_mut().skip(place).step_by(lists.len());
            for (count, slot) in counts.zip(&slots) {
                *count = slot.and_then(|slot| list.frequency(slot)).unwrap_or(0);
            }
        }
        Evidence {
            documents: self.len(),
            average_length: self.average_length(),
            asked,
            held_by: lists.iter().map(|list| list.map_or(0, List::len)).collect(),
            counts,
            lengths: slots.iter().map(length).collect(),
        }
    }

    /// The approximate cosine of each of these documents; nothing for one without a vector.
    pub fn cosines(&self, query: &[f32], keys: &[Key]) -> Vec<Option<f32>> {
        nearest::cosines(self, query, &self.slots(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Code, quantise};
    use crate::document::{Document, NUMBERS};

    #[test]
    fn documents_tell_what_they_hold() {
        let mut index = Index::new(Some(2));
        let codes = [quantise(&[1.0, 0.0]), quantise(&[0.6, 0.8])];
        let texts = ["the boat, a red boat", "red paint", "nothing of the kind"];
        for (place, text) in texts.iter().enumerate() {
            let vector = codes.get(place).map(|code| Code::new(code).unwrap());
            let key = [u8::try_from(place).unwrap(); 16];
            let document =
                Document { key, text, tags: &[], numbers: [0; NUMBERS], vector, pieces: &[] };
            index.put(&document).unwrap();
        }
        let keys = [[0; 16], [1; 16], [2; 16], [9; 16]];
        let found = index.evidence("red boats", &keys);
        assert_eq!(found.asked, [1, 1]);
        assert_eq!(index.evidence("boat, red boats", &[]).asked, [2, 1]);
        assert_eq!((found.documents, found.held_by.as_slice()), (3, &[1, 2][..]));
        assert_eq!(found.counts, [2, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!((found.lengths[0], found.lengths[3]), (5, 0));
        assert!(index.evidence("", &keys).counts.is_empty());
        let cosines = index.cosines(&[1.0, 0.0], &keys);
        assert!((cosines[0].unwrap() - 1.0).abs() < 0.01, "{cosines:?}");
        assert!((cosines[1].unwrap() - 0.6).abs() < 0.01, "{cosines:?}");
        assert_eq!(cosines[2..], [None, None]);
        assert_eq!(index.cosines(&[1.0], &keys), [None; 4]);
    }
}
