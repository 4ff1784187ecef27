//! A turn and those around it, and how much of the question stands there: its words, its meaning
//! and its pieces.

use std::sync::Arc;

use jiff::SignedDuration;

use super::spoken::Spoken;
use crate::recall::evidence::Shares;
use crate::store::PieceLikeness;

/// After how long a silence another session begins.
pub(super) const SESSION_GAP: SignedDuration = SignedDuration::from_hours(2);
/// How many turns before and after one are read with it.
pub(super) const REACH: usize = 2;
/// How many belong to its widest window, as far as they were found themselves.
pub(super) const WIDE: usize = 6;
/// How much the meaning of a turn's neighbours counts: of the one before it, the one behind it,
/// and those further away.
const BEFORE: f64 = 0.7;
const BEHIND: f64 = 0.5;
const FURTHER: f64 = 0.3;

/// Where a turn stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub session: usize,
    index: i64,
}

/// Numbers the sessions of the candidates: a turn begins one if it is in another conversation
/// than the one before it, or was said long after it.
pub(super) fn places(turns: &[Arc<Spoken>]) -> Vec<Place> {
    let mut session = 0;
    let mut places: Vec<Place> = Vec::with_capacity(turns.len());
    for (i, turn) in turns.iter().enumerate() {
        if let Some(before) = i.checked_sub(1).map(|i| &turns[i]) {
            let silence = turn.at.duration_since(before.at).abs();
            let apart = before.conversation_id != turn.conversation_id || silence > SESSION_GAP;
            session += usize::from(apart);
        }
        places.push(Place { session, index: turn.index });
    }
    places
}

/// A turn among the candidates, and those around it.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    pub places: &'a [Place],
    pub own: usize,
}

impl Window<'_> {
    /// Who stands at most so far away in the same session, with the distance; the turn itself too.
    fn within(&self, reach: usize) -> impl Iterator<Item = (usize, i64)> {
        let own = self.places[self.own];
        let far = i64::try_from(reach).unwrap_or(i64::MAX);
        let from = self.own.saturating_sub(reach);
        let to = (self.own + reach + 1).min(self.places.len());
        (from..to).filter_map(move |other| {
            let place = self.places[other];
            let distance = place.index - own.index;
            (place.session == own.session && distance.abs() <= far).then_some((other, distance))
        })
    }

    /// The turn right before it.
    pub(super) fn before(&self) -> Option<Self> {
        let (other, _) = self.within(1).find(|(_, distance)| *distance == -1)?;
        Some(Self { own: other, ..*self })
    }
}

/// Everybody in the windows of some candidates, in order.
pub(super) fn around(places: &[Place], some: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut is_around = vec![false; places.len()];
    for own in some {
        for (place, _) in (Window { places, own }).within(WIDE) {
            is_around[place] = true;
        }
    }
    (0..places.len()).filter(|place| is_around[*place]).collect()
}

/// BM25 of a window, as a share of the best there can be. Turns that were not read have none of the
/// words, or they would have been found, and are as long as others. `counts` is only room to count in:
/// this is done for each window of hundreds of turns.
pub(super) fn words_within(
    shares: &Shares<'_>,
    window: &Window<'_>,
    reach: usize,
    counts: &mut Vec<f64>,
) -> f64 {
    counts.clear();
    counts.resize(shares.weights.len(), 0.0);
    let (mut length, mut read) = (0.0, 0);
    for (place, _) in window.within(reach) {
        let Some(held) = shares.evidence.items.get(place) else { continue };
        read += 1;
        length += f64::from(held.length);
        for (sum, count) in counts.iter_mut().zip(held.counts) {
            *sum += f64::from(*count);
        }
    }
    let (turns, usual) = (2 * reach + 1, shares.usual_length());
    if reach > REACH {
        length += usual * (turns - read) as f64;
    }
    shares.share(counts.iter().copied(), length / (usual * turns as f64))
}

/// A turn's cosine with those of its neighbours mixed in.
pub(super) fn mixed(cosines: &[Option<f32>], window: &Window<'_>) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (place, distance) in window.within(REACH) {
        let Some(cosine) = cosines.get(place).copied().flatten() else { continue };
        let weight = match distance {
            0 => 1.0,
            -1 => BEFORE,
            1 => BEHIND,
            _ => FURTHER,
        };
        sum += weight * f64::from(cosine);
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Of each piece of the question the nearest in a window, on average.
pub(super) fn likeness(pieces: &[Option<PieceLikeness>], window: &Window<'_>, reach: usize) -> f64 {
    let near = window.within(reach).filter_map(|(place, _)| pieces.get(place)?.as_ref());
    let mut best: Vec<f32> = Vec::new();
    for PieceLikeness { nearest, .. } in near {
        best.resize(nearest.len(), f32::MIN);
        for (best, nearest) in best.iter_mut().zip(nearest) {
            *best = best.max(*nearest);
        }
    }
    let sum: f32 = best.iter().sum();
    if best.is_empty() { 0.0 } else { f64::from(sum) / best.len() as f64 }
}
