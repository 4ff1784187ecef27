//! What goes into the index and what comes out: documents, hits, and the reasons to refuse.

use crate::code::Code;

/// A document's name: the bytes of its UUID. Of two equal scores the greater key comes first,
/// which for time-ordered UUIDs means the newer document.
pub type Key = [u8; 16];

/// An exact label such as `kind:fact`, by which a [`crate::Filter`] selects.
pub type Tag<'a> = &'a str;

/// How many numbers each document carries for range filters. The caller gives them meaning.
pub const NUMBERS: usize = 4;

/// One document to be indexed.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    pub key: Key,
    pub text: &'a str,
    pub tags: &'a [Tag<'a>],
    pub numbers: [i64; NUMBERS],
    /// Without a vector a document is found by its words only.
    pub vector: Option<Code<'a>>,
    /// The packed vectors of its pieces, if it has any.
    pub pieces: &'a [u8],
}

/// One result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub key: Key,
    /// BM25 for words, the approximate cosine for vectors; greater is better in both.
    pub score: f32,
}

/// Why the index refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("a vector code has 4 bytes of scale and 1 to 4096 bytes of values, got {0} bytes")]
    CodeLength(usize),
    #[error("the scale of a vector code must be finite and not negative")]
    CodeScale,
    #[error("the vector has {got} dimensions, the index has {expected:?}")]
    Dimensions { expected: Option<usize>, got: usize },
    #[error("the index is full")]
    Full,
}
