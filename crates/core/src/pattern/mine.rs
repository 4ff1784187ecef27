//! From counts to patterns. What a pass costs depends on which counts have changed since the last
//! one, never on how much was done before.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Pattern, PatternKey, Share, recommend};
use crate::Mnemic;
use crate::error::{Code, Result};
use crate::ids::PatternId;
use crate::job::Claim;
use crate::principal::Scope;
use crate::sequence::{KeyTally, Unmined, day_of};
use crate::store::Change;
use crate::workspace::TelemetrySettings;

/// Pairs that one pass looks at; the rest is left to the next.
const PAIRS_MAX: usize = 100_000;
/// Pairs that are looked at and committed together.
const PORTION: usize = 100;
/// Patterns that fade together.
const FADING_PORTION: usize = 200;
/// Nothing fades sooner than this.
const REST: SignedDuration = SignedDuration::from_hours(24 * 30);
/// How often a portion is read anew because somebody changed one of its patterns.
const ATTEMPTS_MAX: usize = 8;

/// An action type and the type of what it is done to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    pub action_type: String,
    pub node_type: Option<String>,
}

impl Pair {
    /// An empty node type is none.
    pub fn new(action_type: impl Into<String>, node_type: &str) -> Self {
        let node_type = (!node_type.is_empty()).then(|| node_type.to_owned());
        Self { action_type: action_type.into(), node_type }
    }

    /// As counts have it: empty if none.
    pub fn node_word(&self) -> &str {
        self.node_type.as_deref().unwrap_or_default()
    }

    fn key(&self, error_code: &str) -> PatternKey {
        PatternKey {
            action_type: self.action_type.clone(),
            node_type: self.node_type.clone(),
            error_code: (!error_code.is_empty()).then(|| error_code.to_owned()),
        }
    }
}

impl Mnemic {
    /// Makes, moves and supersedes patterns wherever counts have changed; how many.
    pub(crate) async fn mine_patterns(
        &self,
        claim: &Claim,
        settings: &TelemetrySettings,
    ) -> Result<u64> {
        let mine = Mine { mnemic: self, claim, settings, since_day: self.window_start(settings) };
        let mut changed = 0;
        let unmined = self.store.list_unmined(claim.scope(), PAIRS_MAX).await?;
        for portion in unmined.chunks(PORTION) {
            changed += mine.portion(portion).await?;
        }
        changed += mine.move_window().await?;
        Ok(changed)
    }

    /// How many pairs a pass would look at.
    pub(crate) async fn count_unmined(&self, scope: Scope) -> Result<u64> {
        Ok(self.store.list_unmined(scope, PAIRS_MAX).await?.len() as u64)
    }

    fn window_start(&self, settings: &TelemetrySettings) -> i64 {
        day_of(self.clock.now()) - i64::from(settings.window_days)
    }

    /// Lets patterns go of which too little is left; how many.
    pub async fn decay_patterns(&self, claim: &Claim) -> Result<u64> {
        let (mut after, mut gone, mut attempts) = (None, 0, 0);
        loop {
            let now = self.clock.now();
            let rested = now.checked_sub(REST).unwrap_or(Timestamp::MIN);
            let scope = claim.scope();
            let found =
                self.store.list_fading_patterns(scope, rested, after, FADING_PORTION).await?;
            let Some(last) = found.last().map(|pattern| pattern.id) else { return Ok(gone) };
            let lost = found.into_iter().filter(|pattern| pattern.is_lost(now));
            let changes: Vec<_> = lost
                .map(|mut pattern| {
                    pattern.deleted_at = Some(now);
                    pattern.stamp(now);
                    Change::UpdatePattern(pattern)
                })
                .collect();
            let count = changes.len() as u64;
            if count > 0 {
                match claim.commit(self, changes).await {
                    Err(e) if e.code() == Code::Stale && attempts < ATTEMPTS_MAX => {
                        attempts += 1;
                        continue;
                    }
                    done => done?,
                }
            }
            (after, gone, attempts) = (Some(last), gone + count, 0);
        }
    }
}

