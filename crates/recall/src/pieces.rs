//! The vectors of a text's pieces, one bit a dimension, and how near a query's pieces come to them.
//!
//! A text has about as many pieces as words, and the vector of each is as long as that of the whole:
//! in full they would be ten times the size of everything else. Their signs alone tell the angle
//! between two of them well enough, and a maximum over many forgives the rest.

use std::f32::consts::PI;

use crate::document::Key;
use crate::index::Index;
use crate::kernels;

const BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = BITS / 8;
/// An index holds the pieces of texts that have no more than this: a sentence or two, of which a
/// question looks at many. Those of long texts would take more room than all else together.
const PIECES_HELD_MAX: usize = 48;

/// Packs vectors of so many dimensions that stand one behind the other.
pub fn pack_pieces(pieces: &[f32], dimensions: usize) -> Vec<u8> {
    let word = |values: &[f32]| {
        let bit = |(place, value): (usize, &f32)| u64::from(*value > 0.0) << place;
        values.iter().enumerate().map(bit).fold(0, |word, bit| word | bit)
    };
    let rows = pieces.chunks_exact(dimensions.max(1));
    rows.flat_map(|row| row.chunks(BITS)).flat_map(|values| word(values).to_le_bytes()).collect()
}

/// How near a query's pieces come to those of one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// Of each of the query's, about the cosine with the nearest of the text's.
    pub nearest: Vec<f32>,
    /// How many the text has.
    pub pieces: usize,
}

/// Compares packed pieces of so many dimensions. Nothing, if the text has none or they are no
/// such pieces.
pub fn piece_likeness(query: &[u8], text: &[u8], dimensions: usize) -> Option<Likeness> {
    compare(&words(query), &kept(text, dimensions)?, dimensions)
}

/// A text's pieces as they are compared. Nothing, if it has none or they are no such pieces.
fn kept(text: &[u8], dimensions: usize) -> Option<Box<[u64]>> {
    let row_bytes = dimensions.div_ceil(BITS) * WORD_BYTES;
    let whole = row_bytes > 0 && text.len().is_multiple_of(row_bytes);
    (whole && !text.is_empty()).then(|| words(text))
}

fn compare(query: &[u64], text: &[u64], dimensions: usize) -> Option<Likeness> {
    let row_words = dimensions.div_ceil(BITS);
    let mut fewest = vec![u32::MAX; query.len().checked_div(row_words)?];
    kernels::fewest_differences(query, text, row_words, &mut fewest);
    #[expect(clippy::cast_precision_loss, reason = "so few bits are exact")]
    let cosine = |differing: &u32| (PI * *differing as f32 / dimensions as f32).cos();
    let nearest = fewest.iter().map(cosine).collect();
    Some(Likeness { nearest, pieces: text.len() / row_words })
}

/// The pieces of a document as an index holds them.
#[derive(Debug, Clone, Default)]
pub(crate) enum Pieces {
    #[default]
    None,
    Here(Box<[u64]>),
    /// There are so many that they are left where they came from.
    Elsewhere,
}

