//! Benchmarks: what a metric came to on a day. One for each metric and day (UTC): what is measured
//! again on the same day takes the place of what was measured before.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Evaluation, Metric};
use crate::Mnemic;
use crate::error::Result;
use crate::ids::MetricId;
use crate::page::{Page, PageRequest};
use crate::principal::{Action, Operation, Principal, Scope};

const LIST: &str = "benchmarks";
const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;
static READ: Operation = Operation::new("benchmark.list", Action::ReadTelemetry);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    pub id: Uuid,
    pub metric_id: MetricId,
    pub day: Day,
    pub value: Option<f64>,
    pub baseline_value: Option<f64>,
    pub delta_vs_baseline: Option<f64>,
    pub sample_count: u64,
    /// The window that it was measured over.
    pub window_days: u32,
    /// When it was measured.
    pub created_at: Timestamp,
}

impl Benchmark {
    /// Whether it says the same of the same day.
    fn agrees(&self, other: &Self) -> bool {
        let Self { id, created_at, .. } = other.clone();
        Self { id, created_at, ..self.clone() } == *other
    }
}

/// The day and what the metric came to.
impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.day.date() {
            Some(date) => write!(f, "{date}")?,
            None => write!(f, "day {}", self.day.0)?,
        }
        match self.value {
            Some(value) => write!(f, " {value:.4}"),
            None => write!(f, " none"),
        }
    }
}

/// A day of the world (UTC), by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(pub i64);

impl Day {
    pub fn of(time: Timestamp) -> Self {
        Self(time.as_microsecond().div_euclid(DAY_MICROS))
    }

    /// None beyond the calendar.
    pub fn date(self) -> Option<Date> {
        let midnight = Timestamp::from_microsecond(self.0.checked_mul(DAY_MICROS)?).ok()?;
        Some(midnight.to_zoned(TimeZone::UTC).date())
    }
}

impl From<Date> for Day {
    fn from(date: Date) -> Self {
        let midnight = date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
        midnight.map_or(Self(i64::MAX), Self::of)
    }
}

/// From which day to which, both among them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Days {
    pub since: Option<Day>,
    pub until: Option<Day>,
}

impl Mnemic {
    /// The benchmarks of a metric, the latest first.
    pub async fn list_benchmarks(
        &self,
        principal: &Principal,
        id: MetricId,
        days: Days,
        page: &PageRequest,
    ) -> Result<Page<Benchmark>> {
        self.authorize(principal, &READ)?;
        let (limit, after) = (page.limit()?, page.name(LIST)?);
        let scope = principal.scope();
        self.metric(scope, id).await?;
        let before = after.and_then(|day| day.parse().ok()).map(Day);
        let wanted = limit.saturating_add(1);
        let mut items = self.store.list_benchmarks(scope, id, days, before, wanted).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| PageRequest::after(LIST, &last.day.0.to_string()));
        Ok(Page { items, next_cursor })
    }

    /// What is to be written down today: a benchmark for every active metric, but for those that
    /// are there and say the same.
    pub(crate) async fn outstanding_benchmarks(&self, scope: Scope) -> Result<Vec<Benchmark>> {
        let now = self.clock.now();
        let day = Day::of(now);
        let known = self.store.list_benchmarks_of(scope, day).await?;
        let mut outstanding = Vec::new();
        for metric in self.metrics(scope).await?.into_iter().filter(|metric| metric.active) {
            let window = metric.definition.window(now);
            let evaluation = self.measure(scope, &metric, window).await?;
            let id = self.ids.next(now);
            let benchmark = benchmark(id, &metric, day, evaluation, now);
            if !known.iter().any(|known| known.agrees(&benchmark)) {
                outstanding.push(benchmark);
            }
        }
        Ok(outstanding)
    }
}

fn benchmark(
    id: Uuid,
    metric: &Metric,
    day: Day,
    evaluation: Evaluation,
    now: Timestamp,
) -> Benchmark {
    Benchmark {
        id,
        metric_id: metric.id,
        day,
        value: evaluation.value,
        baseline_value: evaluation.baseline_value,
        delta_vs_baseline: evaluation.delta_vs_baseline,
        sample_count: evaluation.sample_count,
        window_days: metric.definition.window_days,
        created_at: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight() {
        let day = |text: &str| Day::of(text.parse().unwrap());
        assert_eq!(day("1970-01-01T00:00:00Z"), Day(0));
        assert_eq!(day("1969-12-31T23:59:59.999999Z"), Day(-1));
        assert_eq!(day("2026-11-15T23:59:59.999999Z").0 + 1, day("2026-11-16T00:00:00Z").0);
        let date = day("2026-11-16T12:00:00Z").date().unwrap();
        assert_eq!(date.to_string(), "2026-11-16");
        assert_eq!(Day::from(date), day("2026-11-16T00:00:00Z"));
        assert_eq!(Day(i64::MAX).date(), None);
    }
}
