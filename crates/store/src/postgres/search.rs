//! Search in the database: any server finds what any other has written.

use std::sync::PoisonError;

use async_trait::async_trait;
use mnemic_core::embed::ModelStamp;
use mnemic_core::recall::{Hit, SearchFilter};
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use super::session::{Access, Call};
use super::{PostgresEngine, nearest, words};
use crate::{Engine as _, Fields as _, Row, Scope, SearchEngine, Statement, Value};

#[async_trait]
impl SearchEngine for PostgresEngine {
    async fn use_model(&self, stamp: &ModelStamp) -> Result<()> {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(stamp.clone());
        Ok(())
    }

    async fn search_words(
        &self,
        scope: Scope,
        query: &str,
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        let Some((statement, params)) = words::search(query, filter, limit) else {
            return Ok(Vec::new());
        };
        self.read(scope, statement, params).await?.iter().map(words::hit).collect()
    }

    async fn search_vectors(
        &self,
        scope: Scope,
        stamp: &ModelStamp,
        query: &[f32],
        filter: &SearchFilter,
        limit: usize,
    ) -> Result<Vec<Hit>> {
        if !self.searches(stamp) || query.len() != stamp.dimensions {
            let detail = format!("the vectors of {} are not searched yet", stamp.key());
            return Err(Error::new(Code::ModelUnavailable, detail));
        }
        let model = stamp.key();
        let (statement, params) = nearest::count(filter);
        let counted = self.read(scope, statement, params).await?;
        let passing = counted.first().map_or(Ok(0), |row| row.int("rows"))?;
        let walk =
            nearest::walk(&model, query, filter, limit).filter(|_| passing > nearest::SCANNED_MAX);
        let mut hits = Vec::new();
        if let Some(questions) = walk {
            hits = self.nearest(scope, questions).await?;
        }
        // A walk that came home with too few has met too many that do not pass.
        if hits.len() < limit {
            let scan = nearest::scan(&model, query, filter, limit);
            hits = self.nearest(scope, [scan]).await?;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.id.cmp(&a.id)));
        Ok(hits)
    }

    async fn matched_words(
        &self,
        scope: Scope,
        query: &str,
        ids: &[Uuid],
    ) -> Result<Vec<Vec<String>>> {
        let (statement, params) = words::terms(ids);
        words::matched(query, ids, &self.read(scope, statement, params).await?)
    }

    /// Nothing is held outside of the rows.
    fn forget(&self, _: Scope) {}

    fn describe(&self) -> String {
        "words and vectors are searched in the database".to_owned()
    }
}

impl PostgresEngine {
    fn searches(&self, stamp: &ModelStamp) -> bool {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.as_ref() == Some(stamp)
    }

    /// The hits of the last question; those before it prepare the ground.
    pub(super) async fn nearest<const N: usize>(
        &self,
        scope: Scope,
        questions: [(&'static Statement, Vec<Value>); N],
    ) -> Result<Vec<Hit>> {
        let mut calls = Vec::with_capacity(N);
        for (statement, params) in questions {
            calls.push((statement, statement.arguments(scope, params)?));
        }
        let calls: Vec<_> =
            calls.iter().map(|(statement, arguments)| Call { statement, arguments }).collect();
        let outcomes = self.query(scope, Access::Read, &calls).await?;
        let rows: Vec<Row> = outcomes.into_iter().next_back().map_or_else(Vec::new, |it| it.rows);
        rows.iter().map(words::hit).collect()
    }
}
