//! Making, changing and removing metrics. One that is built in is switched off instead of removed.

use serde::{Deserialize, Serialize};

use super::{
    Aggregation, BuiltIn, Condition, Definition, EventFilter, METRICS_MAX, Metric,
    WINDOW_DAYS_DEFAULT, check_description, check_window_days,
};
use crate::Mnemic;
use crate::error::{Error, Result};
use crate::ids::MetricId;
use crate::principal::{Action, Caller, Operation};
use crate::store::Change;
use crate::text::{check_name, fold_name};

static CREATE: Operation = Operation::new("metric.create", Action::WriteTelemetry);
static UPDATE: Operation = Operation::new("metric.update", Action::WriteTelemetry);
static DELETE: Operation = Operation::new("metric.delete", Action::WriteTelemetry);

#[derive(Debug, Clone, Default)]
pub struct NewMetric {
    pub name: String,
    pub event_filter: EventFilter,
    pub success_condition: String,
    pub aggregation: Aggregation,
    pub window_days: Option<u32>,
    pub description: Option<String>,
}

impl NewMetric {
    /// What it measures, if that is in order.
    pub(super) fn definition(&self) -> Result<Definition> {
        self.event_filter.check()?;
        let window_days = self.window_days.unwrap_or(WINDOW_DAYS_DEFAULT);
        check_window_days(window_days)?;
        Ok(Definition {
            event_filter: self.event_filter.clone(),
            success_condition: Some(Condition::read(&self.success_condition)?),
            aggregation: self.aggregation,
            window_days,
        })
    }
}

/// What to change. The outer `None` leaves a field as it is; an inner `None` empties it.
#[derive(Debug, Clone, Default)]
pub struct MetricPatch {
    pub name: Option<String>,
    pub event_filter: Option<EventFilter>,
    pub success_condition: Option<String>,
    pub aggregation: Option<Aggregation>,
    pub window_days: Option<u32>,
    pub description: Option<Option<String>>,
    pub active: Option<bool>,
}

impl MetricPatch {
    /// What a metric becomes by it, if that is in order.
    fn apply(&self, mut metric: Metric) -> Result<Metric> {
        if let Some(built_in) = metric.built_in() {
            self.check_built_in(built_in)?;
        }
        if let Some(name) = &self.name {
            check_name("name", name)?;
            metric.name.clone_from(name);
        }
        if let Some(filter) = &self.event_filter {
            filter.check()?;
            metric.definition.event_filter.clone_from(filter);
        }
        if let Some(condition) = &self.success_condition {
            metric.definition.success_condition = Some(Condition::read(condition)?);
        }
        if let Some(days) = self.window_days {
            check_window_days(days)?;
            metric.definition.window_days = days;
        }
        if let Some(description) = &self.description {
            check_description(description.as_deref())?;
            metric.description.clone_from(description);
        }
        metric.definition.aggregation = self.aggregation.unwrap_or(metric.definition.aggregation);
        metric.active = self.active.unwrap_or(metric.active);
        Ok(metric)
    }

    fn check_built_in(&self, built_in: BuiltIn) -> Result<()> {
        let fixed = [
            ("name", self.name.is_some()),
            ("event_filter", self.event_filter.is_some()),
            ("success_condition", self.success_condition.is_some()),
            ("aggregation", self.aggregation.is_some()),
            ("description", self.description.is_some()),
        ];
        match fixed.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((field, _)) => {
                let problem = format!(
                    "{} is built in: only active and window_days can be changed; make a metric \
                     of your own for anything else",
                    built_in.name()
                );
                Err(Error::invalid(field, problem))
            }
        }
    }
}

/// A metric that is no longer measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedMetric {
    pub id: MetricId,
    /// It is built in, and was switched off.
    pub deactivated: bool,
}

impl Mnemic {
    pub async fn create_metric(&self, caller: &Caller, new: &NewMetric) -> Result<Metric> {
        self.authorize(&caller.principal, &CREATE)?;
        check_name("name", &new.name)?;
        check_description(new.description.as_deref())?;
        let definition = new.definition()?;
        self.decide(caller, &CREATE, || {
            Box::pin(async {
                let known = self.metrics(caller.scope()).await?;
                check_free(&known, None, &new.name)?;
                if known.len() >= METRICS_MAX + BuiltIn::ALL.len() {
                    let detail = format!(
                        "the workspace has {METRICS_MAX} metrics of its own, which is the limit; \
                         delete one first"
                    );
                    return Err(Error::conflict(detail));
                }
                let now = self.clock.now();
                let metric = Metric {
                    id: MetricId(self.ids.next(now)),
                    name: new.name.clone(),
                    definition: definition.clone(),
                    description: new.description.clone(),
                    active: true,
                    created_by: caller.principal.name().to_owned(),
                    created_at: now,
                    updated_at: now,
                    revision: 1,
                };
                Ok((metric.clone(), vec![Change::AddMetric(metric)]))
            })
        })
        .await
    }

    pub async fn update_metric(
        &self,
        caller: &Caller,
        id: MetricId,
        patch: &MetricPatch,
    ) -> Result<Metric> {
        self.authorize(&caller.principal, &UPDATE)?;
        self.decide(caller, &UPDATE, || {
            Box::pin(async {
                let metric = patch.apply(self.metric(caller.scope(), id).await?)?;
                if let Some(name) = &patch.name {
                    check_free(&self.metrics(caller.scope()).await?, Some(id), name)?;
                }
                let (metric, change) = self.changed(metric);
                Ok((metric, vec![change]))
            })
        })
        .await
    }

    /// Removes a metric with its benchmarks. One that is built in is no longer measured, and keeps
    /// them.
    pub async fn delete_metric(&self, caller: &Caller, id: MetricId) -> Result<RemovedMetric> {
        self.authorize(&caller.principal, &DELETE)?;
        self.decide(caller, &DELETE, || {
            Box::pin(async {
                let metric = self.metric(caller.scope(), id).await?;
                if metric.built_in().is_none() {
                    let removed = RemovedMetric { id, deactivated: false };
                    return Ok((removed, vec![Change::EraseMetric(id)]));
                }
                let (_, change) = self.changed(Metric { active: false, ..metric });
                Ok((RemovedMetric { id, deactivated: true }, vec![change]))
            })
        })
        .await
    }

    /// One that was not stored yet is stored now.
    fn changed(&self, mut metric: Metric) -> (Metric, Change) {
        metric.updated_at = self.clock.now();
        metric.revision += 1;
        let change = match metric.revision {
            1 => Change::AddMetric(metric.clone()),
            _ => Change::UpdateMetric(metric.clone()),
        };
        (metric, change)
    }
}

/// Names are told apart without regard to case and spaces.
fn check_free(known: &[Metric], own: Option<MetricId>, name: &str) -> Result<()> {
    let same =
        |metric: &&Metric| Some(metric.id) != own && fold_name(&metric.name) == fold_name(name);
    known.iter().find(same).map_or(Ok(()), |taken| {
        let detail = format!(
            "name: the metric {} is called `{}` already; choose another name",
            taken.id, taken.name
        );
        Err(Error::conflict(detail))
    })
}
