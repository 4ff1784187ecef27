//! What somebody said, where nothing is asked but that: there are no words to search by, so it is what
//! was said last, and at the time that is named before any other.

use std::collections::HashSet;

use super::super::confidence::Signs;
use super::super::search::Quest;
use super::super::{Feature, weights};
use super::clue::Clue;
use super::{RecalledTurn, Turns, WhyTurn};
use crate::Mnemic;
use crate::conversation::Turn;
use crate::error::Result;

impl Mnemic {
    /// The newest turns of the one speaker that the question names, or of all who are called so.
    pub(super) async fn latest_said(&self, quest: &Quest, clue: &Clue) -> Result<Turns> {
        let mut filter = quest.turn_filter();
        let seen_until = [filter.until, filter.as_of, filter.known_at];
        filter.until = seen_until.into_iter().flatten().min();
        let stretches = clue.dates.stretches(std::iter::empty());
        let mut filters: Vec<_> = stretches.into_iter().map(|it| filter.within(it)).collect();
        filters.push(filter);
        let mut said = Vec::new();
        for speaker in &clue.speakers {
            for filter in &filters {
                let theirs = self.store.list_said_by(quest.scope, speaker, filter, quest.limit);
                said.extend(theirs.await?);
            }
        }
        let mut known = HashSet::new();
        said.retain(|turn| known.insert(turn.id));
        let mut found: Vec<_> = said.into_iter().map(|turn| weighed(quest, clue, turn)).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.turn.at.cmp(&a.turn.at)));
        found.truncate(quest.limit);
        // What is asked for is there as far as it was said at the time that is named.
        let sure = |first: &RecalledTurn| {
            Signs { lead: 0.0, likeness: None, covered: Some(first.score) }.confidence()
        };
        let confidence = found.first().map_or(0.0, sure);
        Ok(Turns { found, confidence, degraded: vec![], reports: vec![] })
    }
}

/// A turn by who said it and when, as a share of what one of the very time would get.
fn weighed(quest: &Quest, clue: &Clue, turn: Turn) -> RecalledTurn {
    let weight = |feature: Feature| {
        let is_off = quest.request.without.contains(&feature);
        if is_off { 0.0 } else { weights::of_turns(feature)[0] }
    };
    let (said, dated) = (weight(Feature::Speaker), weight(Feature::Date));
    let date = dated * clue.dates.agreement(turn.at);
    let best = said + dated * clue.dates.most();
    let score = if best > 0.0 { (said + date) / best } else { 1.0 };
    let shares = [(Feature::Speaker, said), (Feature::Date, date)];
    let told = shares.into_iter().filter(|(_, share)| *share != 0.0).collect();
    let why = quest.request.explain.then(|| WhyTurn { found_by: vec![], shares: told });
    RecalledTurn { turn, score, why }
}