fn pair_of(unmined: &Unmined) -> Pair {
    Pair::new(unmined.action_type.clone(), &unmined.node_type)
}

/// The closed sequences with a pair, and with each key of it.
struct Tallies {
    total: i64,
    keys: Vec<KeyTally>,
}

/// One pass.
struct Mine<'m> {
    mnemic: &'m Mnemic,
    claim: &'m Claim,
    settings: &'m TelemetrySettings,
    since_day: i64,
}

impl Mine<'_> {
    /// What is marked as unmined is unmarked in the same commit, unless it was counted on since.
    async fn portion(&self, unmined: &[Unmined]) -> Result<u64> {
        let pairs: Vec<_> = unmined.iter().map(pair_of).collect();
        let done = unmined.iter().cloned().map(|it| Change::ForgetUnmined {
            action_type: it.action_type,
            node_type: it.node_type,
            revision: it.revision,
        });
        self.commit(&pairs, done.collect()).await
    }

    async fn commit(&self, pairs: &[Pair], done: Vec<Change>) -> Result<u64> {
        let mut attempts = 0;
        loop {
            let mut changes = Vec::new();
            for pair in pairs {
                changes.extend(self.decide(pair).await?);
            }
            let changed = changes.len() as u64;
            changes.extend(done.iter().cloned());
            if changes.is_empty() {
                return Ok(0);
            }
            match self.claim.commit(self.mnemic, changes).await {
                Err(e) if e.code() == Code::Stale && attempts < ATTEMPTS_MAX => attempts += 1,
                outcome => return outcome.map(|()| changed),
            }
        }
    }

    async fn decide(&self, pair: &Pair) -> Result<Vec<Change>> {
        let (scope, store) = (self.claim.scope(), &self.mnemic.store);
        let (action, node) = (&pair.action_type, pair.node_word());
        let ((total, keys), known) = tokio::try_join!(
            store.key_tallies(scope, action, node, self.since_day),
            store.find_patterns(scope, pair)
        )?;
        let now = self.mnemic.clock.now();
        let make_id = || PatternId(self.mnemic.ids.next(now));
        Ok(decide(pair, &Tallies { total, keys }, &known, self.settings, now, make_id))
    }

    /// Counts of days that left the window, or came back into it because a clock was wrong, count
    /// otherwise than before without having changed.
    async fn move_window(&self) -> Result<u64> {
        let scope = self.claim.scope();
        let before = self.mnemic.store.mining_window(scope).await?;
        if before == Some(self.since_day) {
            return Ok(0);
        }
        let mut changed = 0;
        if let Some(before) = before {
            let (from, to) = (before.min(self.since_day), before.max(self.since_day) - 1);
            let pairs = self.mnemic.store.list_pairs(scope, from, to).await?;
            let pairs: Vec<_> =
                pairs.into_iter().map(|(action, node)| Pair::new(action, &node)).collect();
            for portion in pairs.chunks(PORTION) {
                changed += self.commit(portion, vec![]).await?;
            }
        }
        let moved = Change::MoveMiningWindow { since_day: self.since_day };
        self.claim.commit(self.mnemic, vec![moved]).await?;
        Ok(changed)
    }
}

