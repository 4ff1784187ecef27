//! The in-process search index: words (BM25), vectors (quantised) and filters over one set of
//! documents.
//!
//! It exists so that a memory is found the moment its write returns, at a cost of microseconds to
//! add and well under a millisecond to search. It holds no truth: everything in it can be rebuilt
//! from the database. It therefore knows no domain type, no SQL, no clock and no I/O, and it
//! caches nothing that a later change could make stale.
//!
//! The shape of it:
//!
//! - Documents live in *slots* `0..len`, always without holes: removing one moves the last
//!   document into its place. So nothing is ever dead, counts are exact, and nothing needs a
//!   compaction that would stall a write.
//! - [`Index::select`] turns a [`Filter`] into a bit set of slots; both searches run within it.
//! - Words: `tokenize` → `analysis` → `postings`, searched by `words` with pruning.
//! - Vectors: int8 codes scanned directly, or first thinned by one-bit codes when many pass.
//!
//! The workspace denies `unsafe`; this crate lifts that in `kernels` alone, where the SIMD loads
//! and the calls to functions compiled for newer processors need it. Each use carries its proof.

mod analysis;
mod bits;
mod bm25;
mod bulk;
mod code;
mod columns;
mod document;
mod evidence;
mod filter;
mod fold;
mod forward;
mod index;
mod interner;
mod kernels;
mod nearest;
mod pieces;
mod postings;
mod side;
mod signs;
mod slot_set;
mod stem;
pub mod synthetic;
mod text;
mod tokenize;
mod top;
mod vectors;
mod words;

#[cfg(test)]
mod oracle;

pub use analysis::is_stop_word;
pub use bm25::{B, K1, TERMS_MAX};
pub use bulk::Loader;
pub use code::{Code, DIMENSIONS_MAX, quantise};
pub use document::{Document, Error, Hit, Key, NUMBERS, Tag};
pub use evidence::Evidence;
pub use filter::{Clause, Filter, Selection};
pub use index::Index;
pub use kernels::cosine;
pub use pieces::{Compared, Likeness, PieceQuery, pack_pieces};
pub use text::{TextTerms, asked_terms, matched_words, query_terms};
