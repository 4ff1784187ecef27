//! Sequences, what they were about, and counts of them.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::action::Outcome;
use mnemic_core::ids::{IntentId, SequenceId};
use mnemic_core::page::Dated;
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::recall::{Hit, ItemKind};
use mnemic_core::sequence::{
    Intent, Key, KeyTally, Sequence, SequenceFilter, TallyFilter, Unmined,
};
use mnemic_core::store::{Change, SequenceStore};

use super::{EngineStore, own};
use crate::statements::{action, intent, sequence, tally};
use crate::{Batch, Fields, Row, SearchEngine, Statement, Value, values};

/// Intents that are looked at for one word.
const WORD_ROWS_MAX: usize = 1_000;

/// Changes of what agents did become steps of a batch. Any other change adds nothing.
pub(super) fn add_done<'b>(batch: &'b mut Batch, change: &Change) -> &'b mut Batch {
    match change {
        Change::AddAction(new) => batch.push_all(action::add(new)),
        Change::GroupActions { sequence, session, since, last, count } => {
            batch.push(action::group(*sequence, session, *since, *last, *count))
        }
        Change::AddSequence(new) => batch.push(sequence::add(new)),
        Change::UpdateSequence(changed) => batch.push(sequence::update(changed)),
        Change::AbsorbSequence { id, revision, into } => batch
            .push(action::move_all(*id, *into))
            .push_all(sequence::absorb(*id, *revision, *into)),
        Change::AddSequenceKey { sequence, key } => batch.push(sequence::add_key(*sequence, key)),
        Change::AddIntent(new) => {
            batch.push_all(intent::add(new)).touch(ItemKind::Intent, new.id.0)
        }
        Change::CountKey { key, day, difference, last_at } => {
            batch.push_all(tally::count_key(key, *day, *difference, *last_at))
        }
        Change::CountPair { action_type, node_type, day, difference } => {
            batch.push_all(tally::count_pair(action_type, node_type, *day, *difference))
        }
        Change::TouchUnmined { action_type, node_type } => {
            batch.push(tally::touch(action_type, node_type))
        }
        Change::ForgetUnmined { action_type, node_type, revision } => {
            batch.push(tally::forget(action_type, node_type, *revision))
        }
        _ => batch,
    }
}

