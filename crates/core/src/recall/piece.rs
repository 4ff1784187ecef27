//! How much the pieces of texts tell of a question: the same for turns and for memories.

use crate::store::PieceLikeness;

/// How near pieces come to each other that have nothing in common.
pub(super) const LIKENESS_OF_ANY: f64 = 0.3;
/// A text of more pieces than this has something near to every piece of a question, and so they
/// count less.
const PIECES_TELLING: f64 = 16.0;

/// How much pieces tell, 0 to 1, by how many the texts have that were looked at; 0 where none has
/// any.
pub(super) fn telling(pieces: &[Option<PieceLikeness>]) -> f64 {
    let counts = pieces.iter().flatten().map(|it| it.pieces);
    let (sum, looked) = counts.fold((0, 0), |(sum, looked), it| (sum + it, looked + 1));
    if looked == 0 {
        return 0.0;
    }
    (PIECES_TELLING * f64::from(looked) / (sum as f64).max(1.0)).min(1.0)
}

/// Of each piece of the question the nearest in the text, on average.
pub(super) fn likeness(pieces: &PieceLikeness) -> f64 {
    let sum: f32 = pieces.nearest.iter().sum();
    f64::from(sum) / pieces.nearest.len().max(1) as f64
}

/// The same without so many of the question's pieces, those that are least like the text: as many as
/// stand for what need not be said in it. At least one is left.
pub(super) fn likeness_besides(pieces: &PieceLikeness, spared: usize) -> f64 {
    if spared == 0 {
        return likeness(pieces);
    }
    let mut nearest = pieces.nearest.clone();
    nearest.sort_unstable_by(|a, b| b.total_cmp(a));
    nearest.truncate(nearest.len().saturating_sub(spared).max(1));
    likeness(&PieceLikeness { nearest, pieces: pieces.pieces })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_long_texts_tell_less() {
        let of = |pieces| Some(PieceLikeness { nearest: vec![0.5, 1.0], pieces });
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        close(telling(&[of(4), None, of(20)]), 1.0);
        close(telling(&[of(4), of(60)]), 0.5);
        close(telling(&[None]), 0.0);
        close(likeness(&of(4).unwrap()), 0.75);
        for (spared, left) in [(0, 0.75), (1, 1.0), (2, 1.0)] {
            close(likeness_besides(&of(4).unwrap(), spared), left);
        }
    }
}
