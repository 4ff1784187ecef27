//! Metrics and benchmarks.

use async_trait::async_trait;
use jiff::Timestamp;
use mnemic_core::Result;
use mnemic_core::ids::MetricId;
use mnemic_core::metric::Metric;
use mnemic_core::metric::benchmark::{Benchmark, Day, Days};
use mnemic_core::principal::Scope as Workspaced;
use mnemic_core::store::MetricStore;
use uuid::Uuid;

use super::{EngineStore, own};
use crate::statements::{benchmark, metric};
use crate::{Fields, SearchEngine, values};

#[async_trait]
impl<E: SearchEngine> MetricStore for EngineStore<E> {
    async fn lookup_metric(&self, scope: Workspaced, id: MetricId) -> Result<Option<Metric>> {
        self.first(own(scope), &metric::LOOKUP, values![id.0], metric::from_row).await
    }

    async fn lookup_metrics(&self, scope: Workspaced, ids: &[MetricId]) -> Result<Vec<Metric>> {
        let params = ids.iter().map(|id| values![id.0]).collect();
        self.each(own(scope), &metric::LOOKUP, params, metric::from_row).await
    }

    async fn list_metrics(&self, scope: Workspaced) -> Result<Vec<Metric>> {
        self.all(own(scope), &metric::LIST, vec![], metric::from_row).await
    }

    async fn lookup_benchmarks(&self, scope: Workspaced, ids: &[Uuid]) -> Result<Vec<Benchmark>> {
        let params = ids.iter().map(|id| values![*id]).collect();
        self.each(own(scope), &benchmark::LOOKUP, params, benchmark::from_row).await
    }

    async fn list_benchmarks(
        &self,
        scope: Workspaced,
        of: MetricId,
        days: Days,
        before: Option<Day>,
        limit: usize,
    ) -> Result<Vec<Benchmark>> {
        let params = benchmark::list(of, days, before, limit);
        self.all(own(scope), &benchmark::LIST, params, benchmark::from_row).await
    }

    async fn end_of_first(&self, scope: Workspaced, first: usize) -> Result<Option<Timestamp>> {
        let params = values![i64::try_from(first).unwrap_or(i64::MAX)];
        let end = |row: &crate::Row| row.opt_time("last_at");
        Ok(self.first(own(scope), &metric::END_OF_FIRST, params, end).await?.flatten())
    }

    async fn list_benchmarks_of(&self, scope: Workspaced, day: Day) -> Result<Vec<Benchmark>> {
        self.all(own(scope), &benchmark::LIST_OF_DAY, values![day.0], benchmark::from_row).await
    }
}