#[async_trait]
impl<E: SearchEngine> SequenceStore for EngineStore<E> {
    async fn lookup_sequences(
        &self,
        scope: Workspaced,
        ids: &[SequenceId],
    ) -> Result<Vec<Sequence>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &sequence::LOOKUP, params, sequence::from_row).await
    }

    async fn list_sequences(
        &self,
        scope: Workspaced,
        filter: &SequenceFilter,
        after: Option<Dated>,
        limit: usize,
    ) -> Result<Vec<Sequence>> {
        let params = sequence::list(filter, after, limit);
        self.all(own(scope), &sequence::LIST, params, sequence::from_row).await
    }

    async fn find_touching(
        &self,
        scope: Workspaced,
        spans: &[(&str, Timestamp, Timestamp)],
    ) -> Result<Vec<Vec<Sequence>>> {
        let params = spans.iter().map(|(session, from, to)| values![*session, *from, *to]);
        self.every(scope, &sequence::TOUCHING, params.collect(), sequence::from_row).await
    }

    async fn list_open(
        &self,
        scope: Workspaced,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<Sequence>> {
        let params = values![before, rows(limit)];
        self.all(own(scope), &sequence::LIST_OPEN, params, sequence::from_row).await
    }

    async fn count_open(&self, scope: Workspaced, before: Timestamp) -> Result<u64> {
        self.count(own(scope), &sequence::COUNT_OPEN, values![before]).await
    }

    async fn lookup_keys(&self, scope: Workspaced, ids: &[SequenceId]) -> Result<Vec<Vec<Key>>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.every(scope, &sequence::KEYS, params, sequence::key_from_row).await
    }

    async fn list_heads(
        &self,
        scope: Workspaced,
        ids: &[SequenceId],
        limit: usize,
    ) -> Result<Vec<Vec<Key>>> {
        let params = ids.iter().map(|id| values![id.0, rows(limit)]).collect();
        self.every(scope, &sequence::HEAD, params, sequence::key_from_row).await
    }

    async fn lookup_intents(&self, scope: Workspaced, ids: &[IntentId]) -> Result<Vec<Intent>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &intent::LOOKUP, params, intent::from_row).await
    }

    async fn find_intents(&self, scope: Workspaced, keys: &[String]) -> Result<Vec<Intent>> {
        let params = keys.iter().map(|key| values![key]).collect();
        self.each(own(scope), &intent::FIND, params, intent::from_row).await
    }

    /// A word that fewer have counts for more.
    async fn search_intent_words(
        &self,
        scope: Workspaced,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let terms = mnemic_recall::query_terms(query);
        let terms = terms.iter().take(mnemic_recall::TERMS_MAX);
        let params = terms.map(|term| intent::by_word(term, WORD_ROWS_MAX)).collect();
        let word = |row: &Row| Ok((row.uuid("intent_id")?, row.float("weight")?));
        let found = self.every(scope, &intent::BY_WORD, params, word).await?;
        let mut sums = HashMap::new();
        for words in &found {
            let rarity = 1.0 / (1.0 + (1.0 + words.len() as f64).ln());
            for (id, weight) in words {
                *sums.entry(*id).or_insert(0.0) += rarity * weight;
            }
        }
        let mut hits: Vec<_> = sums.into_iter().map(|(id, sum)| (id, sum / (1.0 + sum))).collect();
        // Ties go to the newer, so that every engine gives the same answer.
        hits.sort_by(|(a, x), (b, y): &(_, f64)| y.total_cmp(x).then(b.cmp(a)));
        hits.truncate(limit);
        #[expect(clippy::cast_possible_truncation, reason = "a score needs no more than that")]
        let hit = |(id, score)| Hit { id, score: score as f32 };
        Ok(hits.into_iter().map(hit).collect())
    }

    async fn list_sequences_of(
        &self,
        scope: Workspaced,
        intent: IntentId,
        limit: usize,
    ) -> Result<Vec<Sequence>> {
        let params = values![intent.0, rows(limit)];
        self.all(own(scope), &sequence::LIST_OF_INTENT, params, sequence::from_row).await
    }

    async fn list_unmined(&self, scope: Workspaced, limit: usize) -> Result<Vec<Unmined>> {
        let params = values![rows(limit)];
        self.all(own(scope), &tally::LIST_UNMINED, params, tally::unmined_from_row).await
    }

    async fn list_pairs(
        &self,
        scope: Workspaced,
        from_day: i64,
        to_day: i64,
    ) -> Result<Vec<(String, String)>> {
        let params = values![from_day, to_day];
        self.all(own(scope), &tally::LIST_PAIRS, params, action::pair_from_row).await
    }

    async fn key_tallies(
        &self,
        scope: Workspaced,
        action_type: &str,
        node_type: &str,
        since_day: i64,
    ) -> Result<(i64, Vec<KeyTally>)> {
        let params = || values![action_type, node_type, since_day];
        let total = self.first(own(scope), &tally::TOTAL, params(), |row| row.int("rows")).await?;
        let keys = self.all(own(scope), &tally::KEYS, params(), tally::key_from_row).await?;
        Ok((total.unwrap_or_default(), keys))
    }

    async fn tally_sequences(
        &self,
        scope: Workspaced,
        filter: &TallyFilter,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Vec<(Outcome, i64, i64)>> {
        let params = tally::sequences(filter, since, until);
        self.all(own(scope), &tally::SEQUENCES, params, tally::from_row).await
    }

    async fn tally_first(
        &self,
        scope: Workspaced,
        filter: &TallyFilter,
        first: usize,
    ) -> Result<Vec<(Outcome, i64, i64)>> {
        self.all(own(scope), &tally::FIRST, tally::first(filter, first), tally::from_row).await
    }
}

impl<E: SearchEngine> EngineStore<E> {
    /// All rows of each parameter set, in the order asked for.
    async fn every<T>(
        &self,
        scope: Workspaced,
        statement: &'static Statement,
        params: Vec<Vec<Value>>,
        from_row: impl Fn(&Row) -> Result<T>,
    ) -> Result<Vec<Vec<T>>> {
        if params.is_empty() {
            return Ok(vec![]);
        }
        let found = self.engine.read_each(own(scope), statement, params).await?;
        found.iter().map(|rows| rows.iter().map(&from_row).collect()).collect()
    }
}

fn rows(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
