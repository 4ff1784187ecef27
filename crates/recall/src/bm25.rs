//! BM25: its constants, and its arithmetic in integers.
//!
//! Scores are summed in fixed point. Sums are then the same in whatever order terms are visited,
//! so equal documents get equal scores, ties break the same way every time, and the bounds used
//! for pruning are exact instead of "within a rounding error".

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fixed point is made from floats that are not negative and within range"
)]

/// How soon repeating a word stops helping.
pub const K1: f32 = 0.9;
/// How much long documents are held back.
pub const B: f32 = 0.4;

/// The most often a term is counted in one document; five bits of a posting.
pub(crate) const TF_MAX: u32 = 31;

/// The most terms of a query that are scored.
pub const TERMS_MAX: usize = 64;

/// The most often that these count, all together. With [`SCORE_ONE`] it keeps sums within 32 bits:
/// a term adds less than 19 × 1.9 × 2^18 < 2^23.2 each time, and 256 times less than 2^31.2.
pub(crate) const OCCURRENCES_MAX: u32 = 256;

/// A score of 1.0 in fixed point.
const SCORE_ONE: f32 = 262_144.0;
/// Weights are finer than scores by so many bits, so that a score is rounded once.
const WEIGHT_BITS: u32 = 6;
const WEIGHT_ONE: f32 = 16_777_216.0;
const SATURATION_BITS: u32 = 24;
const SATURATION_ONE: f32 = 16_777_216.0;

/// A document's length in one byte: exact up to 127, then in steps of an eighth of an octave.
pub(crate) fn length_code(length: u32) -> u8 {
    let code = if length < 128 {
        length
    } else {
        let exponent = length.ilog2();
        128 + (exponent - 7) * 8 + (length >> (exponent - 3) & 7)
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// The length a code stands for.
pub(crate) fn length_of(code: u8) -> u32 {
    if code < 128 {
        return u32::from(code);
    }
    let step = u32::from(code) - 128;
    (8 + step % 8) << (step / 8 + 4)
}

/// How much a term counts, by how many of the documents have it and how often it is asked for.
pub(crate) fn weight(documents: usize, with_term: usize, asked: u32) -> u64 {
    (idf(documents, with_term) * WEIGHT_ONE) as u64 * u64::from(asked)
}

#[expect(clippy::cast_precision_loss, reason = "counts enter a logarithm")]
pub(crate) fn idf(documents: usize, with_term: usize) -> f32 {
    let (n, df) = (documents as f32, with_term as f32);
    (1.0 + (n - df + 0.5).max(0.0) / (df + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "a score needs no more than an f32 holds")]
pub(crate) fn score(fixed: u32) -> f32 {
    fixed as f32 / SCORE_ONE
}

/// What a term frequency and a length make of a term's weight, for the lengths of one moment.
pub(crate) struct Saturation(Box<[u32; TABLE]>);

const TABLE: usize = (TF_MAX as usize + 1) * 256;

impl Saturation {
    pub(crate) fn new(average_length: f32) -> Self {
        let mut norms = [0.0; 256];
        for (code, norm) in (0..=u8::MAX).zip(&mut norms) {
            *norm = length_norm(length_of(code), average_length);
        }
        #[expect(clippy::large_stack_arrays, reason = "32 KiB, and it goes to the heap at once")]
        let mut table = Box::new([0; TABLE]);
        let mut tf = 0.0;
        for row in table.chunks_exact_mut(256) {
            for (cell, norm) in row.iter_mut().zip(&norms) {
                *cell = (tf * (K1 + 1.0) / (tf + norm) * SATURATION_ONE) as u32;
            }
            tf += 1.0;
        }
        Self(table)
    }

    /// What a term adds to a document's score. `tf` is at most [`TF_MAX`].
    #[inline]
    pub(crate) fn apply(&self, weight: u64, tf: u32, length_code: u8) -> u32 {
        let index = (tf & TF_MAX) as usize * 256 + usize::from(length_code);
        ((weight * u64::from(self.0[index])) >> (SATURATION_BITS + WEIGHT_BITS)) as u32
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths enter a ratio")]
pub(crate) fn length_norm(length: u32, average_length: f32) -> f32 {
    K1 * (1.0 - B + B * length as f32 / average_length.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_codes_are_monotone_and_close() {
        let mut previous = 0;
        for length in 0..200_000 {
            let code = length_code(length);
            assert!(code >= previous);
            previous = code;
            let back = length_of(code);
            assert!(back <= length && length - back <= length / 8, "{length} {back}");
        }
        assert_eq!(length_code(u32::MAX), u8::MAX);
        for code in 0..=u8::MAX {
            assert_eq!(length_code(length_of(code)), code);
        }
    }

    #[test]
    fn fixed_point_follows_the_formula() {
        let saturation = Saturation::new(20.0);
        for tf in 1..=TF_MAX {
            for code in 0..=u8::MAX {
                let exact = f64::from(idf(1_000_000, 3)) * f64::from(tf) * f64::from(K1 + 1.0)
                    / f64::from(tf as f32 + length_norm(length_of(code), 20.0));
                let fixed = saturation.apply(weight(1_000_000, 3, 1), tf, code);
                assert!((f64::from(score(fixed)) - exact).abs() < 1e-5);
                let twice = saturation.apply(weight(1_000_000, 3, 2), tf, code);
                assert!((f64::from(score(twice)) - 2.0 * exact).abs() < 1e-5);
            }
        }
    }
}