impl Pieces {
    pub(crate) fn new(packed: &[u8], dimensions: usize) -> Self {
        let row_bytes = dimensions.div_ceil(BITS) * WORD_BYTES;
        match kept(packed, dimensions) {
            None => Self::None,
            Some(_) if packed.len() > PIECES_HELD_MAX * row_bytes => Self::Elsewhere,
            Some(words) => Self::Here(words),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        if let Self::Here(words) = self { size_of_val(&**words) } else { 0 }
    }
}

/// What an index knows of one document's pieces.
#[derive(Debug, Clone, PartialEq)]
pub enum Compared {
    Likeness(Likeness),
    None,
    /// It does not hold them, but whoever told it of the document does.
    Elsewhere,
}

impl Index {
    /// How near a query's packed pieces come to those of each of these documents.
    pub fn compare_pieces(&self, query: &[u8], keys: &[Key]) -> Vec<Compared> {
        let (query, dimensions) = (words(query), self.dimensions().unwrap_or(0));
        let of = |key: &Key| match self.pieces_of(key) {
            Some(Pieces::Here(text)) => {
                compare(&query, text, dimensions).map_or(Compared::None, Compared::Likeness)
            }
            Some(Pieces::Elsewhere) => Compared::Elsewhere,
            Some(Pieces::None) | None => Compared::None,
        };
        keys.iter().map(of).collect()
    }
}

fn words(bytes: &[u8]) -> Box<[u64]> {
    let (words, _) = bytes.as_chunks::<WORD_BYTES>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    const DIMENSIONS: usize = 384;

    fn unit(noise: &mut Noise) -> Vec<f32> {
        let mut value = || noise.below(2_001) as f32 / 1_000.0 - 1.0;
        let raw: Vec<f32> = (0..DIMENSIONS).map(|_| (0..6).map(|_| value()).sum::<f32>()).collect();
        let length = raw.iter().map(|v| v * v).sum::<f32>().sqrt();
        raw.iter().map(|v| v / length).collect()
    }

    fn likeness(query: &[f32], text: &[f32]) -> Vec<f32> {
        let (query, text) = (pack_pieces(query, DIMENSIONS), pack_pieces(text, DIMENSIONS));
        piece_likeness(&query, &text, DIMENSIONS).unwrap().nearest
    }

    #[test]
    fn signs_tell_about_the_same_cosines() {
        let mut noise = Noise(3);
        for _ in 0..50 {
            let (a, b) = (unit(&mut noise), unit(&mut noise));
            let near: Vec<f32> = a.iter().zip(&b).map(|(a, b)| 0.8 * a + 0.6 * b).collect();
            let exact = crate::cosine(&a, &near);
            let found = likeness(&a, &near)[0];
            assert!((found - exact).abs() < 0.15, "{found} {exact}");
        }
    }

    #[test]
    fn each_piece_of_a_query_finds_its_nearest() {
        let mut noise = Noise(5);
        let pieces: Vec<_> = (0..6).map(|_| unit(&mut noise)).collect();
        let query = [pieces[4].clone(), unit(&mut noise), pieces[0].clone()].concat();
        let found = likeness(&query, &pieces.concat());
        assert!(found[0] > 0.99 && found[2] > 0.99 && found[1] < 0.3, "{found:?}");
        let packed = pack_pieces(&pieces.concat(), DIMENSIONS);
        assert_eq!(packed.len(), 6 * DIMENSIONS / 8);
        assert_eq!(piece_likeness(&packed, &packed, DIMENSIONS).unwrap().pieces, 6);
    }

    #[test]
    fn an_index_holds_the_pieces_of_short_texts_and_knows_of_others() {
        let mut noise = Noise(7);
        let pieces: Vec<_> = (0..=PIECES_HELD_MAX).map(|_| unit(&mut noise)).collect();
        let (long, short) = (pieces.concat(), pieces[..6].concat());
        let (long, short) = (pack_pieces(&long, DIMENSIONS), pack_pieces(&short, DIMENSIONS));
        let mut index = Index::new(Some(DIMENSIONS));
        for (n, pieces) in [&short[..], &long, &[], &short, &short[1..]].into_iter().enumerate() {
            let key = [u8::try_from(n).unwrap(); 16];
            let (tags, numbers) = (&[][..], [0; crate::NUMBERS]);
            let document = crate::Document { key, text: "", tags, numbers, vector: None, pieces };
            index.put(&document).unwrap();
        }
        let query = pack_pieces(&pieces[4], DIMENSIONS);
        let near = piece_likeness(&query, &short, DIMENSIONS).map(Compared::Likeness).unwrap();
        let keys: Vec<Key> = (0..6).map(|n| [n; 16]).collect();
        let (none, elsewhere) = (Compared::None, Compared::Elsewhere);
        let expected = [&near, &elsewhere, &none, &near, &none, &none];
        assert!(index.compare_pieces(&query, &keys).iter().eq(expected));
        let held = index.bytes();
        assert!(index.remove(&keys[0]), "the last takes its place");
        assert_eq!(
            index.compare_pieces(&query, &keys[..4]),
            [none, elsewhere, Compared::None, near]
        );
        assert!(index.bytes() < held);
    }

    #[test]
    fn what_cannot_be_pieces_of_the_model_is_none() {
        let query = pack_pieces(&[1.0; 8], 8);
        for (text, dimensions) in [(&[][..], 8), (&[0; 3][..], 8), (&[0; 8][..], 0)] {
            assert_eq!(piece_likeness(&query, text, dimensions), None);
        }
        let odd = pack_pieces(&[0.5, -0.5, 0.5, -0.5, -0.5], 5);
        assert!(piece_likeness(&odd, &odd, 5).unwrap().nearest[0] > 0.99);
        assert!(piece_likeness(&[], &odd, 5).unwrap().nearest.is_empty());
    }
}
