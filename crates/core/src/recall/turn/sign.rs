//! What tells whether the answer is in a turn at all.

use super::clue::Clue;
use super::rank::{Candidates, Ranked};
use crate::recall::confidence::{Signs, best_three};
use crate::recall::evidence::Shares;
use crate::recall::{Feature, WordEvidence, piece};

/// What speaks for the answer being in a turn at all; nothing, where there is none. Where the
/// question names one of two who speak, it is asked of what that one says: the other may have said
/// the same. `words` are those that need to have been said, and as many as are spared need not.
pub(super) fn signs(
    clue: &Clue,
    candidates: &Candidates<'_>,
    (words, spared): (Option<&WordEvidence>, usize),
    ranked: &[Ranked],
) -> Option<Signs> {
    ranked.first()?;
    let speaker = |ranked: &Ranked| candidates.turns[ranked.place].speaker.as_deref();
    let named = |ranked: &Ranked| clue.is_speaker(speaker(ranked));
    let of_two = are_two(ranked.iter().filter_map(speaker)) && ranked.iter().any(named);
    let asked = || ranked.iter().filter(|it| !of_two || named(it));
    let best = |of_named: bool| {
        let theirs = ranked.iter().filter(|it| named(it) == of_named && speaker(it).is_some());
        let named = candidates.weights().get(Feature::Speaker);
        best_three(theirs.map(|it| it.score - if of_named { named } else { 0.0 }))
    };
    let lead = best(true).zip(best(false)).filter(|_| of_two);
    let likeness = candidates.pieces.and_then(|pieces| {
        let near = asked().filter_map(|it| pieces.get(it.place)?.as_ref());
        near.map(|near| piece::likeness_besides(near, spared)).reduce(f64::max)
    });
    let covered = words.map(|words| {
        let items: Vec<_> = asked().filter_map(|it| words.items.get(it.place)).collect();
        Shares::new(words).covered(&items)
    });
    let near = || {
        let cosines = candidates.cosines?;
        let near = asked().filter_map(|it| cosines.get(it.place).copied().flatten());
        near.map(f64::from).reduce(f64::max)
    };
    let likeness = if covered.is_none() { likeness.or_else(near) } else { likeness };
    Some(Signs { lead: lead.map_or(0.0, |(own, other)| own - other), likeness, covered })
}

/// The same of a question that asks for nothing but what was said at some time: it is there as far as
/// something was said then.
pub(super) fn signs_of_time(
    clue: &Clue,
    candidates: &Candidates<'_>,
    ranked: &[Ranked],
) -> Option<Signs> {
    let most = clue.dates.most().max(f64::MIN_POSITIVE);
    let agreement = |it: &Ranked| clue.dates.agreement(candidates.turns[it.place].at) / most;
    let covered = ranked.iter().map(agreement).reduce(f64::max)?;
    Some(Signs { lead: 0.0, likeness: None, covered: Some(covered) })
}

/// Whether there are exactly two different ones.
fn are_two<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let Some(one) = names.next() else { return false };
    let Some(other) = names.find(|name| *name != one) else { return false };
    names.all(|name| name == one || name == other)
}
