//! The port for metrics and their benchmarks.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use crate::error::Result;
use crate::ids::MetricId;
use crate::metric::Metric;
use crate::metric::benchmark::{Benchmark, Day, Days};
use crate::principal::Scope;

#[async_trait]
pub trait MetricStore {
    async fn lookup_metric(&self, scope: Scope, id: MetricId) -> Result<Option<Metric>>;
    /// Those that exist, in the order asked for.
    async fn lookup_metrics(&self, scope: Scope, ids: &[MetricId]) -> Result<Vec<Metric>>;
    /// All that are stored, of which there are few.
    async fn list_metrics(&self, scope: Scope) -> Result<Vec<Metric>>;
    /// Those that exist, in the order asked for.
    async fn lookup_benchmarks(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Benchmark>>;
    /// Those of a metric, the latest day first, from before a day on.
    async fn list_benchmarks(
        &self,
        scope: Scope,
        metric: MetricId,
        days: Days,
        before: Option<Day>,
        limit: usize,
    ) -> Result<Vec<Benchmark>>;
    /// Those of a day.
    async fn list_benchmarks_of(&self, scope: Scope, day: Day) -> Result<Vec<Benchmark>>;
    /// When the first closed sequences, by their first action and id, had all come to their end.
    async fn end_of_first(&self, scope: Scope, first: usize) -> Result<Option<Timestamp>>;
}
