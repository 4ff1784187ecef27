//! Metrics: what "better" means in a workspace, as a number over the sequences of actions.
//!
//! A metric looks at the closed sequences of its window that pass its filter, and is measured
//! against the first sequences that ever did. Three are built in: they are there in every workspace
//! without being stored until somebody changes them, under ids that are the same everywhere.

pub mod benchmark;
mod built_in;
mod change;
mod compare;
mod condition;
mod measure;
mod value;
mod walk;

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::{MetricId, shorten};
use crate::page::{Page, PageRequest};
use crate::principal::{Action, Operation, Principal, Scope};
use crate::sequence::TallyFilter;
use crate::text::{check_content, check_name};

pub use built_in::BuiltIn;
pub use change::{MetricPatch, NewMetric, RemovedMetric};
pub use compare::{Compared, Comparison, Side};
pub use condition::{CONDITION_CHARS_MAX, Condition, Order};
pub use value::Evaluation;

/// The sequences that a metric's beginnings are taken from.
pub const BASELINE_SEQUENCES: usize = 50;
/// The most metrics of its own that a workspace can have.
pub const METRICS_MAX: usize = 100;
/// The most types that a filter can name of each sort.
pub const TYPES_MAX: usize = 8;
pub const WINDOW_DAYS_DEFAULT: u32 = 7;
pub const WINDOW_DAYS_MAX: u32 = 365;
/// The longest description, in bytes of UTF-8.
pub const DESCRIPTION_BYTES_MAX: usize = 2 * 1024;

const LIST: &str = "metrics";
static READ: Operation = Operation::new("metric.list", Action::ReadTelemetry);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    pub id: MetricId,
    pub name: String,
    pub definition: Definition,
    pub description: Option<String>,
    /// Whether it is measured every night.
    pub active: bool,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Counts changes, so that two of them cannot overwrite each other. 0 is not stored yet.
    pub revision: i64,
}

impl Metric {
    /// Which of those that every workspace has, if it is one of them.
    pub fn built_in(&self) -> Option<BuiltIn> {
        BuiltIn::of(self.id)
    }
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub event_filter: EventFilter,
    /// None means every sequence.
    pub success_condition: Option<Condition>,
    pub aggregation: Aggregation,
    pub window_days: u32,
}

impl Definition {
    /// The window that ends now.
    fn window(&self, now: Timestamp) -> Window {
        let days = SignedDuration::from_hours(24 * i64::from(self.window_days));
        Window { since: now.checked_sub(days).unwrap_or(Timestamp::MIN), until: now }
    }
}

/// Which sequences are looked at: those with an action of one of these types on one of these types
/// of nodes. An empty list means any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventFilter {
    pub action_types: Vec<String>,
    pub node_types: Vec<String>,
}

impl EventFilter {
    fn tallied(&self) -> TallyFilter {
        let Self { action_types, node_types } = self.clone();
        TallyFilter { action_types, node_types }
    }

    fn check(&self) -> Result<()> {
        for (field, types) in
            [("action_types", &self.action_types), ("node_types", &self.node_types)]
        {
            let field = format!("event_filter.{field}");
            if types.len() > TYPES_MAX {
                let problem = format!("{} are more than the limit of {TYPES_MAX}", types.len());
                return Err(Error::invalid(&field, problem));
            }
            let mut types = types.iter().enumerate();
            types.try_for_each(|(i, name)| check_name(&format!("{field}[{i}]"), name))?;
        }
        Ok(())
    }
}

/// How the sequences of a window become one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The share that meets the condition.
    #[default]
    Rate,
    /// The mean number of actions of those that meet it.
    Average,
    /// The number of actions that 95 of 100 of those do not exceed.
    P95,
}

impl Aggregation {
    pub const ALL: [Self; 3] = [Self::Rate, Self::Average, Self::P95];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Average => "average",
            Self::P95 => "p95",
        }
    }
}

impl FromStr for Aggregation {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word).ok_or_else(|| {
            let problem = format!("`{}` is not one of rate, average, p95", shorten(word));
            Error::invalid("aggregation", problem)
        })
    }
}

/// A stretch of time, with its beginning and without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub since: Timestamp,
    pub until: Timestamp,
}

impl Mnemic {
    /// The metrics of the workspace by name, those that are built in among them.
    pub async fn list_metrics(
        &self,
        principal: &Principal,
        active: Option<bool>,
        page: &PageRequest,
    ) -> Result<Page<Metric>> {
        self.authorize(principal, &READ)?;
        let (limit, after) = (page.limit()?, page.name(LIST)?);
        let mut items = self.metrics(principal.scope()).await?;
        items.retain(|metric| {
            active.is_none_or(|active| metric.active == active)
                && after.as_ref().is_none_or(|after| metric.name > *after)
        });
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| PageRequest::after(LIST, &last.name));
        Ok(Page { items, next_cursor })
    }

    /// All metrics of a workspace, by name. There are few enough to be read together.
    pub(crate) async fn metrics(&self, scope: Scope) -> Result<Vec<Metric>> {
        let mut metrics = self.store.list_metrics(scope).await?;
        let since = self.store.lookup_workspace(scope.workspace()).await?;
        let since = since.ok_or_else(|| Error::not_found("workspace"))?.created_at;
        for built_in in BuiltIn::ALL {
            if metrics.iter().all(|metric| metric.id != built_in.id()) {
                metrics.push(built_in.metric(since));
            }
        }
        metrics.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(metrics)
    }

    pub(crate) async fn metric(&self, scope: Scope, id: MetricId) -> Result<Metric> {
        if BuiltIn::of(id).is_none() {
            let found = self.store.lookup_metric(scope, id).await?;
            return found.ok_or_else(|| Error::not_found("metric"));
        }
        let metrics = self.metrics(scope).await?;
        metrics.into_iter().find(|it| it.id == id).ok_or_else(|| Error::not_found("metric"))
    }
}

fn check_window_days(days: u32) -> Result<()> {
    if !(1..=WINDOW_DAYS_MAX).contains(&days) {
        let problem = format!("{days} is not between 1 and {WINDOW_DAYS_MAX}");
        return Err(Error::invalid("window_days", problem));
    }
    Ok(())
}

fn check_description(text: Option<&str>) -> Result<()> {
    text.map_or(Ok(()), |text| check_content("description", text, DESCRIPTION_BYTES_MAX))
}
