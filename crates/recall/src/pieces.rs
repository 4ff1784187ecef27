//! The vectors of a text's pieces, one bit a dimension, and how near a query's pieces come to them.
//!
//! A text has about as many pieces as words, and the vector of each is as long as that of the whole:
//! in full they would be ten times the size of everything else. Their signs alone tell the angle
//! between two of them well enough, and a maximum over many forgives the rest.

use std::f32::consts::PI;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::document::Key;
use crate::index::Index;
use crate::kernels::pieces::{self, Asked};
use crate::side::{self, Column};

const BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = BITS / 8;
/// An index holds the pieces of texts that have no more than this: a sentence or two, of which a
/// question looks at many. Those of long texts would take more room than all else together.
const PIECES_HELD_MAX: usize = 96;

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

/// A text's pieces as they are compared: side by side.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    columns: Box<[Column]>,
    pieces: usize,
}

impl Kept {
    /// Nothing, if there are none or they are no such pieces.
    fn new(packed: &[u8], dimensions: usize) -> Option<Self> {
        let piece = piece_bytes(dimensions);
        let pieces = packed.len().checked_div(piece)?;
        let whole = pieces * piece == packed.len();
        (whole && pieces > 0).then(|| Self { columns: side::from_rows(packed, piece), pieces })
    }
}

/// A query's pieces, to be compared with those of many texts.
pub struct PieceQuery {
    asked: Asked,
    dimensions: usize,
    /// About the cosine of two pieces that differ in so many bits.
    cosines: Arc<[f32]>,
}

impl PieceQuery {
    /// Takes packed pieces of so many dimensions.
    pub fn new(query: &[u8], dimensions: usize) -> Self {
        let asked = Asked::new(query, piece_bytes(dimensions));
        Self { asked, dimensions, cosines: cosines(dimensions) }
    }

    /// How near it comes to a text's packed pieces. Nothing, if the text has none or they are no such
    /// pieces.
    pub fn likeness(&self, text: &[u8]) -> Option<Likeness> {
        Some(self.with(&Kept::new(text, self.dimensions)?))
    }

    fn with(&self, text: &Kept) -> Likeness {
        let cosine = |differing: u32| {
            let differing = usize::try_from(differing).unwrap_or(usize::MAX);
            self.cosines.get(differing).copied().unwrap_or(-1.0)
        };
        let fewest = self.asked.fewest_differences(&text.columns);
        Likeness { nearest: fewest.into_iter().map(cosine).collect(), pieces: text.pieces }
    }
}

/// About the cosines of two pieces that differ in no bit, in one, and so on. To calculate them takes
/// longer than to compare a few texts, and whoever asks has one model: so the last ones are kept.
#[expect(clippy::cast_precision_loss, reason = "so few bits are exact")]
fn cosines(dimensions: usize) -> Arc<[f32]> {
    static LAST: LazyLock<Mutex<Arc<[f32]>>> = LazyLock::new(Mutex::default);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.len() != dimensions + 1 {
        let cosine = |differing: usize| (PI * differing as f32 / dimensions as f32).cos();
        *last = (0..=dimensions).map(cosine).collect();
    }
    Arc::clone(&last)
}

/// The pieces of a document as an index holds them.
#[derive(Debug, Clone, Default)]
pub(crate) enum Pieces {
    #[default]
    None,
    Here(Kept),
    /// There are so many that they are left where they came from.
    Elsewhere,
}

impl Pieces {
    pub(crate) fn new(packed: &[u8], dimensions: usize) -> Self {
        match Kept::new(packed, dimensions) {
            None => Self::None,
            Some(kept) if kept.pieces > PIECES_HELD_MAX => Self::Elsewhere,
            Some(kept) => Self::Here(kept),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        if let Self::Here(kept) = self { size_of_val(&*kept.columns) } else { 0 }
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
        let query = PieceQuery::new(query, self.dimensions().unwrap_or(0));
        let held: Vec<Option<&Pieces>> = keys.iter().map(|key| self.pieces_of(key)).collect();
        let of = |at: usize| {
            // They lie scattered: the next ones arrive while these are compared.
            if let Some(Some(Pieces::Here(next))) = held.get(at + 1) {
                pieces::fetch(&next.columns);
            }
            match held[at] {
                Some(Pieces::Here(text)) => Compared::Likeness(query.with(text)),
                Some(Pieces::Elsewhere) => Compared::Elsewhere,
                Some(Pieces::None) | None => Compared::None,
            }
        };
        (0..held.len()).map(of).collect()
    }
}

/// How many bytes a packed piece of so many dimensions has.
fn piece_bytes(dimensions: usize) -> usize {
    dimensions.div_ceil(BITS) * WORD_BYTES
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
        PieceQuery::new(&query, DIMENSIONS).likeness(&text).unwrap().nearest
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
        assert_eq!(PieceQuery::new(&packed, DIMENSIONS).likeness(&packed).unwrap().pieces, 6);
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
        let near =
            PieceQuery::new(&query, DIMENSIONS).likeness(&short).map(Compared::Likeness).unwrap();
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
            assert_eq!(PieceQuery::new(&query, dimensions).likeness(text), None);
        }
        let odd = pack_pieces(&[0.5, -0.5, 0.5, -0.5, -0.5], 5);
        assert!(PieceQuery::new(&odd, 5).likeness(&odd).unwrap().nearest[0] > 0.99);
        assert!(PieceQuery::new(&[], 5).likeness(&odd).unwrap().nearest.is_empty());
    }
}
