//! Metrics in the graph: a metric leads to its benchmarks (`_mem:contains`), the latest first.
//!
//! These edges are no rows: a benchmark says itself of which metric it is.

use uuid::Uuid;

use super::benchmark::{Benchmark, Days};
use super::{BuiltIn, Metric};
use crate::Mnemic;
use crate::action::{CONTAINS, Done, meet, takes};
use crate::edge::Edge;
use crate::error::Result;
use crate::ids::MetricId;
use crate::memory::GLOBAL_CHANNEL;
use crate::node::{Direction, Hops, Record, Walk};
use crate::principal::Scope;

impl Mnemic {
    /// Which of these ids are metrics or benchmarks.
    pub(crate) async fn find_measured(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Done>> {
        let mut found = self.find_metrics(scope, ids).await?;
        let benchmarks = self.store.lookup_benchmarks(scope, ids).await?;
        found.extend(benchmarks.into_iter().map(|it| Done::Benchmark(Box::new(it))));
        Ok(found)
    }

    /// Those that are built in need not be stored to be there.
    async fn find_metrics(&self, scope: Scope, ids: &[Uuid]) -> Result<Vec<Done>> {
        let ids: Vec<_> = ids.iter().copied().map(MetricId).collect();
        let (built_in, own): (Vec<_>, Vec<_>) =
            ids.into_iter().partition(|id| BuiltIn::of(*id).is_some());
        let mut found = self.store.lookup_metrics(scope, &own).await?;
        for id in built_in {
            found.push(self.metric(scope, id).await?);
        }
        Ok(found.into_iter().map(|metric| Done::Metric(Box::new(metric))).collect())
    }

    pub(crate) async fn step_metric(
        &self,
        scope: Scope,
        metric: &Metric,
        walk: &Walk,
        edges_max: usize,
        hops: &mut Hops,
    ) -> Result<()> {
        if !takes(walk, CONTAINS, Direction::Out) {
            return Ok(());
        }
        let (id, all) = (metric.id, Days::default());
        let found = self.store.list_benchmarks(scope, id, all, None, edges_max).await?;
        hops.cut = found.len() >= edges_max;
        for benchmark in found {
            let edge = edge(&benchmark);
            meet(hops, walk, edge, Record::Done(Done::Benchmark(Box::new(benchmark))));
        }
        Ok(())
    }

    pub(crate) async fn step_benchmark(
        &self,
        scope: Scope,
        benchmark: &Benchmark,
        walk: &Walk,
        hops: &mut Hops,
    ) -> Result<()> {
        if takes(walk, CONTAINS, Direction::In) {
            for metric in self.find_metrics(scope, &[benchmark.metric_id.0]).await? {
                meet(hops, walk, edge(benchmark), Record::Done(metric));
            }
        }
        Ok(())
    }
}

/// It holds since it was measured.
fn edge(benchmark: &Benchmark) -> Edge {
    let times = (benchmark.created_at, benchmark.created_at);
    Edge::derived(benchmark.metric_id.0, CONTAINS, benchmark.id, GLOBAL_CHANNEL, times)
}