/// What becomes of the patterns of one pair. `known` are those that nothing superseded, the newest
/// first; where one of them has faded away, what people said of it is said of its successor.
fn decide(
    pair: &Pair,
    tallies: &Tallies,
    known: &[Pattern],
    settings: &TelemetrySettings,
    now: Timestamp,
    make_id: impl Fn() -> PatternId,
) -> Vec<Change> {
    if tallies.total == 0 {
        // Nothing is known of it any more, and nothing else: what was known fades.
        return vec![];
    }
    let live = known.iter().filter(|pattern| pattern.is_live());
    let errors: BTreeSet<&str> = tallies
        .keys
        .iter()
        .map(|tally| tally.error_code.as_str())
        .chain(live.map(|it| it.key.error_code.as_deref().unwrap_or_default()))
        .collect();
    let mut changes = Vec::new();
    for error in errors {
        let key = pair.key(error);
        let tally = tallies.keys.iter().find(|tally| tally.error_code == error);
        // The two are read one after the other, and more may have been counted in between.
        let samples = tally.map_or(0, |tally| tally.sequences.min(tallies.total));
        let share = Share::new(samples, tallies.total);
        let of_key = |pattern: &&Pattern| pattern.key == key;
        if let Some(live) = known.iter().filter(of_key).find(|pattern| pattern.is_live()) {
            changes.extend(follow(live, share, tally, now, &make_id));
        } else if let Some(tally) = tally.filter(|_| is_promoted(share, settings)) {
            let fresh = promoted(make_id(), key.clone(), share, tally.last_at, now);
            let before = known.iter().find(of_key);
            // Notes that are taken over must still be there when this is committed.
            if let Some(noted) = before.filter(|before| before.is_annotated()) {
                let mut noted = noted.clone();
                noted.stamp(now);
                changes.push(Change::UpdatePattern(noted));
            }
            changes.push(Change::AddPattern(inherit(fresh, before)));
        }
    }
    changes
}

fn is_promoted(share: Share, settings: &TelemetrySettings) -> bool {
    share.samples >= i64::from(settings.sequences) && share.is_left(settings.confidence_percent, 0)
}

/// A live pattern is moved in place or, where it has moved too far, superseded.
fn follow(
    live: &Pattern,
    share: Share,
    tally: Option<&KeyTally>,
    now: Timestamp,
    make_id: impl Fn() -> PatternId,
) -> Vec<Change> {
    let last_seen_at = tally.map_or(live.last_seen_at, |tally| tally.last_at);
    if share.has_shifted_from(live.promoted) {
        let fresh = promoted(make_id(), live.key.clone(), share, last_seen_at, now);
        let fresh = inherit(fresh, Some(live));
        let mut old = live.clone();
        old.superseded_by = Some(fresh.id);
        old.stamp(now);
        // The old one leaves its key before the new one takes it.
        return vec![Change::UpdatePattern(old), Change::AddPattern(fresh)];
    }
    if (share, last_seen_at) == (live.share, live.last_seen_at) {
        return vec![];
    }
    let mut moved = live.clone();
    moved.recommendation = recommend(&moved.key, share);
    (moved.share, moved.last_seen_at) = (share, last_seen_at);
    moved.stamp(now);
    vec![Change::UpdatePattern(moved)]
}

fn promoted(
    id: PatternId,
    key: PatternKey,
    share: Share,
    last_seen_at: Timestamp,
    now: Timestamp,
) -> Pattern {
    Pattern {
        id,
        recommendation: recommend(&key, share),
        key,
        share,
        promoted: share,
        replacement: None,
        annotation: None,
        suppressed: false,
        superseded_by: None,
        last_seen_at,
        created_at: now,
        updated_at: now,
        deleted_at: None,
        revision: 1,
        annotation_by: None,
        replacement_by: None,
        noted_at: None,
    }
}

/// What people said of a key is not lost with the figures that they said it of.
fn inherit(mut fresh: Pattern, before: Option<&Pattern>) -> Pattern {
    if let Some(before) = before {
        fresh.annotation.clone_from(&before.annotation);
        fresh.replacement.clone_from(&before.replacement);
        fresh.annotation_by.clone_from(&before.annotation_by);
        fresh.replacement_by.clone_from(&before.replacement_by);
        fresh.noted_at = before.noted_at;
        fresh.suppressed = before.suppressed;
    }
    fresh
}

#[cfg(test)]
mod tests;
