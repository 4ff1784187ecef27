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
    /// For each key, in the order of the keys; nothing for one that is not there.
    pub items: Vec<Option<Occurrences>>,
}

/// How often one document has each term, and how many words it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    pub counts: Vec<u32>,
    pub length: u32,
}

impl Index {
    /// What these documents hold of the query's words.
    pub fn evidence(&self, query: &str, keys: &[Key]) -> Evidence {
        let (terms, asked): (Vec<_>, _) = asked_terms(query).into_iter().unzip();
        let lists: Vec<_> = terms
            .iter()
            .map(|term| self.lexicon().lookup(term).map(|id| self.lexicon().get(id)))
            .collect();
        let item = |key: &Key| {
            let slot = self.slot(key)?;
            let count =
                |list: &Option<_>| list.map_or(0, |list: &List| list.frequency(slot).unwrap_or(0));
            let length = length_of(self.length_codes()[slot as usize]);
            Some(Occurrences { counts: lists.iter().map(count).collect(), length })
        };
        Evidence {
            documents: self.len(),
            average_length: self.average_length(),
            asked,
            held_by: lists.iter().map(|list| list.map_or(0, List::len)).collect(),
            items: keys.iter().map(item).collect(),
        }
    }

    /// The approximate cosine of each of these documents; nothing for one without a vector.
    pub fn cosines(&self, query: &[f32], keys: &[Key]) -> Vec<Option<f32>> {
        let slots: Vec<_> = keys.iter().map(|key| self.slot(key)).collect();
        nearest::cosines(self, query, &slots)
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
        let counts = |item: &Option<Occurrences>| item.as_ref().map(|it| it.counts.clone());
        let counts: Vec<_> = found.items.iter().map(counts).collect();
        assert_eq!(counts, [Some(vec![2, 1]), Some(vec![0, 1]), Some(vec![0, 0]), None]);
        assert_eq!(found.items[0].as_ref().unwrap().length, 5);
        let cosines = index.cosines(&[1.0, 0.0], &keys);
        assert!((cosines[0].unwrap() - 1.0).abs() < 0.01, "{cosines:?}");
        assert!((cosines[1].unwrap() - 0.6).abs() < 0.01, "{cosines:?}");
        assert_eq!(cosines[2..], [None, None]);
        assert_eq!(index.cosines(&[1.0], &keys), [None; 4]);
    }
}
