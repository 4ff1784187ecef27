//! Search in the database: any server finds what any other has written.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use mnemic_core::embed::ModelStamp;
use mnemic_core::ids::TurnId;
use mnemic_core::recall::{Hit, ItemKind, SearchFilter, Spoken, WordEvidence};
use mnemic_core::store::PieceLikeness;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::nearest::Asked;
use super::session::{Access, Call};
use super::{PostgresEngine, evidence, nearest, words};
use crate::statements::{turn, vector};
use crate::{Engine as _, Row, Scope, SearchEngine, Statement, Value, values};

#[async_trait]
impl SearchEngine for PostgresEngine {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(stamp.clone());
        Ok(())
    }

    async fn search_words(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let Some(asked) = words::Asked::new(kind, query, filter, limit) else {
            return Ok(Vec::new());
        };
        let depth = asked.depth();
        let mut rows = self.last(scope, asked.search(depth)).await?;
        if let Some(depth) = depth
            && asked.is_short(&rows, depth)?
        {
            rows = self.last(scope, asked.search(None)).await?;
        }
        rows.iter().map(words::hit).collect()
    }

    async fn search_vectors(
        &self,
        scope: Scope,
        kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        self.check_model(stamp, query)?;
        let asked = Asked { kind, model: &stamp.key(), query, filter, limit };
        let mut hits = match self.scan(scope, asked, self.options.scanned_max).await? {
            Some(hits) => hits,
            None => self.walk(scope, asked).await?,
        };
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.id.cmp(&a.id)));
        Ok(hits)
    }

    async fn word_evidence(
        &self,
        scope: Scope,
        kind: ItemKind,
        query: &str,
        ids: &[Uuid],
    ) -> Result<WordEvidence> {
        let (terms, asked): (Vec<_>, _) = mnemic_recall::asked_terms(query).into_iter().unzip();
        let [commonness, occurrences, lengths] = evidence::questions(kind, &terms, ids);
        let (commonness, occurrences, lengths) = tokio::try_join!(
            self.last(scope, [commonness]),
            self.last(scope, [occurrences]),
            self.last(scope, [lengths]),
        )?;
        let found = evidence::read(&terms, ids, &[commonness, occurrences, lengths])?;
        Ok(WordEvidence { asked, ..found })
    }

    async fn cosines(
        &self,
        scope: Scope,
        _kind: ItemKind,
        stamp: &ModelStamp,
        query: &[f32],
        ids: &[Uuid],
    ) -> Result<Vec<Option<f32>>> {
        self.check_model(stamp, query)?;
        let rows = self.last(scope, [nearest::cosines(&stamp.key(), query, ids)]).await?;
        let hits: HashMap<_, _> = rows
            .iter()
            .map(|row| words::hit(row).map(|hit| (hit.id, hit.score)))
            .collect::<Result<_>>()?;
        Ok(ids.iter().map(|id| hits.get(id).copied()).collect())
    }

    async fn piece_likeness(
        &self,
        scope: Scope,
        _kind: ItemKind,
        stamp: &ModelStamp,
        pieces: &[u8],
        ids: &[Uuid],
    ) -> Result<Vec<Option<PieceLikeness>>> {
        let mut found = vector::likeness_of(self, scope, stamp, pieces, ids).await?;
        Ok(ids.iter().map(|id| found.remove(id)).collect())
    }

    async fn said_around(
        &self,
        scope: Scope,
        ids: &[TurnId],
        reach: i64,
    ) -> Result<Vec<Arc<Spoken>>> {
        let params = ids.iter().map(|id| values![id.0, reach]).collect();
        let mut around = BTreeMap::new();
        for row in self.read_each(scope, &turn::LIST_AROUND, params).await?.iter().flatten() {
            let spoken = turn::spoken_from_row(row)?;
            around.insert((spoken.conversation_id.clone(), spoken.index), Arc::new(spoken));
        }
        Ok(around.into_values().collect())
    }

    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        let (statement, params) = evidence::terms(ids);
        evidence::matched(query, ids, &self.read(scope, statement, params).await?)
    }

    /// Nothing is held outside of the rows.
    async fn prepare_searches(&self, _: Scope) -> Result<bool> {
        Ok(false)
    }

    /// Nothing is held outside of the rows.
    fn forget(&self, _: Scope) {}

    fn describe(&self) -> String {
        "words and vectors are searched in the database".to_owned()
    }
}

impl PostgresEngine {
    fn check_model(&self, stamp: &ModelStamp, query: &[f32]) -> Result<()> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        if model.as_ref() == Some(stamp) && query.len() == stamp.dimensions {
            return Ok(());
        }
        let detail = format!("the vectors of {} are not searched yet", stamp.key());
        Err(Error::new(Code::ModelUnavailable, detail))
    }

    /// The nearest of all that pass, exactly; nothing, if more than so many do.
    pub(super) async fn scan(
        &self,
        scope: Scope,
        asked: Asked<'_>,
        scanned_max: usize,
    ) -> Result<Option<Vec<Hit>>> {
        let rows = self.last(scope, [asked.scan(scanned_max)]).await?;
        nearest::scanned(&rows, scanned_max)
    }

    /// The nearest by a graph, if there is one for as many dimensions.
    pub(super) async fn walk(&self, scope: Scope, asked: Asked<'_>) -> Result<Vec<Hit>> {
        if let Some(questions) = asked.walk() {
            let rows = self.last(scope, questions).await?;
            if rows.len() >= asked.limit {
                return rows.iter().map(words::hit).collect();
            }
            // It has met too many that do not pass.
        }
        Ok(self.scan(scope, asked, usize::MAX).await?.unwrap_or_default())
    }

    /// The rows of the last question; those before it prepare the ground.
    pub(super) async fn last<const N: usize>(
        &self,
        scope: Scope,
        questions: [(&'static Statement, Vec<Value>); N],
    ) -> Result<Vec<Row>> {
        let mut calls = Vec::with_capacity(N);
        for (statement, params) in questions {
            calls.push((statement, statement.arguments(scope, params)?));
        }
        let calls: Vec<_> =
            calls.iter().map(|(statement, arguments)| Call { statement, arguments }).collect();
        let outcomes = self.query(scope, Access::Read, &calls).await?;
        Ok(outcomes.into_iter().next_back().map_or_else(Vec::new, |it| it.rows))
    }
}
